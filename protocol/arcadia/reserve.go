package arcadia

import (
	"fmt"
	"math"

	"github.com/verbatim-rdma/verbatim/host"
)

// Record is a record that was reserved, or found by Open.
type Record struct {
	log    *Log
	lsn    uint64
	epoch  uint64
	at     int // in the ring
	size   int
	closed bool // Complete was called
	// scratch is nil once the record is durable or cleaned up. log.mu guards the pointer.
	scratch *scratch
	// Guarded by log.mu. cleaning: Cleanup was called. cleaned: the mark is durable; the superline may not be.
	cleaning, cleaned bool
}

// LSN returns the record's place in the order of the log: 1, 2, 3, and so on, since the log was created.
func (r *Record) LSN() uint64 { return r.lsn }

// Size returns the length of the payload in bytes.
func (r *Record) Size() int { return r.size }

// Place returns the place of the payload: Size bytes of the region from off on. An application may store
// there itself until it calls Complete, and need not flush.
func (r *Record) Place() (region host.Region, off int) { return r.log.region, r.payload() }

func (r *Record) payload() int { return ringAt + r.at + headerSize }

// MaxRecord returns the largest payload that the log can take.
func (l *Log) MaxRecord() int { return min(l.size-headerSize, math.MaxUint32) }

// Reserve allots the next LSN together with the space for size bytes (4.3). A reserved record must be completed:
// until then no Force of a later record returns. The error wraps ErrTooLarge, ErrFull, or ErrCorrupt if there are no
// more LSNs, which only a damaged superline can cause.
func (l *Log) Reserve(size int) (*Record, error) {
	if size < 0 || size > l.MaxRecord() {
		return nil, fmt.Errorf("%w: a record of %d bytes; this log takes up to %d", ErrTooLarge, size, l.MaxRecord())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.empty {
		l.wake.Wait()
	}
	if l.err != nil {
		return nil, l.err
	}
	if l.next >= maxLSN {
		return nil, fmt.Errorf("%w: there is no LSN after %d", ErrCorrupt, l.next-1)
	}
	s, err := l.take()
	if err != nil {
		return nil, err
	}
	at := l.ring.take(footprint(size))
	if at < 0 {
		l.idle = append(l.idle, s)
		return nil, fmt.Errorf("%w: %d bytes", ErrFull, size)
	}
	r := &Record{log: l, lsn: l.next, epoch: l.super.epoch, at: at, size: size, scratch: s}
	l.next++
	l.records = append(l.records, r)
	header{size: size, lsn: r.lsn, epoch: r.epoch}.put(s.buf)
	l.region.Store(ringAt+at, s.buf[:headerSize])
	return r, nil
}

// Copy stores data in the payload from off on. It may be called many times, by several tasks for different
// parts. (The paper's copy has non-temporal stores; these are ordinary ones, which Force flushes.)
func (r *Record) Copy(off int, data []byte) error {
	if off < 0 || off > r.size-len(data) {
		return fmt.Errorf("%w: %d bytes at %d of a record of %d", ErrTooLarge, len(data), off, r.size)
	}
	if r.closed {
		return fmt.Errorf("%w: record %d", ErrComplete, r.lsn)
	}
	r.log.region.Store(r.payload()+off, data)
	return nil
}

// read copies the payload into p, and compares the checksum.
func (r *Record) read(p []byte) error {
	l := r.log
	var b [headerSize]byte
	err := l.mem.Load(ringAt+r.at, b[:])
	if err == nil {
		err = l.mem.Load(r.payload(), p)
	}
	if err != nil {
		return fmt.Errorf("%w: record %d: %w", ErrCorrupt, r.lsn, err)
	}
	h := header{size: r.size, lsn: r.lsn, epoch: r.epoch}
	if sum := getHeader(b[:]).sum; h.seal(crcOf(p), l.id) != sum {
		return fmt.Errorf("%w: record %d: its checksum does not match", ErrCorrupt, r.lsn)
	}
	return nil
}

// flags returns the offset of the word with the flags.
func (r *Record) flags() int { return ringAt + r.at + 16 }

// cleanedUp reports whether Cleanup was called.
func (r *Record) cleanedUp() bool {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return r.cleaning
}

// Complete declares that the record has all its data: it writes the checksum, and then sets the valid flag (4.3). It takes
// no lock, unless a task waits for the record. It reads the data back for the checksum, because the application may have
// stored them itself. Only Append detects a bit that flips before this read. The error wraps ErrComplete, or ErrCorrupt if
// the data cannot be read back; then they can be stored again and completed.
func (r *Record) Complete() error {
	if r.closed {
		return fmt.Errorf("%w: record %d", ErrComplete, r.lsn)
	}
	sum, err := checksum(r.log.mem, r.payload(), r.size, r.scratch.buf)
	if err != nil {
		return fmt.Errorf("%w: record %d: %w", ErrCorrupt, r.lsn, err)
	}
	r.finish(sum)
	return nil
}

// finish completes a record whose payload has this checksum.
func (r *Record) finish(sum uint32) {
	l := r.log
	r.closed = true
	h := header{size: r.size, lsn: r.lsn, epoch: r.epoch, valid: true}
	h.sum = h.sealIn(r.scratch.buf, sum, l.id)
	w := h.words()
	l.region.Store64(ringAt+r.at, w[0])
	l.region.Store64(ringAt+r.at+8, w[1]) // again: the word may be damaged
	l.region.Store64(r.flags(), w[2])
	r.scratch.words.Store64(r.scratch.off, r.lsn)
	// A locked instruction is ordered after the store above: a waiting task counts itself before it reads the
	// word.
	if l.waiting.Add64(0, 0) > 0 {
		l.mu.Lock()
		l.wake.Broadcast()
		l.mu.Unlock()
	}
}
