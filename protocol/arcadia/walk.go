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

// walk follows the log from s on (4.3): a record belongs to the log if its LSN is the next one, it is valid
// and its checksum matches. walk calls f for each record, and stops at the first place without one.
//
// The paper's iterator has no epochs. Without them a record can reappear that a recovery did not return.
// Example: records 5 and 6 are complete, and only 6 reaches persistent memory before a power failure, so the
// log ends at 4. A new record 5 of the same length is forced, and at the next recovery the old record 6
// follows it. So a record contains the epoch in which it was reserved, and two rules are both needed:
//
//   - Epochs do not decrease along a log. Otherwise, if the new record 5 is shorter than the old one, an old
//     record 6 right after it would count, instead of the new record 6 at the beginning of the ring.
//   - The superline has the first LSN of the current epoch, and from there on records of other epochs do not
//     count. Otherwise all words of the old record 5 but its LSN could reach persistent memory, and later only
//     the LSN of the new record 5, in the same word: both together would look like a record.
func walk(m Store, s *superline, f func(found)) {
	at, wrapped, epoch := s.head, false, uint64(0)
	for lsn := s.start; lsn < maxLSN; lsn++ {
		r, ok := look(m, s, at, roomAt(s, at, wrapped), lsn, epoch)
		if !ok && !wrapped { // the record may not have fitted before the end
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

// roomAt returns the number of bytes that the log can occupy from a place on.
func roomAt(s *superline, at int, wrapped bool) int {
	if wrapped {
		return s.head - at
	}
	return s.ring - at
}

// look returns the record at a place if it has this LSN, and its epoch is not earlier than the epoch of the record
// before it.
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

// chunk is the number of bytes of a payload that are read at a time.
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

// crcOf returns the checksum of a payload in memory.
func crcOf(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }
