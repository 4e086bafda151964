package pmemlog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// Errors, to be tested with errors.Is.
var (
	// ErrArgument: an invalid name, size or chunk.
	ErrArgument = errors.New("pmemlog: bad argument")
	// ErrExists: there is a pool already.
	ErrExists = errors.New("pmemlog: the pool exists")
	// ErrCorrupt: the memory holds no pool of this size: its creation was cut off, or it was damaged.
	ErrCorrupt = errors.New("pmemlog: no pool, or a damaged one")
	// ErrFull: the pool has no room for the bytes.
	ErrFull = errors.New("pmemlog: the pool is full")
)

// The descriptor of a pool is three little-endian words, which are offsets from the beginning of the
// region; the data follow it (struct pmemlog).
const (
	startAt = 0  // start: the beginning of the data
	endAt   = 8  // end: the end of the region
	writeAt = 16 // write: the place of the next append
	dataAt  = 64 // the value of start: data and descriptor share no cache line
)

// MinSize and MaxSize bound the size of a pool in bytes, its descriptor included.
const (
	MinSize = dataAt + 8
	MaxSize = 1 << 40
)

// Pool is an open pool. Tasks of its host may share it: one lock covers every operation, as in libpmemlog.
type Pool struct {
	region host.Region
	size   int
	mu     host.Mutex
}

// Create makes an empty pool of size bytes in the persistent region called name (pmemlog_descr_create). If a
// failure interrupts it, Open returns ErrCorrupt, and Create can be called again. The error wraps ErrArgument,
// ErrExists or an error of the host.
func Create(h host.Host, name string, size int) (*Pool, error) {
	p, err := attach(h, name, size)
	if err != nil {
		return nil, err
	}
	if _, err := p.written(); err == nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrExists, name), p.Close())
	}
	var d [24]byte
	binary.LittleEndian.PutUint64(d[startAt:], dataAt)
	binary.LittleEndian.PutUint64(d[endAt:], uint64(size))
	binary.LittleEndian.PutUint64(d[writeAt:], dataAt)
	region := p.region
	region.Store(0, d[:])
	region.Flush(0, len(d))
	region.Fence()
	return p, nil
}

// Open opens the pool that Create has made with the same name and size. It writes nothing. The error wraps
// ErrArgument, ErrCorrupt, host.ErrMedia or an error of the host.
func Open(h host.Host, name string, size int) (*Pool, error) {
	p, err := attach(h, name, size)
	if err != nil {
		return nil, err
	}
	if _, err := p.written(); err != nil {
		return nil, errors.Join(fmt.Errorf("pmemlog: open the pool %s: %w", name, err), p.Close())
	}
	return p, nil
}

// attach maps the region.
func attach(h host.Host, name string, size int) (*Pool, error) {
	switch {
	case name == "":
		return nil, fmt.Errorf("%w: the name is empty; it names the persistent region", ErrArgument)
	case size < MinSize || size > MaxSize || size%8 != 0:
		return nil, fmt.Errorf("%w: a size of %d bytes; it must be a multiple of 8 from %d to %d", ErrArgument, size, MinSize, MaxSize)
	}
	region, err := h.OpenPMEM(name, size)
	if err != nil {
		return nil, fmt.Errorf("pmemlog: open the persistent memory %s: %w", name, err)
	}
	return &Pool{region: region, size: size, mu: h.NewMutex()}, nil
}

// Close unmaps the memory. Completed appends are durable without it.
func (p *Pool) Close() error { return p.region.Free() }

// Cap returns how many bytes the pool can hold (pmemlog_nbyte).
func (p *Pool) Cap() int { return p.size - dataAt }

// written returns the write offset, once the descriptor is plausible (pmemlog_descr_check). An error
// wraps ErrCorrupt or host.ErrMedia.
func (p *Pool) written() (int, error) {
	var d [24]byte
	if err := host.TryLoad(p.region, 0, d[:]); err != nil {
		return 0, fmt.Errorf("pmemlog: read the offsets: %w", err)
	}
	start, end := binary.LittleEndian.Uint64(d[startAt:]), binary.LittleEndian.Uint64(d[endAt:])
	write := binary.LittleEndian.Uint64(d[writeAt:])
	switch {
	case start != dataAt || end != uint64(p.size):
		return 0, fmt.Errorf("%w: its data are at [%d,%d), and those of a pool of this size at [%d,%d)", ErrCorrupt, start, end, dataAt, p.size)
	case write < start || write > end:
		return 0, fmt.Errorf("%w: its write offset is %d, outside of [%d,%d]", ErrCorrupt, write, start, end)
	}
	return int(write), nil
}

// Append adds data at the end, durable when it returns nil. If a failure interrupts it, the pool has all of the
// data or nothing. The error wraps ErrFull, ErrCorrupt or host.ErrMedia; then nothing was added (pmemlog_append).
func (p *Pool) Append(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, err := p.written()
	if err != nil {
		return err
	}
	if len(data) > p.size-at {
		return fmt.Errorf("%w: %d bytes, but there is room for %d", ErrFull, len(data), p.size-at)
	}
	region := p.region
	if len(data) > 0 {
		region.Store(at, data)
		region.Flush(at, len(data)) // pmem_memcpy_nodrain: starts the write-back and does not wait for it
	}
	region.Fence() // pmem_drain: the data are persistent before the offset covers them
	p.moveTo(at + len(data))
	return nil
}

// Rewind discards all bytes. If a failure interrupts it, the pool has all bytes or none. The error wraps
// ErrCorrupt or host.ErrMedia (pmemlog_rewind, which does not check the descriptor).
func (p *Pool) Rewind() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.written(); err != nil {
		return err
	}
	p.moveTo(dataAt)
	return nil
}

// moveTo stores the write offset and makes it persistent. It is one aligned word, so that a power failure
// leaves the old one or the new one.
func (p *Pool) moveTo(write int) {
	p.region.Store64(writeAt, uint64(write))
	p.region.Flush(writeAt, 8)
	p.region.Fence()
}

// Tell returns how many bytes were appended since the last Rewind. The error wraps ErrCorrupt or host.ErrMedia
// (pmemlog_tell).
func (p *Pool) Tell() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, err := p.written()
	if err != nil {
		return 0, err
	}
	return at - dataAt, nil
}

// Walk calls f for the bytes in order, in chunks of the given length, until f returns false. The last chunk may
// be shorter. If chunk is 0, f gets all bytes at once, even if there are none. data is valid until f returns, and
// f must not call methods of the pool, which is locked. The error wraps ErrArgument, ErrCorrupt or host.ErrMedia
// (pmemlog_walk).
func (p *Pool) Walk(chunk int, f func(data []byte) bool) error {
	if chunk < 0 {
		return fmt.Errorf("%w: chunks of %d bytes", ErrArgument, chunk)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	end, err := p.written()
	if err != nil {
		return err
	}
	if chunk == 0 {
		data := make([]byte, end-dataAt)
		if err := p.read(dataAt, data); err != nil {
			return err
		}
		f(data)
		return nil
	}
	buf := make([]byte, min(chunk, end-dataAt))
	for at := dataAt; at < end; at += len(buf) {
		data := buf[:min(len(buf), end-at)]
		if err := p.read(at, data); err != nil {
			return err
		}
		if !f(data) {
			return nil
		}
	}
	return nil
}

func (p *Pool) read(at int, data []byte) error {
	if err := host.TryLoad(p.region, at, data); err != nil {
		return fmt.Errorf("pmemlog: read %d bytes at %d: %w", len(data), at-dataAt, err)
	}
	return nil
}
