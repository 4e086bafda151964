package kv

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// ApplyOne applies the oldest operation that is logged and not applied (4.2), and reports whether
// there was one. The error is that of the replicated memory, and stops the store.
func (s *Store) ApplyOne() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil {
		return false, s.refusal()
	}
	if s.queue.n == 0 {
		return false, nil
	}
	if err := s.applyOldest(); err != nil {
		return false, s.stopAs(err)
	}
	return true, nil
}

// Apply applies operations in the background until the store stops, and returns the reason.
func (s *Store) Apply() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stopped == nil {
		if s.queue.n == 0 {
			s.work.Wait()
		} else if err := s.applyOldest(); err != nil {
			s.halt(err)
		}
	}
	return s.refusal()
}

// Stop makes all further operations fail with [ErrNotLeading].
func (s *Store) Stop() { _ = s.stop(errStopped) }

var errStopped = fmt.Errorf("%w: stopped", ErrNotLeading)

func (s *Store) applyOldest() error {
	x := s.queue.oldest()
	if err := s.table.apply(&x.entry); err != nil {
		return err
	}
	s.cache.applied(x.key)
	if x.reserves {
		s.reserved--
	}
	s.queue.drop()
	return nil
}

// Open returns the store in a memory (4.3). The memory has recovered, and this store is
// the only one of its coordinator. A memory of zeros is a store without keys.
//
// It loads the index table and the bitmap, chooses the log, rewrites its entries where
// they are missing, and replays them, which fills the cache. The entries must be on all nodes
// before the first of them is applied: see [sift.Coordinator.Copies].
func Open(h host.Host, mem Memory, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, mem: mem, appending: h.NewMutex(), mu: h.NewMutex(), cache: newCache(cfg.Cache), queue: queue{items: make([]logged, cfg.Log)}, line: make([]byte, cfg.entrySize())}
	s.work = h.NewCond(s.mu)
	err := s.recover()
	if err != nil {
		return nil, fmt.Errorf("sift/kv: open: %w", err)
	}
	return s, nil
}

func (s *Store) recover() error {
	var err error
	if s.table, err = load(&s.cfg, s.mem); err != nil {
		return err
	}
	copies, err := s.mem.Copies(0, s.cfg.directSize())
	if err != nil {
		return err
	}
	log := s.cfg.choose(copies, s.table.applied)
	s.next = s.table.applied + uint64(len(log)) + 1
	s.found.Replayed = len(log)
	for i := range log {
		if !s.cfg.everywhere(copies, &log[i]) {
			s.found.Rewritten++
			if err := s.log(&log[i]); err != nil {
				return err
			}
		}
	}
	return s.replay(log)
}

// Recovery is what Open has found and done.
type Recovery struct {
	Replayed  int // operations that had not been applied
	Rewritten int // of these, those that some node did not have
}

// Recovered is what Open has found and done.
func (s *Store) Recovered() Recovery { return s.found }

// replay applies the entries of the log. The cache may be too small to have all of them pending.
func (s *Store) replay(log []entry) error {
	for i := range log {
		s.enqueue(&logged{entry: log[i]})
		if err := s.applyOldest(); err != nil {
			return err
		}
	}
	return nil
}
