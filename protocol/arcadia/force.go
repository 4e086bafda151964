package arcadia

import "fmt"

// Force makes the record durable, and all before it: it returns when they are replicated and
// persistent (4.3). It waits until all of them are complete, so that the log has no gap, and a later
// Force waits for an earlier one. What it returns is nil if the record is durable.
//
// With a frequency above 1 (4.4) it does so only if the LSN is divisible by it, and returns at once
// otherwise. If each record is forced with the same frequency F, by at most T tasks, at most F*T completed
// records are lost: the tasks' own, and those since the last multiple. There is no counter to share.
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
	for l.forcing && l.forced < lsn && l.err == nil {
		l.wake.Wait()
	}
	if l.forced >= lsn || l.err != nil {
		if l.forced >= lsn {
			return nil
		}
		return l.err
	}
	l.forcing = true // it leads
	l.await(lsn)
	records := l.unforced(lsn)
	l.mu.Unlock()
	err := l.persist(records)
	l.mu.Lock()
	l.forcing = false
	if err != nil {
		l.err = err
	} else {
		l.forced = max(l.forced, lsn)
		for _, r := range records {
			l.idle, r.buf = append(l.idle, r.buf), nil
		}
	}
	l.wake.Broadcast()
	return err
}

// unforced are the records up to an LSN that are not durable, and not cleaned up from the head on.
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
func (l *Log) await(lsn uint64) {
	counted := false
	for _, r := range l.unforced(lsn) {
		for !r.cleaned && !r.complete() { // what is cleaned up was complete, and its space may be another's
			if !counted {
				l.waiting.Add64(0, 1)
				counted = true
				continue // it may have been completed before it could know
			}
			l.wake.Wait()
		}
	}
	if counted {
		l.waiting.Add64(0, ^uint64(0))
	}
}

// Append reserves, copies, completes and forces a record (4.3). An error wraps those of Reserve, or says
// why the record may not be durable.
func (l *Log) Append(data []byte) (*Record, error) {
	r, err := l.Reserve(len(data))
	if err != nil {
		return nil, err
	}
	if err := r.Copy(0, data); err != nil {
		return nil, err
	}
	if err := r.Complete(); err != nil {
		return nil, err
	}
	return r, r.Force(1)
}
