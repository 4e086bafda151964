package kv

import (
	"errors"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// onHost runs a host that has tasks.
func onHost(t *testing.T, main func(h host.Host)) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(sim.Config{Profile: profile, Nodes: []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) { main(h) }}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(inOrder{}); err != nil {
		t.Fatal(end, err)
	}
}

// openOn opens an empty store on a host.
func openOn(t *testing.T, h host.Host) *Store {
	t.Helper()
	s, err := Open(h, newCluster(small()).lead(nil, []int{0, 1, 2}, 0), small())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The task that applies waits until there is something to apply, and ends with the store.
func TestTheTaskThatAppliesIsWoken(t *testing.T) {
	onHost(t, func(h host.Host) {
		s := openOn(t, h)
		var ended error
		h.Go("apply", func() { ended = s.Apply() })
		for i := range 3 {
			h.Sleep(time.Second) // it waits
			if err := s.Put([]byte("a"), []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			if h.Sleep(time.Second); s.Stats().Pending != 0 {
				t.Errorf("put %d is not applied", i)
			}
		}
		s.Stop()
		if h.Sleep(time.Second); !errors.Is(ended, ErrNotLeading) {
			t.Errorf("it ended with %v", ended)
		}
	})
}

// A store with more blocks than a word of the bitmap has bits is the same for the next coordinator.
func TestABitmapOfSeveralWordsLasts(t *testing.T) {
	cfg := Config{Key: 3, Value: 11, Index: 16, Blocks: 130, Log: 3, Cache: 2}
	s, cluster := open(t, cfg)
	for i := range cfg.Blocks {
		if err := s.Put(fmt.Appendf(nil, "%d", i), fmt.Appendf(nil, "value %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete([]byte("70")); err != nil {
		t.Fatal(err)
	}
	next, err := Open(alone{}, cluster.lead(nil, []int{0, 1, 2}, 0), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Put([]byte("new"), []byte("value new")); err != nil { // in the block that is free
		t.Fatal(err)
	}
	for i := range cfg.Blocks {
		value, found, err := next.Get(fmt.Appendf(nil, "%d", i), nil)
		if err != nil || found != (i != 70) || found && string(value) != fmt.Sprint("value ", i) {
			t.Errorf("key %d: %q, %v, %v", i, value, found, err)
		}
	}
}

// An operation that may have been logged takes its index: no other one may follow it in this term.
func TestAnUnknownOperationStopsTheStore(t *testing.T) {
	s, _ := open(t, small())
	s.mem = &flaky{Memory: s.mem}
	if err := s.Put([]byte("a"), []byte("1")); !errors.Is(err, ErrUnknown) {
		t.Fatalf("got %v, want ErrUnknown", err)
	}
	if err := s.Put([]byte("b"), []byte("2")); !errors.Is(err, ErrNotLeading) {
		t.Errorf("the next put: %v", err)
	}
}

// A store whose log cannot be rewritten is not opened: an operation that it replays must be on a majority first.
func TestALogThatCannotBeRewrittenIsNotOpened(t *testing.T) {
	c := newCluster(small())
	s, err := Open(alone{}, c.lead(nil, []int{0, 1}, 0), small())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put([]byte("a"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	before := string(c.memory)
	if _, err := Open(alone{}, &flaky{Memory: c.lead(nil, []int{1, 2}, 0)}, small()); !errors.Is(err, sift.ErrUnavailable) || string(c.memory) != before {
		t.Errorf("%v; the memory has changed: %v", err, string(c.memory) != before)
	}
	s, err = Open(alone{}, c.lead(nil, []int{1, 2}, 0), small())
	if err != nil || s.Recovered() != (Recovery{Replayed: 1, Rewritten: 1}) {
		t.Errorf("%v; a recovery has found %+v", err, s.Recovered())
	}
}

// flaky is a memory of which one direct write fails.
type flaky struct {
	Memory
	failed bool
}

func (f *flaky) WriteDirect(addr int, data []byte) error {
	if !f.failed {
		f.failed = true
		return sift.ErrUnavailable
	}
	return f.Memory.WriteDirect(addr, data)
}

// A put that finds no free block reads the memory, to see whether its key is there. If that fails nothing is logged.
func TestAPutThatCannotReadTheMemoryIsNotLogged(t *testing.T) {
	s, _ := open(t, small())
	for _, k := range []string{"a", "b", "c"} {
		if err := s.Put([]byte(k), nil); err != nil {
			t.Fatal(err)
		}
	}
	for s.Stats().Pending > 0 {
		if _, err := s.ApplyOne(); err != nil {
			t.Fatal(err)
		}
	}
	m := &unreadable{Memory: s.mem}
	s.mem, s.table.mem = m, m
	if err := s.Put([]byte("d"), nil); !errors.Is(err, ErrNotLeading) || errors.Is(err, ErrUnknown) || m.logged > 0 {
		t.Errorf("%v, and %d operations are logged", err, m.logged)
	}
	if err := s.Delete([]byte("a")); !errors.Is(err, ErrNotLeading) || m.logged > 0 {
		t.Errorf("after that: %v, and %d operations are logged", err, m.logged)
	}
}

// unreadable is a memory whose reads fail.
type unreadable struct {
	Memory
	logged int
}

func (u *unreadable) Read(int, []byte) error { return sift.ErrUnavailable }

func (u *unreadable) WriteDirect(addr int, data []byte) error {
	u.logged++
	return u.Memory.WriteDirect(addr, data)
}

// All coordinators of a store must place keys alike, also those of another version.
func TestTheHashOfAKeyIsFNV(t *testing.T) {
	for _, key := range []string{"a", "key", "\xff\x00\x80"} {
		h := fnv.New64a()
		_, _ = h.Write([]byte(key)) // it never fails
		if got, want := hash([]byte(key)), h.Sum64(); got != want {
			t.Errorf("%q: %x, want %x", key, got, want)
		}
	}
}
