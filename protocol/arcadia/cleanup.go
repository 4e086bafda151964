package arcadia

import "fmt"

// Cleanup says that the record is not needed any more (4.3). Records may be cleaned up in any order. Once
// it returns nil no recovery finds the record, and the space of those that are cleaned up from the head on
// can be reserved again. If a failure cuts it off, the record is found or not. An error wraps
// ErrIncomplete or ErrCleaned.
//
// The paper clears the valid flag. An iterator ends there, so what follows would be lost with a record
// that was cleaned up before those in front of it. A flag of its own says that it was cleaned up.
func (l *Log) Cleanup(r *Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.cleaning:
		return fmt.Errorf("%w: record %d", ErrCleaned, r.lsn)
	case !r.complete():
		return fmt.Errorf("%w: record %d", ErrIncomplete, r.lsn)
	}
	r.cleaning = true
	if l.records[0] != r { // else the superline says so
		l.region.Add64(r.flags(), cleanedBit)
		l.mu.Unlock()
		err := l.mem.Force(r.flags(), 8)
		l.mu.Lock()
		if err != nil {
			return err
		}
	}
	r.cleaned = true
	return l.reclaim()
}

// CleanupAll cleans up all records that were reserved (4.3). The epoch stays, and so do LSNs: the next
// record continues. An error wraps ErrIncomplete: the log is as it was.
func (l *Log) CleanupAll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if !r.complete() {
			return fmt.Errorf("%w: record %d", ErrIncomplete, r.lsn)
		}
	}
	for _, r := range l.records {
		r.cleaning, r.cleaned = true, true
	}
	return l.reclaim()
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
		l.empty = true // what comes next lies at 0, and not before the superline says so
	}
	l.moving = true
	l.mu.Unlock()
	err := l.move(s)
	l.mu.Lock()
	l.moving, l.empty = false, false
	l.wake.Broadcast()
	if err != nil {
		l.err = err
		return err
	}
	if l.records = l.records[n:]; len(l.records) == 0 {
		l.ring = ring{size: l.size}
	} else {
		l.ring.release(l.records[0].at)
	}
	l.forced = max(l.forced, s.start-1)
	return nil
}
