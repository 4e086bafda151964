package arcadia

import (
	"encoding/binary"
	"hash/crc32"
)

// Persistent memory holds two superlines and the ring (4.1, figure 3). The paper gives no widths. Here
// all fields are little-endian words of 8 bytes, because a card and a CPU write such a word as a whole.
//
//	0     superline, 64 bytes
//	64    superline, 64 bytes
//	128   ring: records, each a header of 24 bytes and its payload up to the next word
//
// A record lies in one piece, so that an application can fill it in place. A record that does not fit
// before the end of the ring lies at its beginning.
const (
	superSize  = 64
	ringAt     = 2 * superSize
	headerSize = 24
)

// header is the header of a record. Its words are
//
//	0   length, in the lower half; checksum, in the upper: all its bits inverted if the record was cleaned up
//	8   LSN
//	16  epoch; valid, bit 0
//
// The mark of a cleanup is in the word of the checksum, because any other word could be left from an
// earlier record in this place, or have a flipped bit.
type header struct {
	size       int
	sum        uint32
	lsn, epoch uint64
	valid      bool
}

const (
	validBit  = 1
	cleanMask = 0xffffffff << 32 // inverts the checksum
	maxEpoch  = 1<<62 - 1
	maxLSN    = 1<<62 - 1 // the largest start of a superline; no record has it
)

func (h header) words() (w [3]uint64) {
	w[0] = uint64(h.size) | uint64(h.sum)<<32
	w[1] = h.lsn
	w[2] = h.epoch << 1
	if h.valid {
		w[2] |= validBit
	}
	return w
}

func (h header) put(b []byte) {
	for i, w := range h.words() {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
}

func getHeader(b []byte) header {
	w0, w2 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[16:])
	return header{size: int(uint32(w0)), sum: uint32(w0 >> 32), lsn: binary.LittleEndian.Uint64(b[8:]),
		epoch: w2 >> 1, valid: w2&validBit != 0}
}

// footprint returns how much of the ring a record takes.
func footprint(size int) int { return headerSize + (size+7)&^7 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal turns the checksum of a payload into the checksum of its record. The paper's checksum covers the
// payload, and the LSN replaces a checksum of the header (3, 4.3). Ours also covers the constant part of
// the header and the identity of the log: leftovers in the ring may look like a record, since a payload
// may be a copy of another log.
func (h header) seal(payload uint32, id uint64) uint32 {
	return h.sealIn(make([]byte, sealed), payload, id)
}

// sealed is the number of bytes that sealIn needs.
const sealed = 32

// sealIn is seal with a given buffer, because a local one would escape to the heap through package crc32.
func (h header) sealIn(b []byte, payload uint32, id uint64) uint32 {
	binary.LittleEndian.PutUint64(b, uint64(h.size))
	binary.LittleEndian.PutUint64(b[8:], h.lsn)
	binary.LittleEndian.PutUint64(b[16:], h.epoch)
	binary.LittleEndian.PutUint64(b[24:], id)
	return crc32.Update(payload, castagnoli, b[:sealed])
}

// superline records where the log begins (4.1).
type superline struct {
	id    uint64 // identifies the log
	ring  int    // size of the ring
	start uint64 // the LSN of the record at head
	head  int    // in the ring
	epoch uint64 // of the last recovery (4.2)
	// since is the LSN of the first record of this epoch. The paper has no such field: see walk.
	since uint64
}

const magic = 0x31_30_41_49_44_41_43_52 // RCADIA01

func (s *superline) put(b []byte) {
	for i, w := range [...]uint64{magic, s.id, uint64(s.ring), s.start, uint64(s.head), s.epoch, s.since} {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	binary.LittleEndian.PutUint64(b[56:], uint64(crc32.Checksum(b[:56], castagnoli)))
}

// getSuperline returns the superline in b. ok is false if it was cut off or damaged; a superline of a
// foreign log is ok.
func getSuperline(b []byte) (s superline, ok bool) {
	w := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	if w(0) != magic || w(7) != uint64(crc32.Checksum(b[:56], castagnoli)) {
		return s, false
	}
	s = superline{id: w(1), ring: int(w(2)), start: w(3), head: int(w(4)), epoch: w(5), since: w(6)}
	between := func(x, max uint64) bool { return x > 0 && x <= max }
	return s, s.ring >= 0 && s.head >= 0 && s.head <= s.ring && s.head%8 == 0 && between(s.start, maxLSN) && between(s.since, maxLSN) && between(s.epoch, maxEpoch)
}

// later reports whether s was written after t. Start and epoch only grow. (The paper compares start alone, 4.3;
// if a recovery wrote the second superline, both have the same start.)
func (s *superline) later(t *superline) bool {
	return s.epoch > t.epoch || s.epoch == t.epoch && s.start > t.start
}

// identity returns the identity of the log with this name.
func identity(name string) uint64 {
	return uint64(crc32.Checksum([]byte(name), castagnoli))<<32 | uint64(crc32.ChecksumIEEE([]byte(name)))
}
