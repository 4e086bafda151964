package arcadia

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Atomic is the atomicity primitive (3, listing 2): data of a fixed length. Whatever fails during a write, a reader
// finds the old data or the new data. There are two buffers, and an index selects the current one.
//
// The paper's index is 0 or 1. One flipped bit of it, or a stray store of 0 or 1, would make the old data current
// again. Our index is one of two words that no store writes by chance, and that differ in every bit. Nor does the paper
// say that the index must be durable before the other buffer is written. After a process has crashed, the index may be
// in the CPU's caches alone. The buffer that it does not select is then the only durable one.
type Atomic struct {
	Mem Store
	At  int // the offset, a multiple of 8
	Len int // of the data, a multiple of 8
}

// Size returns the number of bytes that the primitive occupies.
func (a *Atomic) Size() int { return 8 + 2*a.buffer() }

func (a *Atomic) buffer() int         { return a.Len + 8 }
func (a *Atomic) at(i int) int        { return a.At + 8 + i*a.buffer() }
func (a *Atomic) sum(p []byte) uint64 { return uint64(crc32.Checksum(p, castagnoli)) | 1<<32 }

// indexWords are the two values of the index. Memory that was never written has zeros there.
var indexWords = [2]uint64{0x1cad1aa70a1cb17e, ^uint64(0x1cad1aa70a1cb17e)}

// index returns the current buffer, or -1 if there is none, as in memory that was never written.
func (a *Atomic) index() (int, error) {
	var w [8]byte
	if err := a.Mem.Load(a.At, w[:]); err != nil {
		return 0, fmt.Errorf("%w: the index: %w", ErrCorrupt, err)
	}
	switch binary.LittleEndian.Uint64(w[:]) {
	case 0:
		return -1, nil
	case indexWords[0]:
		return 0, nil
	case indexWords[1]:
		return 1, nil
	}
	return 0, fmt.Errorf("%w: the index", ErrCorrupt)
}

// Write replaces the data. An error that wraps ErrCorrupt means that nothing was written.
func (a *Atomic) Write(data []byte) error {
	if len(data) != a.Len {
		return fmt.Errorf("%w: %d bytes for %d", ErrTooLarge, len(data), a.Len)
	}
	i, err := a.index()
	if err != nil {
		return err
	}
	if err := a.Mem.Force(a.At, 8); err != nil {
		return err
	}
	i = 1 - max(i, 0)
	var sum, idx [8]byte
	binary.LittleEndian.PutUint64(sum[:], a.sum(data))
	a.Mem.Store(a.at(i), data)
	a.Mem.Store(a.at(i)+a.Len, sum[:])
	if err := a.Mem.Force(a.at(i), a.buffer()); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(idx[:], indexWords[i])
	a.Mem.Store(a.At, idx[:])
	return a.Mem.Force(a.At, len(idx))
}

// Read returns the data, and makes them durable: no later failure can lose them. The error wraps ErrCorrupt
// if they are damaged or were never written.
func (a *Atomic) Read() ([]byte, error) {
	i, err := a.index()
	if err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, fmt.Errorf("%w: nothing was written", ErrCorrupt)
	}
	b := make([]byte, a.buffer())
	if err := a.Mem.Load(a.at(i), b); err != nil {
		return nil, fmt.Errorf("%w: the data: %w", ErrCorrupt, err)
	}
	if binary.LittleEndian.Uint64(b[a.Len:]) != a.sum(b[:a.Len]) {
		return nil, fmt.Errorf("%w: the data", ErrCorrupt)
	}
	if err := a.Mem.Force(a.at(i), a.buffer()); err != nil {
		return nil, err
	}
	return b[:a.Len], a.Mem.Force(a.At, 8)
}
