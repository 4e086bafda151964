package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// scope is what a Flush requests.
func scope(st *lang.Post) verbs.Access {
	switch st.Scope {
	case "global":
		return verbs.FlushGlobal
	case "both":
		return verbs.FlushGlobal | verbs.FlushPersistent
	}
	return verbs.FlushPersistent
}

// flushNeedsAccess is what the region and the queue pair must grant to a Flush.
func (m *message) flushNeedsAccess() verbs.Access { return m.scope }

// flushPersists executes the next Flush, once everything before it is in memory: its range
// is persistent. Nothing in placement waits for a Flush: flush-may-be-passed.
func (s *state) flushPersists(e int) []*state {
	wire := s.ends[e].wire
	i := slices.IndexFunc(wire, func(m message) bool { return m.op == verbs.OpFlush && !m.executed })
	if i < 0 || !s.execution(e, i) && !s.drained(e, i) || !s.readAfterWrite(e, i) || !s.atomicsExecuted(e, i) {
		return nil
	}
	c := s.clone()
	c.ends[e].wire[i].executed = true
	if !wire[i].flushToVisibility() {
		c.flushRange(wire[i].at)
	}
	return []*state{c}
}

// drained reports whether a queue pair that fails still executes a request, because accepted data
// is behind it.
func (s *state) drained(e, i int) bool {
	m := &s.ends[e].wire[i]
	return m.opened && m.refused == 0 && !m.dead && s.drainOnRevoke(e^1)
}

// flushToVisibility reports whether a Flush only makes data visible: it does not make it
// persistent.
func (m *message) flushToVisibility() bool { return m.scope&verbs.FlushPersistent == 0 }

// flushRange makes the range of a Flush persistent: its words, or its cache lines where
// these persist as a whole.
func (s *state) flushRange(at place) {
	if !s.blocks[at.block].persistent {
		return
	}
	n := s.persistsAtOnce()
	first := at.off / n * n
	last := min((at.off+at.n+n-1)/n*n, s.blocks[at.block].size)
	s.persist(place{at.block, first, last - first})
}

// atomicWriteIsWhole executes the next Atomic Write: its eight bytes reach memory at once,
// and before it completes.
func (s *state) atomicWriteIsWhole(e int) []*state {
	wire := s.ends[e].wire
	i := slices.IndexFunc(wire, func(m message) bool { return m.op == verbs.OpAtomicWrite && !m.executed })
	if i < 0 || !s.execution(e, i) && !s.drained(e, i) || !s.atomicsExecuted(e, i) || !s.atomicAfterWrites(e, i) || !s.atomicWriteAfterFlush(e, i) {
		return nil
	}
	c := s.clone()
	c.ends[e].wire[i].executed = true
	c.arrive(wire[i].at, wire[i].data)
	return []*state{c}
}

// atomicWriteAfterFlush: an Atomic Write is executed after earlier Flushes.
func (s *state) atomicWriteAfterFlush(e, i int) bool {
	return !slices.ContainsFunc(s.ends[e].wire[:i], func(m message) bool { return m.op == verbs.OpFlush && !m.executed })
}
