package arcadia

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Reliable is the integrity primitive (3, listing 1): data of variable length that are written once, or
// over data that are no longer needed. Header and data may persist in any order: one Force is enough, and
// a reader detects whether both are complete.
type Reliable struct {
	Mem Store
	At  int // the offset, a multiple of 8
	Max int // the largest length
}

// reliableHeader: length and kind; a checksum of both; a checksum of the data.
const reliableHeader = 16

// Size returns the number of bytes that the primitive occupies.
func (r *Reliable) Size() int { return reliableHeader + r.Max }

// Write stores data and forces them. After an error, or a crash during Write, Read returns the data or
// ErrCorrupt.
func (r *Reliable) Write(kind uint32, data []byte) error {
	if len(data) > r.Max {
		return fmt.Errorf("%w: %d bytes for %d", ErrTooLarge, len(data), r.Max)
	}
	var h [reliableHeader]byte
	binary.LittleEndian.PutUint32(h[:], uint32(len(data)))
	binary.LittleEndian.PutUint32(h[4:], kind)
	binary.LittleEndian.PutUint32(h[8:], crc32.Checksum(h[:8], castagnoli))
	binary.LittleEndian.PutUint32(h[12:], crc32.Checksum(data, castagnoli))
	r.Mem.Store(r.At, h[:])
	r.Mem.Store(r.At+reliableHeader, data)
	return r.Mem.Force(r.At, reliableHeader+len(data))
}

// Read returns the last data that were written, if they are complete, and makes them durable. The error wraps ErrCorrupt.
func (r *Reliable) Read() (kind uint32, data []byte, err error) {
	var h [reliableHeader]byte
	if err := r.Mem.Load(r.At, h[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: the header: %w", ErrCorrupt, err)
	}
	n := int(binary.LittleEndian.Uint32(h[:]))
	if binary.LittleEndian.Uint32(h[8:]) != crc32.Checksum(h[:8], castagnoli) || n > r.Max { // n is meaningful only if the checksum matches
		return 0, nil, fmt.Errorf("%w: the header", ErrCorrupt)
	}
	data = make([]byte, n)
	if err := r.Mem.Load(r.At+reliableHeader, data); err != nil {
		return 0, nil, fmt.Errorf("%w: the data: %w", ErrCorrupt, err)
	}
	if binary.LittleEndian.Uint32(h[12:]) != crc32.Checksum(data, castagnoli) {
		return 0, nil, fmt.Errorf("%w: the data", ErrCorrupt)
	}
	return binary.LittleEndian.Uint32(h[4:]), data, r.Mem.Force(r.At, reliableHeader+n)
}
