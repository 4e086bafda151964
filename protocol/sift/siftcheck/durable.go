package siftcheck

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// Scenarios in which a group has a store that outlives its memory nodes (3.5).

// persisted is what the store has. It is a part of what the checks remember.
type persisted struct {
	Term   uint16
	Index  uint64
	Memory string
}

// durableStore is the group's store as a node uses it.
type durableStore struct{ r *run }

var errLater = errors.New("a coordinator of a later term has begun")

func (s durableStore) Load() (sift.Snapshot, error) {
	s.r.Look()
	x := s.r.known.Stored
	return sift.Snapshot{Term: x.Term, Index: x.Index, Memory: []byte(x.Memory)}, nil
}

func (s durableStore) Begin(term uint16) error {
	s.r.Look()
	if term < s.r.known.Stored.Term {
		return fmt.Errorf("%w: %d", errLater, s.r.known.Stored.Term)
	}
	s.r.known.Stored.Term = term
	s.r.History()
	return nil
}

func (s durableStore) Persist(e sift.Entry) error {
	s.r.Look()
	x := &s.r.known.Stored
	if e.Index > x.Index+1 {
		s.r.Failf(Unordered, "entry %d follows entry %d", e.Index, x.Index)
	}
	if e.Index <= x.Index {
		return nil
	}
	memory := []byte(x.Memory)
	if x.Index == 0 {
		memory = make([]byte, s.r.load.layout().Size)
	}
	for _, u := range e.Updates {
		copy(memory[u.Addr:], u.Data)
	}
	x.Index, x.Memory = e.Index, string(memory)
	s.r.History()
	return nil
}

func (s durableStore) Replace(n sift.Snapshot) error {
	s.r.Look()
	if x := &s.r.known.Stored; n.Index > x.Index {
		x.Index, x.Memory = n.Index, string(n.Memory)
		s.r.Meet(sawReplaced)
		s.r.History()
	}
	return nil
}

// record writes a block. It first notes the write for the checks.
func (r *run) record(i int, letter string) bool {
	data := strings.Repeat(letter, block)
	r.known.Wrote += data
	r.History()
	if err := r.c.Write(i*block, []byte(data)); err != nil {
		return r.tolerates(err)
	}
	return true
}

// persist makes up to n entries durable.
func (r *run) persist(n int) bool {
	for range r.h.Rand(n + 1) {
		r.c.PersistOne()
	}
	return true
}

// wipe crashes all memory nodes.
func (r *run) wipe() {
	for _, name := range r.load.memory() {
		r.Check(r.Inject(faults.Crash, name))
	}
}

// restart starts the group again, if all of it has restarted.
func (r *run) restart() bool {
	c, err := r.node.Restart()
	if err != nil {
		r.h.Logf("%v", err)
		return false
	}
	r.c = c
	r.Look()
	r.Meet(sawRestarted)
	_, ok := r.agree()
	return ok
}

// found checks that the memory equals the store's content, and that this content is a prefix of the writes.
func (r *run) found() bool {
	r.Look()
	want := r.known.Stored.Memory
	p := make([]byte, r.load.layout().Size)
	if err := r.c.Read(0, p); err != nil {
		return r.tolerates(err)
	}
	if string(p) != want {
		r.Failf(Snapshot, "the memory is %q, and the store has %q", p, want)
	}
	if begun := strings.TrimRight(want, "\x00"); !strings.HasPrefix(r.known.Wrote, begun) {
		r.Failf(Snapshot, "the store has %q, and the writes were %q", want, r.known.Wrote)
	} else if len(begun) < len(r.known.Wrote) {
		r.Meet(sawForgotten)
	}
	return true
}

// anew writes to the restarted group.
func (r *run) anew() bool {
	if err := r.c.Write(0, []byte(strings.Repeat("d", block))); err != nil {
		return r.tolerates(err)
	}
	r.known.Anew = true
	r.History()
	return true
}

// goesOn checks that the restarted group has not lost a write since its restart.
func (r *run) goesOn() bool {
	if _, ok := r.agree(); !ok {
		return false
	}
	r.Look()
	p := make([]byte, block)
	if err := r.c.Read(0, p); err != nil {
		return r.tolerates(err)
	}
	if r.known.Anew && string(p) != strings.Repeat("d", block) {
		r.Failf(Snapshot, "a write after the group has started again was acknowledged, and the memory is %q", p)
	}
	return true
}
