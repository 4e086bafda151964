package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// placement writes a cell that has arrived to memory, where it is visible to all.
func (s *state) placement(e int) []*state {
	var next []*state
	for i := range s.ends[e].wire {
		m := &s.ends[e].wire[i]
		for k, cl := range m.cells {
			if cl.step != arrived || !s.placementOrder(e, i) || !s.messageOrder(m, k) || !s.blockOrder(m, k) || !s.writeAfterAtomic(e, i) {
				continue
			}
			c := s.clone()
			c.arrive(cl.at, m.data[cl.off:cl.off+cl.at.n])
			c.ends[e].wire[i].cells[k].step = placed
			next = append(next, c)
		}
	}
	return next
}

// placementOrder: the Writes of a queue pair reach memory in post order.
func (s *state) placementOrder(e, i int) bool {
	if s.profile.Placement != faults.InOrder {
		return true
	}
	for j := range i {
		if !s.ends[e].wire[j].placed() {
			return false
		}
	}
	return true
}

// messageOrder: the bytes of one message are placed in order of increasing address.
func (s *state) messageOrder(m *message, k int) bool {
	return s.profile.Placement != faults.InOrder || !slices.ContainsFunc(m.cells[:k], cell.pending)
}

// blockOrder: the bytes within an aligned block of 128 bytes are placed in that order.
func (s *state) blockOrder(m *message, k int) bool {
	return s.profile.Placement != faults.Blocks128 || !slices.ContainsFunc(m.cells[:k], func(c cell) bool {
		return c.pending() && c.sameBlock(m.cells[k])
	})
}

// sameBlock reports whether two cells are in one aligned block of 128 bytes.
func (c cell) sameBlock(o cell) bool { return c.at.block == o.at.block && c.at.off/128 == o.at.off/128 }

func (c cell) pending() bool { return c.step != placed && c.step != lost }

// writeAfterAtomic: a later Write does not pass an Atomic.
func (s *state) writeAfterAtomic(e, i int) bool {
	return !s.profile.AtomicOrdersLater || s.atomicsExecuted(e, i)
}

func (s *state) atomicsExecuted(e, i int) bool {
	return !slices.ContainsFunc(s.ends[e].wire[:i], func(m message) bool { return m.op.OnWord() && !m.executed })
}

// execution reports whether a responder executes the requests of an end that it has accepted.
func (s *state) execution(e, i int) bool {
	m := &s.ends[e].wire[i]
	return m.opened && m.refused == 0 && !m.executed && !m.dead && (!s.silent(e^1) || s.ends[e^1].state == verbs.StateErr && s.refusedLater(e))
}

// readExecutes samples one more cell of the next Read. Later requests may have taken
// effect before it (read-may-be-passed).
func (s *state) readExecutes(e int) []*state {
	wire := s.ends[e].wire
	i := slices.IndexFunc(wire, func(m message) bool { return m.op == verbs.OpRead && !m.executed }) // read-after-read
	if i < 0 || !s.execution(e, i) || !s.readAfterWrite(e, i) || !s.readAfterAtomic(e, i) || s.sawAcknowledged(&wire[i]) {
		return nil
	}
	m := &wire[i]
	if s.revocationSparesLater(e, m) {
		return s.refuseExecution(e, i)
	}
	var next []*state
	for k, f := range m.fetch {
		c := s.clone()
		x := &c.ends[e].wire[i]
		x.answer = put(x.answer, f.off, s.read(f.at))
		x.fetch = slices.Delete(x.fetch, k, k+1)
		x.executed = len(x.fetch) == 0
		next = append(next, c)
	}
	return next
}

// readAfterWrite: a Read executes after all earlier Writes are placed.
func (s *state) readAfterWrite(e, i int) bool {
	return !slices.ContainsFunc(s.ends[e].wire[:i], func(m message) bool {
		return !m.opened && !answered(m.op) || slices.ContainsFunc(m.cells, func(c cell) bool { return c.step != placed })
	})
}

// readAfterAtomic: a Read is executed after earlier Atomics.
func (s *state) readAfterAtomic(e, i int) bool { return s.atomicsExecuted(e, i) }

// readsSeeAcknowledged lists the requests whose effects a Read or Atomic that is posted now
// will see on cards that promise it: all that its responder's card has acknowledged.
func (s *state) readsSeeAcknowledged(e int, op verbs.Opcode) []ref {
	if !s.profile.ReadsSeeAcked || op != verbs.OpRead && !op.IsAtomic() {
		return nil
	}
	var out []ref
	for o := range s.ends {
		if s.program.ends[o^1].host != s.program.ends[e^1].host {
			continue
		}
		for i := range s.ends[o].wire {
			if m := &s.ends[o].wire[i]; m.acknowledged && !m.placed() {
				out = append(out, ref{o, m.id})
			}
		}
	}
	return out
}

// sawAcknowledged reports whether an effect that a Read must see is not in memory yet.
func (s *state) sawAcknowledged(m *message) bool {
	return slices.ContainsFunc(m.pushes, func(r ref) bool {
		return slices.ContainsFunc(s.ends[r.end].wire, func(x message) bool { return x.id == r.id && !x.placed() })
	})
}

// revocationSparesLater: an accepted request may be refused when it is executed, although
// later requests were executed.
func (s *state) revocationSparesLater(e int, m *message) bool {
	return s.qpAccessFlags(e, m) || s.mrAccess(m, m.at)
}

// refuseExecution refuses a Read or Atomic. Later requests that the card has accepted stay.
func (s *state) refuseExecution(e, i int) []*state {
	if s.drainOnRevoke(e ^ 1) {
		return nil
	}
	c := s.clone()
	c.ends[e].wire[i].refused = s.why(e, &s.ends[e].wire[i])
	c.toError(e ^ 1)
	for j := i; j < len(c.ends[e].wire); j++ {
		c.drop(&c.ends[e].wire[j])
	}
	return []*state{c}
}

// atomicExecutes reads the word of the next Atomic (atomic-after-atomic), or writes it.
// Atomics of one card exclude each other (atomic-hca). CPUs and Writes can act in between,
// unless the card is atomic with respect to CPUs.
func (s *state) atomicExecutes(e int) []*state {
	wire := s.ends[e].wire
	i := slices.IndexFunc(wire, func(m message) bool { return m.op.IsAtomic() && !m.executed })
	if i < 0 || !s.atomicsExecuted(e, i) || wire[i].dead && !wire[i].half {
		return nil
	}
	m := &wire[i]
	if m.half {
		c := s.clone()
		x := &c.ends[e].wire[i]
		x.half, x.executed = false, true
		c.arrive(m.at, word64(m.result()))
		return []*state{c}
	}
	if !s.execution(e, i) || !s.atomicAfterWrites(e, i) || s.sawAcknowledged(m) || s.atomicHCA(e) {
		return nil
	}
	if s.revocationSparesLater(e, m) {
		return s.refuseExecution(e, i)
	}
	c := s.clone()
	x := &c.ends[e].wire[i]
	x.answer = s.read(m.at)
	if x.half = x.changes(); !x.half {
		x.executed = true
	}
	return []*state{c}
}

// result is the new value of an Atomic's word, whatever has been written since the Atomic
// read (atomic-mixed-with-write).
func (m *message) result() uint64 {
	if m.op == verbs.OpFetchAdd {
		return num(m.answer) + m.operand[0]
	}
	return m.operand[1]
}

// changes reports whether an Atomic writes: a CompareSwap may fail.
func (m *message) changes() bool {
	return m.op == verbs.OpFetchAdd || num(m.answer) == m.operand[0]
}

// atomicAfterWrites: an Atomic takes effect after earlier Writes.
func (s *state) atomicAfterWrites(e, i int) bool {
	return !s.profile.AtomicFlushes || s.readAfterWrite(e, i)
}

// atomicHCA reports whether another Atomic of the responder's card is in the middle.
func (s *state) atomicHCA(e int) bool {
	for o := range s.ends {
		if s.program.ends[o^1].host == s.program.ends[e^1].host && slices.ContainsFunc(s.ends[o].wire, func(m message) bool { return m.half }) {
			return true
		}
	}
	return false
}

// amidst reports whether which holds for an Atomic that has read and not yet written.
func (s *state) amidst(which func(*message) bool) bool {
	for e := range s.ends {
		for i := range s.ends[e].wire {
			if m := &s.ends[e].wire[i]; m.half && which(m) {
				return true
			}
		}
	}
	return false
}
