package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// Update is a write to the replicated memory: Data at the logical address Addr.
type Update struct {
	Addr int
	Data []byte
}

// Entry is one entry of the log. The first index is 1.
type Entry struct {
	Index   uint64
	Term    uint16 // of the coordinator that appended it
	Updates []Update
}

// Same reports whether a and b are the same entry: a coordinator appends at most one for
// each index of its term.
func (e *Entry) Same(o *Entry) bool { return e.Index == o.Index && e.Term == o.Term }

// The first bytes of an entry: its index, term, number of updates, and checksum. Each
// update has its address and length before the data, which is padded to whole words.
const (
	headerSize = 16
	updateSize = UpdateHeader
	termAt     = 8
	countAt    = 10
	sumAt      = 12
)

// UpdateHeader is how many bytes precede the data of an update.
const UpdateHeader = 8

// MaxUpdates is the largest number of updates of an entry.
const MaxUpdates = 1<<16 - 1

// Size is how many bytes an update takes in an entry.
func (u Update) Size() int { return updateSize + padded(len(u.Data)) }

func padded(n int) int { return (n + 7) &^ 7 }

// Shape is the shape of a log: how many slots it has, and how many bytes for updates each
// has: see [Update.Size]. Bytes is a multiple of 8.
type Shape struct{ Slots, Bytes int }

// SlotSize is the size of a slot in bytes.
func (s Shape) SlotSize() int { return headerSize + s.Bytes }

// Size is the size of the log in bytes.
func (s Shape) Size() int { return s.Slots * s.SlotSize() }

// At is where the entry with an index lies in the log.
func (s Shape) At(index uint64) int { return int(index%uint64(s.Slots)) * s.SlotSize() }

// Encode encodes e into b, and returns its length. The updates must fit into a slot.
func (s Shape) Encode(b []byte, e *Entry) int {
	binary.LittleEndian.PutUint64(b, e.Index)
	binary.LittleEndian.PutUint16(b[termAt:], e.Term)
	binary.LittleEndian.PutUint16(b[countAt:], uint16(len(e.Updates)))
	n := headerSize
	for _, u := range e.Updates {
		binary.LittleEndian.PutUint32(b[n:], uint32(u.Addr))
		binary.LittleEndian.PutUint32(b[n+4:], uint32(len(u.Data)))
		end := n + u.Size()
		clear(b[n+updateSize+copy(b[n+updateSize:], u.Data) : end])
		n = end
	}
	binary.LittleEndian.PutUint32(b[sumAt:], sum(b[:n]))
	return n
}

// DataAt is where the data of the i-th update lies in the encoded entry.
func (e *Entry) DataAt(i int) int {
	n := headerSize
	for _, u := range e.Updates[:i] {
		n += u.Size()
	}
	return n + updateSize
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of an encoded entry, which covers all bytes but its own.
func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:sumAt], castagnoli), castagnoli, b[headerSize:])
}

// Decode decodes a slot. It reports whether the slot holds a whole entry. The data of the
// updates aliases b.
func (s Shape) Decode(b []byte) (Entry, bool) {
	e := Entry{Index: binary.LittleEndian.Uint64(b), Term: binary.LittleEndian.Uint16(b[termAt:])}
	n := headerSize
	for range binary.LittleEndian.Uint16(b[countAt:]) {
		if len(b)-n < updateSize {
			return Entry{}, false
		}
		addr, size := binary.LittleEndian.Uint32(b[n:]), binary.LittleEndian.Uint32(b[n+4:])
		n += updateSize
		if uint64(size) > uint64(len(b)-n) {
			return Entry{}, false
		}
		e.Updates = append(e.Updates, Update{Addr: int(addr), Data: b[n : n+int(size)]})
		n += padded(int(size))
	}
	if e.Index == 0 || n > len(b) || sum(b[:n]) != binary.LittleEndian.Uint32(b[sumAt:]) {
		return Entry{}, false
	}
	return e, true
}
