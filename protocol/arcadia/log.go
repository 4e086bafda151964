package arcadia

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// Log is a log of records in persistent memory. Its methods, and those of its records, may be
// called by several tasks of the host. Only Reserve, Force and cleanups exclude each other.
type Log struct {
	h      host.Host
	id     uint64
	size   int // of the ring
	region host.Region
	mem    Store

	mu   host.Mutex // of all below
	wake host.Cond  // a record was completed, or a Force or a superline is done
	ring ring
	next uint64 // the LSN of the next record
	// records are those that were not cleaned up from the head on, in the order of their LSNs.
	records []*Record
	forced  uint64 // records up to this LSN are durable
	forcing bool   // one Force is under way
	super   superline
	at      int  // the superline that was written last
	moving  bool // superlines are being written
	empty   bool // the superlines record an empty log
	err     error
	idle    []*scratch
	words   []host.Region   // of all scratches
	line    [superSize]byte // for owns

	waiting host.Region // one word: the number of tasks that wait for a record to be complete

	replicas *Replicas // nil: local mode
}

// Open opens the log, and creates it if there is none. It first recovers the log (4.2): it makes the records that it
// finds durable, and no other record reappears later.
//
// A log has one valid handle at a time: after another Open, a Force by the older Log fails with ErrFenced. Records
// that it forces during the other Open may be lost.
//
// The error wraps ErrConfig, ErrCorrupt, ErrForeign, or an error of the host. After ErrCorrupt and ErrForeign
// the memory is unchanged.
func Open(h host.Host, cfg Config) (*Log, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.replicated() {
		return openReplicated(h, cfg)
	}
	region, err := h.OpenPMEM(cfg.Name, cfg.Size)
	if err != nil {
		return nil, fmt.Errorf("arcadia: open the persistent memory %s: %w", cfg.Name, err)
	}
	l := &Log{h: h, id: identity(cfg.Name), size: cfg.Size - ringAt, region: region, mem: Local{region}, mu: h.NewMutex()}
	l.wake = h.NewCond(l.mu)
	if l.waiting, err = h.Alloc(8); err != nil {
		return nil, errors.Join(err, region.Free())
	}
	if err := l.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("arcadia: open the log %s: %w", cfg.Name, err), l.Close())
	}
	return l, nil
}

// Close unmaps the memory. Records that were not forced may be lost.
func (l *Log) Close() error {
	if l.replicas != nil {
		return errors.Join(l.replicas.Close(), l.waiting.Free(), l.freeWords())
	}
	return errors.Join(l.region.Free(), l.waiting.Free(), l.freeWords())
}

// Copies returns the number of copies that have not failed. The next Open repairs the others.
func (l *Log) Copies() int {
	if l.replicas == nil {
		return 1
	}
	return l.replicas.Alive()
}

// recover reads the log, makes its records durable, and begins an epoch (4.2).
func (l *Log) recover() error {
	s, at, none, err := readSuperlines(l.mem, l.id, l.size+ringAt)
	switch {
	case err != nil:
		return err
	case none:
		return l.create()
	case s.epoch == maxEpoch:
		return fmt.Errorf("%w: there is no epoch after %d", ErrCorrupt, s.epoch)
	}
	l.super, l.at = s, at
	l.ring = ring{size: l.size, head: s.head, tail: s.head}
	cleaned := 0 // records from the head on that were cleaned up: cleanups were cut off
	walk(l.mem, &s, func(f found) {
		l.ring.tail, l.ring.wrapped = f.at+footprint(f.size), l.ring.wrapped || f.at < s.head
		l.records = append(l.records, &Record{log: l, lsn: f.lsn, epoch: f.epoch, at: f.at, size: f.size, closed: true, cleaning: f.cleaned, cleaned: f.cleaned})
		if f.cleaned && cleaned == len(l.records)-1 {
			cleaned++
		}
	})
	// A killed process may have left records, and a superline, only in the CPU's caches. The other
	// superline is about to be replaced.
	if err := l.persist(l.records); err != nil {
		return err
	}
	if err := l.mem.Force(at*superSize, superSize); err != nil {
		return err
	}
	l.next = s.start + uint64(len(l.records))
	l.forced = l.next - 1
	s.epoch, s.since = s.epoch+1, l.next
	l.records, s.start = l.records[cleaned:], s.start+uint64(cleaned)
	if len(l.records) == 0 {
		s.head, l.ring = 0, ring{size: l.size}
	} else {
		s.head = l.records[0].at
		l.ring.release(s.head)
	}
	l.super = s
	return putSuperlines(l.mem, &s, l.at)
}

// create makes an empty log in zeroed memory.
func (l *Log) create() error {
	if n, err := checkEmpty(l.mem, ringAt, l.size); err != nil {
		return fmt.Errorf("%w: it has no superline, but byte %d is not zero", err, n)
	}
	l.ring, l.next, l.super = ring{size: l.size}, 1, first(l.id, l.size)
	return putSuperlines(l.mem, &l.super, 0)
}

// checkEmpty returns ErrForeign and the offset of the first byte that is not zero, or nil.
func checkEmpty(m Store, off, n int) (int, error) {
	buf := make([]byte, min(n, 1<<16))
	for n > 0 {
		p := buf[:min(n, len(buf))]
		if err := m.Load(off, p); err != nil {
			return off, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		for i, b := range p {
			if b != 0 {
				return off + i, ErrForeign
			}
		}
		off, n = off+len(p), n-len(p)
	}
	return 0, nil
}

// outside calls f without the mutex. (The mutex is locked again even if f panics.)
func (l *Log) outside(f func() error) error {
	l.mu.Unlock()
	defer l.mu.Lock()
	return f()
}

// owns returns nil unless the log was opened again after l: then it has a newer epoch. The caller holds the mutex.
func (l *Log) owns() error {
	for i := range 2 {
		if l.mem.Load(i*superSize, l.line[:]) != nil {
			continue // the other superline may be readable
		}
		if s, ok := getSuperline(l.line[:]); ok && s.epoch > l.super.epoch {
			return fmt.Errorf("%w: its epoch is %d, the epoch of this handle is %d", ErrFenced, s.epoch, l.super.epoch)
		}
	}
	return nil
}

// persist forces some records, which follow each other.
func (l *Log) persist(records []*Record) error {
	for len(records) > 0 {
		n, from := 1, records[0].at
		for n < len(records) && records[n].at > from {
			n++
		}
		last := records[n-1]
		if err := l.mem.Force(ringAt+from, last.at+footprint(last.size)-from); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// Each calls f, in order, for each record that is durable and not cleaned up, with its content. It stops at the first
// error of f and returns it. Its own error wraps ErrCorrupt: a record has been damaged since the recovery. data is
// valid until f returns.
func (l *Log) Each(f func(r *Record, data []byte) error) error {
	l.mu.Lock()
	n := 0
	for n < len(l.records) && l.records[n].lsn <= l.forced {
		n++
	}
	records := l.records[:n:n]
	l.mu.Unlock()
	var buf []byte
	for _, r := range records {
		if cap(buf) < r.size {
			buf = make([]byte, r.size)
		}
		err := r.read(buf[:r.size])
		if r.cleanedUp() { // possibly during the read, and its space may have been reserved again
			continue
		}
		if err != nil {
			return err
		}
		if err := f(r, buf[:r.size]); err != nil {
			return err
		}
	}
	return nil
}
