package arcadia

import "fmt"

// Force makes the record and all records before it durable: it returns when they are replicated and
// persistent (4.3). It waits until all of them are complete, so that the log has no gap, and a later
// Force waits for an earlier one. It returns nil if the record is durable.
//
// With a frequency above 1 (4.4) Force returns at once, unless the frequency divides the LSN. If at most T tasks
// force each record with the same frequency F, a failure loses at most F*T completed records: one record of each
// task, and the records since the last multiple of F. The tasks share no counter.
func (r *Record) Force(frequency int) error {
	if frequency < 1 {
		return fmt.Errorf("%w: a frequency of %d", ErrConfig, frequency)
	}
	if r.lsn%uint64(frequency) != 0 {
		return nil
	}
	return r.log.force(r.lsn)
}

// force makes all records up to an LSN durable.
func (l *Log) force(lsn uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.await(lsn); err != nil { // before l.forcing is set: the task of an incomplete record may be forcing an earlier record
		return err
	}
	for l.forcing && l.forced < lsn && l.err == nil {
		l.wake.Wait()
	}
	switch {
	case l.forced >= lsn:
		return nil
	case l.err != nil:
		return l.err
	}
	l.forcing = true // no other Force may run now
	records := l.unforced(lsn)
	err := l.outside(func() error { return l.persist(records) })
	if err == nil {
		err = l.owns()
	}
	l.forcing = false
	if err != nil {
		l.err = err
	} else {
		l.forced = max(l.forced, lsn)
		l.recycle(records)
	}
	l.wake.Broadcast()
	return err
}

// unforced returns the records up to an LSN that are not durable, and not cleaned up from the head on.
func (l *Log) unforced(lsn uint64) []*Record {
	if len(l.records) == 0 {
		return nil
	}
	first := l.records[0].lsn
	from, to := max(l.forced+1, first)-first, max(lsn+1, first)-first
	if from >= to {
		return nil
	}
	return l.records[from:to:to]
}

// await waits until the records up to an LSN are complete. The caller holds the mutex.
func (l *Log) await(lsn uint64) error {
	counted := false
	defer func() {
		if counted {
			l.waiting.Add64(0, ^uint64(0))
		}
	}()
	for _, r := range l.unforced(lsn) {
		for !r.cleaned && r.lsn > l.forced && l.err == nil { // a cleaned record was complete, and its space may have been reused
			switch {
			case r.complete():
			case !counted:
				l.waiting.Add64(0, 1)
				counted = true
				continue // the record may have been completed before its task could see the waiting count
			default:
				l.wake.Wait()
				continue
			}
			break
		}
	}
	return nil
}

// Append reserves, copies, completes and forces a record (4.3). Its checksum is that of data, not of the bytes that
// reached memory. The error wraps those of Reserve, or explains why the record may not be durable.
func (l *Log) Append(data []byte) (*Record, error) {
	r, err := l.Reserve(len(data))
	if err != nil {
		return nil, err
	}
	if err := r.Copy(0, data); err != nil {
		return nil, err
	}
	r.finish(crcOf(data))
	return r, r.Force(1)
}
