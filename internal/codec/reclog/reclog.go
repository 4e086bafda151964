// Package reclog lays records out in a file of fixed size that begins as zeros and
// loses, when its writer dies, nothing but a part of the last write.
//
// A record is a frame: its length plus one (4 bytes, little-endian), the CRC-32C of
// these four bytes and of the data (4 bytes), and the data. Frames follow each other
// without gaps; behind the last one the file is zero. A writer appends one frame at a
// time, with one write, and the next one when that is safe. So all that a reader can
// find behind the last whole frame is remains of a single write, and a writer that continues
// with the file writes zeros over them first (see [Log.Remains]).
package reclog

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Header is the number of bytes of a record in the file besides its data.
const Header = 8

// MaxRecord is the most bytes of a record.
const MaxRecord = math.MaxInt32 - Header

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the frame of record, of at most [MaxRecord] bytes, to b.
func Append(b, record []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(record))+1)
	b = binary.LittleEndian.AppendUint32(b, sum(b[at:at+4], record))
	return append(b, record...)
}

func sum(length, record []byte) uint32 {
	return crc32.Update(crc32.Checksum(length, castagnoli), castagnoli, record)
}

// Log is the content of a file.
type Log struct {
	// Records are parts of the bytes that were scanned.
	Records [][]byte
	// Used is where the next frame goes.
	Used int
	// Remains is how many bytes from Used on are not known to be zero: a part of a
	// record that was never acknowledged.
	Remains int
}

// Scan finds the records of a file.
func Scan(file []byte) Log {
	var l Log
	for {
		record, ok := first(file[l.Used:])
		if !ok {
			break
		}
		l.Records = append(l.Records, record)
		l.Used += Header + len(record)
	}
	for l.Remains = len(file) - l.Used; l.Remains > 0 && file[l.Used+l.Remains-1] == 0; l.Remains-- {
	}
	return l
}

// first is the record that b begins with, if there is one.
func first(b []byte) ([]byte, bool) {
	if len(b) < Header {
		return nil, false
	}
	n := binary.LittleEndian.Uint32(b)
	if n == 0 || uint64(n)-1 > uint64(len(b)-Header) {
		return nil, false
	}
	record := b[Header : Header+int(n)-1]
	return record, binary.LittleEndian.Uint32(b[4:]) == sum(b[:4], record)
}
