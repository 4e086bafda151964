package kv

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// Memory has the methods of the replicated memory that a store needs. A [sift.Coordinator] implements it.
// After an error of the memory the store stops.
type Memory interface {
	// Term is different for each coordinator, and greater than those of earlier ones.
	Term() uint16
	// Read fills p from addr, and checks that the coordinator had not been replaced.
	Read(addr int, p []byte) error
	// Confirm checks that the coordinator had not been replaced when it was called.
	Confirm() error
	// WriteAll carries out all updates together, and returns when they are permanent.
	WriteAll(list []sift.Update) error
	// WriteDirect writes data at addr of the direct zone, and returns when a majority of the
	// memory nodes has it.
	WriteDirect(addr int, data []byte) error
	// Copies returns n bytes at addr of the direct zone, as each of a majority of the memory
	// nodes has them.
	Copies(addr, n int) ([][]byte, error)
}

// Store is a key-value store in a replicated memory (4), as its coordinator serves it. Several
// tasks may use it.
type Store struct {
	cfg Config
	mem Memory

	appending host.Mutex // held while an operation is logged; taken before mu
	next      uint64     // the index of the next one
	line      []byte     // an encoded entry

	mu       host.Mutex
	work     host.Cond // something can be applied
	table    *table
	cache    *cache
	queue    queue // what is logged and not applied
	reserved int   // how many of these may need a block
	found    Recovery
	stopped  error
}

// logged is an operation that is in the log.
type logged struct {
	entry
	reserves bool // it may need a block
}

// queue is a ring, whose items keep their memory.
type queue struct {
	items []logged
	first int
	n     int
}

func (q *queue) full() bool      { return q.n == len(q.items) }
func (q *queue) oldest() *logged { return &q.items[q.first] }

// add copies an operation into the queue, which is not full.
func (q *queue) add(x *logged) *logged {
	y := &q.items[(q.first+q.n)%len(q.items)]
	q.n++
	key, value := append(y.key[:0], x.key...), append(y.value[:0], x.value...)
	*y = *x
	y.key, y.value = key, value
	return y
}

func (q *queue) drop() {
	q.first = (q.first + 1) % len(q.items)
	q.n--
}

// Put stores a value under a key (4.2). It returns when the operation is in the log; the table
// follows in the background: see [Store.ApplyOne].
//
// If the error wraps [ErrUnknown] the key may have the value now or later. Otherwise it wraps
// [ErrTooLong], [ErrFull] or [ErrNotLeading], and nothing happens.
func (s *Store) Put(key, value []byte) error {
	if err := s.cfg.checkValue(value); err != nil {
		return err
	}
	return s.change(put, key, value)
}

// Delete removes a key, if it exists. The block of the key is free when the operation has been
// applied. Errors are those of [Store.Put], without ErrFull.
func (s *Store) Delete(key []byte) error { return s.change(remove, key, nil) }

func (s *Store) change(kind kind, key, value []byte) error {
	if err := s.cfg.checkKey(key); err != nil {
		return err
	}
	s.appending.Lock()
	defer s.appending.Unlock()
	x := logged{entry: entry{index: s.next, term: s.mem.Term(), kind: kind, key: key, value: value}}
	if err := s.admit(&x); err != nil {
		return err
	}
	if err := s.log(&x.entry); err != nil {
		return s.stop(fmt.Errorf("%w: %w", ErrUnknown, err))
	}
	s.publish(&x)
	return nil
}

// log writes an entry to the log, in one round trip. The operation is committed then.
func (s *Store) log(e *entry) error {
	n := s.cfg.encodeEntry(s.line, e)
	return s.mem.WriteDirect(s.cfg.entryAt(e.index), s.line[:n])
}

// admit ensures that an operation can be logged, recorded and applied. Only operations that are not
// applied yet can prevent this.
func (s *Store) admit(x *logged) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stopped == nil {
		fits, err := s.fits(x)
		switch {
		case err != nil:
			return s.stopAs(err)
		case fits:
			return nil
		case s.queue.n == 0:
			return fmt.Errorf("%w: %d keys", ErrFull, s.cfg.Blocks)
		}
		if err := s.applyOldest(); err != nil {
			return s.stopAs(err)
		}
	}
	return s.refusal()
}

// fits reports whether an operation can be logged now. A put needs a block when it is applied,
// unless its key is there already. The memory is read for that only if no block is left.
func (s *Store) fits(x *logged) (bool, error) {
	if s.queue.full() || !s.cache.room(x.key) {
		return false, nil
	}
	if i, ok := s.cache.by[string(x.key)]; x.kind == remove || ok && s.cache.items[i].found {
		return true, nil
	}
	if s.reserved < s.table.free {
		x.reserves = true
		return true, nil
	}
	if s.queue.n > 0 {
		return false, nil
	}
	p, _, err := s.table.find(x.key)
	return p.ptr != 0, err
}

// publish makes a logged operation visible.
func (s *Store) publish(x *logged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.enqueue(x)
	s.work.Signal()
}

// enqueue records an operation as one that is not applied.
func (s *Store) enqueue(x *logged) {
	if x.reserves {
		s.reserved++
	}
	s.cache.record(&s.queue.add(x).entry)
}

// Get appends the value of a key to buf (4.2), and reports whether the key is there. It looks
// into the cache, and then into the replicated memory. The error wraps [ErrTooLong] or
// [ErrNotLeading].
//
// The content of the cache may be old if another coordinator has been elected, so it is confirmed
// after the look. The paper leaves this open.
func (s *Store) Get(key, buf []byte) (value []byte, found bool, err error) {
	if err := s.cfg.checkKey(key); err != nil {
		return buf, false, err
	}
	s.mu.Lock()
	if s.stopped != nil {
		defer s.mu.Unlock()
		return buf, false, s.refusal()
	}
	if x := s.cache.get(key); x != nil {
		value, found = append(buf, x.value...), x.found
		s.mu.Unlock()
		return s.confirmed(value, found)
	}
	p, v, err := s.table.find(key)
	if err != nil {
		defer s.mu.Unlock()
		return buf, false, s.stopAs(err)
	}
	if value, found = append(buf, v...), p.ptr != 0; found {
		s.cache.fill(key, v)
	}
	s.mu.Unlock()
	if p.read() {
		return value, found, nil // which has confirmed it
	}
	return s.confirmed(value, found)
}

// confirmed returns an answer, unless the coordinator had been replaced when the answer was found.
func (s *Store) confirmed(value []byte, found bool) ([]byte, bool, error) {
	if err := s.mem.Confirm(); err != nil {
		return nil, false, s.stop(fmt.Errorf("%w: %w", ErrNotLeading, err))
	}
	return value, found, nil
}

// Stats are the figures of a store at one moment.
type Stats struct {
	Applied uint64 // the number of the last operation that is in the table
	Pending int    // operations that are logged and not applied
	Free    int    // data blocks
	Cached  int    // keys in the cache
}

// Stats returns the figures of the store.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Applied: s.table.applied, Pending: s.queue.n, Free: s.table.free, Cached: len(s.cache.by)}
}

// Cached reports whether the cache knows a key.
func (s *Store) Cached(key []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.cache.by[string(key)]
	return ok
}

// stop makes all further operations fail, and returns err.
func (s *Store) stop(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt(err)
	return err
}

// stopAs stops the store because of an error of the memory, under mu. The operation that got the
// error was not logged.
func (s *Store) stopAs(err error) error {
	s.halt(err)
	return s.refusal()
}

func (s *Store) halt(err error) {
	if s.stopped == nil {
		s.stopped = err
		s.work.Broadcast()
	}
}

// refusal is the error of an operation that a stopped store refuses. The operation that stopped the store may
// have an unknown outcome. This one was not carried out, so its error keeps only the text of the other error.
func (s *Store) refusal() error { return fmt.Errorf("%w: %v", ErrNotLeading, s.stopped) }
