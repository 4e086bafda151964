package flex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/verbatim-rdma/verbatim/host"
)

// HeaderSize is that of a record's header in bytes: the length of the payload, and the checksum.
const HeaderSize = 8

// Log is a log of records in a file. Tasks of its host may share it: one lock covers each append.
type Log struct {
	file *File
	mu   host.Mutex
}

// Open opens the log of size bytes in the persistent region called name, and recovers it: it ends before the
// first record that is cut off or has a wrong checksum, and discards the rest, as RocksDB does
// (kPointInTimeRecovery). The error wraps ErrArgument, ErrCorrupt, host.ErrMedia or an error of the host; the
// memory is then unchanged.
func Open(h host.Host, name string, size int) (*Log, error) {
	f, err := OpenFile(h, name, size)
	if err != nil {
		return nil, err
	}
	l := &Log{file: f, mu: h.NewMutex()}
	end, err := walk(f, func([]byte) error { return nil })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("flex: recover the log %s: %w", name, err), f.Close())
	}
	if end < f.Len() { // otherwise the next record would follow a torn one, and a recovery could not reach it
		if err := f.Truncate(end); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return l, nil
}

// Close unmaps the memory. Completed appends are durable without it.
func (l *Log) Close() error { return l.file.Close() }

// Append adds a record, durable when Append returns nil. If a failure interrupts it, a recovery finds the whole
// record or nothing. The error wraps ErrFull, or ErrArgument for 4 GiB or more; then nothing was added.
func (l *Log) Append(data []byte) error {
	if len(data) > math.MaxUint32 {
		return fmt.Errorf("%w: a record of %d bytes", ErrArgument, len(data))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := l.file.Cap() - l.file.Len(); len(data) > room-HeaderSize { // a header alone would end the log
		return fmt.Errorf("%w: a record of %d bytes, but there is room for %d", ErrFull, len(data), max(room-HeaderSize, 0))
	}
	var h [HeaderSize]byte
	binary.LittleEndian.PutUint32(h[:], uint32(len(data)))
	binary.LittleEndian.PutUint32(h[4:], checksum(h[:4], data))
	if err := l.file.Append(h[:]); err != nil {
		return err
	}
	return l.file.Append(data)
}

// Each calls f for the records in order. It stops at the first error of f and returns it. data is valid until f
// returns, and f must not call methods of the log, which is locked. An error of Each itself wraps host.ErrMedia,
// or ErrCorrupt for a record that was damaged since Open or Append.
func (l *Log) Each(f func(data []byte) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	end, err := walk(l.file, f)
	if err == nil && end < l.file.Len() {
		err = fmt.Errorf("%w: the record at %d has been damaged", ErrCorrupt, end)
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers the length too: RocksDB detects a damaged length by the limits of blocks, but a file here
// has no blocks.
func checksum(length, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(length, castagnoli), castagnoli, payload)
}

// walk calls each for the records of a file up to the first damaged one, and returns the end of the last whole
// record. The error is an error of each, or wraps host.ErrMedia.
func walk(f *File, each func(data []byte) error) (end int, err error) {
	var h [HeaderSize]byte
	for f.Len()-end >= HeaderSize {
		if err := f.ReadAt(h[:], end); err != nil {
			return end, err
		}
		n := int64(binary.LittleEndian.Uint32(h[:]))
		if n > int64(f.Len()-end-HeaderSize) {
			return end, nil
		}
		data := make([]byte, n)
		if err := f.ReadAt(data, end+HeaderSize); err != nil {
			return end, err
		}
		if checksum(h[:4], data) != binary.LittleEndian.Uint32(h[4:]) {
			return end, nil
		}
		if err := each(data); err != nil {
			return end, err
		}
		end += HeaderSize + int(n)
	}
	return end, nil
}
