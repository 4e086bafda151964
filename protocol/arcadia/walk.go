package arcadia

import (
	"hash/crc32"
)

// found is a record that a walk has met.
type found struct {
	header
	at      int // in the ring
	cleaned bool
}

// walk follows the log from s on (4.3): a record belongs to it if its LSN is the next one, it is valid
// and its checksum fits. It ends at the first that is not, and passes each of the others to f.
//
// The paper's iterator has no epochs. Without them a record comes back that a recovery had not
// returned. Of records 5 and 6, both complete, 6 alone reaches persistent memory before a power
// failure, so the log ends at 4; a new record 5 of the same length is forced, and at the next recovery
// the old record 6 follows it. So a record contains the epoch in which it was reserved, and neither of two rules is
// enough without the other:
//
//   - Epochs do not go down along a log. Else an old record 6 right behind the new record 5, which is shorter
//     than the old one was, would count before the new record 6, which lay at the beginning of the ring.
//   - The superline has the first LSN of the current epoch, and from there on other epochs do not
//     count. Of the old record 5 all words but the LSN reach persistent memory, and then the LSN of the new
//     one, which is the same word, and nothing else of it.
func walk(m Store, s *superline, f func(found)) {
	at, wrapped, epoch := s.head, false, uint64(0)
	for lsn := s.start; lsn < maxLSN; lsn++ {
		r, ok := look(m, s, at, roomAt(s, at, wrapped), lsn, epoch)
		if !ok && !wrapped { // it may not have fitted before the end
			at, wrapped = 0, true
			r, ok = look(m, s, 0, s.head, lsn, epoch)
		}
		if !ok {
			return
		}
		epoch = r.epoch
		f(r)
		at = r.at + footprint(r.size)
	}
}

// roomAt returns how much of the ring the log can take at a place.
func roomAt(s *superline, at int, wrapped bool) int {
	if wrapped {
		return s.head - at
	}
	return s.ring - at
}

// look returns the record at a place if it has this LSN, and no earlier epoch than the record in front
// of it.
func look(m Store, s *superline, at, room int, lsn, epoch uint64) (found, bool) {
	var b [headerSize]byte
	if room < headerSize || m.Load(ringAt+at, b[:]) != nil {
		return found{}, false
	}
	h := getHeader(b[:])
	if h.lsn != lsn || !h.valid || h.epoch > s.epoch || h.epoch < epoch || lsn >= s.since && h.epoch < s.epoch || footprint(h.size) > room {
		return found{}, false
	}
	sum, err := checksum(m, ringAt+at+headerSize, h.size, make([]byte, min(h.size, chunk)))
	seal := h.seal(sum, s.id)
	if err != nil || h.sum != seal && h.sum != ^seal {
		return found{}, false
	}
	return found{h, at, h.sum == ^seal}, true
}

// chunk is how much of a payload is read at a time.
const chunk = 512

// checksum returns the checksum of the bytes at off, read in pieces of the length of buf.
func checksum(m Store, off, n int, buf []byte) (sum uint32, err error) {
	for n > 0 {
		p := buf[:min(n, len(buf))]
		if err := m.Load(off, p); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, p)
		off, n = off+len(p), n-len(p)
	}
	return sum, nil
}

// crcOf returns the checksum of a payload that is at hand.
func crcOf(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }
