package arcadia

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// Cleanup declares that the record is no longer needed (4.3). Records may be cleaned up in any order. After
// Cleanup has returned nil no recovery finds the record. Once all records before it are cleaned up too, its space
// can be reserved again. If a failure interrupts Cleanup, a recovery may find the record. The error wraps
// ErrIncomplete, ErrCleaned, ErrForeign (a record of another log, or of an earlier Open), ErrFenced or ErrCorrupt: the
// record cannot be read, and can be cleaned up only after the records before it.
//
// The paper clears the valid flag. An iterator stops there, so the records after one that was cleaned up out
// of order would be lost. Here Cleanup inverts the checksum: see header.
func (l *Log) Cleanup(r *Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.log != l:
		return fmt.Errorf("%w: record %d is of another log, or of an earlier Open", ErrForeign, r.lsn)
	case r.cleaning:
		return fmt.Errorf("%w: record %d", ErrCleaned, r.lsn)
	}
	if err := errors.Join(l.cleanable(r), l.owns()); err != nil {
		return err
	}
	if l.records[0] != r { // otherwise the superline records the cleanup
		w, err := host.TryLoad64(l.region, ringAt+r.at)
		if err != nil {
			return fmt.Errorf("%w: record %d: %w", ErrCorrupt, r.lsn, err)
		}
		r.cleaning = true
		l.region.Store64(ringAt+r.at, w^cleanMask)
		if err := l.outside(func() error { return l.mem.Force(ringAt+r.at, 8) }); err != nil {
			return err
		}
	}
	r.cleaning = true
	r.cleaned = true
	return l.reclaim()
}

// CleanupAll cleans up all reserved records (4.3). The epoch stays the same, and LSNs continue with the next
// record. After an error that wraps ErrIncomplete or ErrFenced the log is unchanged.
func (l *Log) CleanupAll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if err := l.cleanable(r); err != nil {
			return err
		}
	}
	if err := l.owns(); err != nil {
		return err
	}
	for _, r := range l.records {
		r.cleaning, r.cleaned = true, true
	}
	return l.reclaim()
}

// cleanable returns nil if r is complete, even if r is no longer readable.
func (l *Log) cleanable(r *Record) error {
	if r.lsn > l.forced && !r.complete() {
		return fmt.Errorf("%w: record %d", ErrIncomplete, r.lsn)
	}
	return nil
}

// reclaim moves the head past the records that are cleaned up. The caller holds the mutex.
func (l *Log) reclaim() error {
	for l.moving {
		l.wake.Wait()
	}
	n := 0
	for n < len(l.records) && l.records[n].cleaned {
		n++
	}
	if n == 0 || l.err != nil {
		return l.err
	}
	s := l.super
	s.start += uint64(n)
	if s.head = 0; n < len(l.records) {
		s.head = l.records[n].at
	} else {
		l.empty = true // the next record lies at 0, once the superline records that
	}
	l.moving = true
	err := l.outside(func() error { return putSuperlines(l.mem, &s, l.at) })
	l.moving, l.empty = false, false
	l.wake.Broadcast()
	if err != nil {
		l.err = err
		return err
	}
	l.super = s
	l.recycle(l.records[:n])
	if l.records = l.records[n:]; len(l.records) == 0 {
		l.ring = ring{size: l.size}
	} else {
		l.ring.release(l.records[0].at)
	}
	l.forced = max(l.forced, s.start-1)
	return nil
}
