package flex

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// Errors, to be tested with errors.Is.
var (
	// ErrArgument: an invalid name, size, length or offset.
	ErrArgument = errors.New("flex: bad argument")
	// ErrCorrupt: the memory holds no file of this size.
	ErrCorrupt = errors.New("flex: corrupt")
	// ErrFull: the file has no room for the data.
	ErrFull = errors.New("flex: the file is full")
)

// dataAt is the offset of the data, after the length, a little-endian word.
const dataAt = 8

// MinSize and MaxSize bound the size of a file in bytes, its length word included.
const (
	MinSize = dataAt + 8
	MaxSize = 1 << 40
)

// File is an open file. It belongs to one task at a time: RocksDB writes a log under a lock of its own.
type File struct {
	region host.Region
	size   int
	length int // of the data; the original keeps it in DRAM too, and never reads it back
}

// OpenFile opens the file of size bytes in the persistent region called name. Zeroed memory is an empty file.
// It writes nothing. The error wraps ErrArgument, ErrCorrupt, host.ErrMedia or an error of the host.
func OpenFile(h host.Host, name string, size int) (*File, error) {
	switch {
	case name == "":
		return nil, fmt.Errorf("%w: the name is empty; it names the persistent region", ErrArgument)
	case size < MinSize || size > MaxSize || size%8 != 0:
		return nil, fmt.Errorf("%w: a size of %d bytes; it must be a multiple of 8 from %d to %d", ErrArgument, size, MinSize, MaxSize)
	}
	region, err := h.OpenPMEM(name, size)
	if err != nil {
		return nil, fmt.Errorf("flex: open the persistent memory %s: %w", name, err)
	}
	f := &File{region: region, size: size}
	if err := f.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("flex: open the file %s: %w", name, err), f.Close())
	}
	return f, nil
}

// load reads the length.
func (f *File) load() error {
	var w [8]byte
	if err := host.TryLoad(f.region, 0, w[:]); err != nil {
		return fmt.Errorf("read the length: %w", err)
	}
	n := binary.LittleEndian.Uint64(w[:])
	if n > uint64(f.Cap()) {
		return fmt.Errorf("%w: its length is %d, but its capacity is %d bytes", ErrCorrupt, n, f.Cap())
	}
	f.length = int(n)
	return nil
}

// Close unmaps the memory. Completed appends are durable without it.
func (f *File) Close() error { return f.region.Free() }

// Len returns the length of the data in bytes (GetFileSize).
func (f *File) Len() int { return f.length }

// Cap returns the largest length in bytes.
func (f *File) Cap() int { return f.size - dataAt }

// Append adds data at the end, durable when it returns nil. If a failure interrupts it, the file has all of the
// data or nothing. If the error wraps ErrFull, nothing was added.
func (f *File) Append(data []byte) error {
	if len(data) > f.Cap()-f.length {
		return fmt.Errorf("%w: %d bytes, but there is room for %d", ErrFull, len(data), f.Cap()-f.length)
	}
	if len(data) == 0 {
		return nil
	}
	at := dataAt + f.length
	f.region.Store(at, data)
	f.region.Flush(at, len(data))
	f.region.Fence() // the data are persistent before the length covers them
	f.setLength(f.length + len(data))
	return nil
}

// Truncate shortens the file to n bytes. If a failure interrupts it, the file has its old length or n. The
// error wraps ErrArgument.
func (f *File) Truncate(n int) error {
	if n < 0 || n > f.length {
		return fmt.Errorf("%w: truncate a file of %[3]d bytes to %[2]d", ErrArgument, n, f.length)
	}
	f.setLength(n)
	return nil
}

// setLength stores the length and makes it persistent (SetSizeNT and sfence). It is one aligned word, so
// that a power failure leaves the old one or the new one.
func (f *File) setLength(n int) {
	f.region.Store64(0, uint64(n))
	f.region.Flush(0, 8)
	f.region.Fence()
	f.length = n
}

// ReadAt fills p with the data from off on. The error wraps ErrArgument if the file is too short for that, or
// host.ErrMedia.
func (f *File) ReadAt(p []byte, off int) error {
	if off < 0 || off > f.length || len(p) > f.length-off {
		return fmt.Errorf("%w: read %d bytes at %d of a file of %d", ErrArgument, len(p), off, f.length)
	}
	if len(p) == 0 {
		return nil
	}
	if err := host.TryLoad(f.region, dataAt+off, p); err != nil {
		return fmt.Errorf("flex: read %d bytes at %d: %w", len(p), off, err)
	}
	return nil
}
