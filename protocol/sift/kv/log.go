package kv

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// kind is what an entry of the log does.
type kind uint8

const (
	put    kind = iota + 1
	remove      // the paper has no deletes
)

// entry is an entry of the store's log (4.2): a put, or a delete. The first index is 1; the
// entry with index i lies in slot i modulo the length of the log.
type entry struct {
	index uint64
	term  uint16 // of the coordinator that logged it
	kind  kind
	key   []byte
	value []byte
}

// The first bytes of an entry: its index, term, kind, the lengths of key and value, and a
// checksum of all but itself. The paper names the index, the key and the value only.
const (
	termAt      = 8
	kindAt      = 10
	keyLenAt    = 12
	valueLenAt  = 16
	sumAt       = 20
	entryHeader = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of an encoded entry.
func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:sumAt], castagnoli), castagnoli, b[entryHeader:])
}

// encodeEntry encodes e into b, which has room for it, and returns its length, in whole words.
func (c *Config) encodeEntry(b []byte, e *entry) int {
	n := entryHeader + padded(len(e.key)+len(e.value))
	clear(b[:n])
	binary.LittleEndian.PutUint64(b, e.index)
	binary.LittleEndian.PutUint16(b[termAt:], e.term)
	b[kindAt] = byte(e.kind)
	binary.LittleEndian.PutUint32(b[keyLenAt:], uint32(len(e.key)))
	binary.LittleEndian.PutUint32(b[valueLenAt:], uint32(len(e.value)))
	copy(b[entryHeader+copy(b[entryHeader:], e.key):], e.value)
	binary.LittleEndian.PutUint32(b[sumAt:], sum(b[:n]))
	return n
}

// decodeEntry decodes a slot of the log. It reports whether the slot holds a whole entry. Key and
// value alias b.
func (c *Config) decodeEntry(b []byte) (entry, bool) {
	if len(b) < entryHeader {
		return entry{}, false
	}
	e := entry{index: binary.LittleEndian.Uint64(b), term: binary.LittleEndian.Uint16(b[termAt:]), kind: kind(b[kindAt])}
	k, v := int64(binary.LittleEndian.Uint32(b[keyLenAt:])), int64(binary.LittleEndian.Uint32(b[valueLenAt:]))
	n := entryHeader + (k+v+7)&^7
	switch {
	case e.index == 0 || e.kind != put && e.kind != remove || b[kindAt+1] != 0 || k < 1 || k > int64(c.Key) || v > int64(c.Value):
		return entry{}, false
	case n > int64(len(b)) || sum(b[:n]) != binary.LittleEndian.Uint32(b[sumAt:]):
		return entry{}, false
	}
	e.key, e.value = b[entryHeader:entryHeader+k], b[entryHeader+k:entryHeader+k+v]
	return e, true
}

// choose chooses the log (4.3), given the direct zones of a majority of the memory nodes
// and the number of the last operation that was applied: the entries after
// that one, without a gap. Of several entries with one index, the entry with the greatest term counts.
//
// An entry is acknowledged when a majority has it, and the next one is logged only then. So a
// later coordinator finds it on some node, unless it was applied; only then may the slot be
// used again. A coordinator that finds it writes no other entry with its index; so an entry with the same
// index and a greater term does not exist, and those of smaller terms never had a majority.
//
// An applied entry must not be applied again. Its key may have been put since by an entry whose
// slot was used again, or by one that replaced this one: see docs/sift.md.
func (c *Config) choose(copies [][]byte, applied uint64) []entry {
	latest := make([]entry, c.Log) // by slot
	for _, zone := range copies {
		for i := range c.Log {
			e, ok := c.decodeEntry(zone[i*c.entrySize() : (i+1)*c.entrySize()])
			inPlace := ok && e.index%uint64(c.Log) == uint64(i)
			if inPlace && e.index > applied && e.index <= applied+uint64(c.Log) && e.term >= latest[i].term {
				latest[i] = e
			}
		}
	}
	var log []entry
	for i := applied + 1; len(log) < c.Log; i++ {
		e := latest[i%uint64(c.Log)]
		if e.index == 0 {
			break
		}
		log = append(log, e)
	}
	return log
}

// everywhere reports whether all copies have an entry.
func (c *Config) everywhere(copies [][]byte, e *entry) bool {
	b := make([]byte, c.entrySize())
	n := c.encodeEntry(b, e)
	at := c.entryAt(e.index)
	for _, zone := range copies {
		if !bytes.Equal(zone[at:at+n], b[:n]) {
			return false
		}
	}
	return true
}
