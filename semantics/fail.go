package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// rnr fails a Send that finds no receive, unless its requester tries forever.
func (s *state) rnr(e int) []*state {
	end := &s.ends[e]
	if !s.active(e) || s.program.ends[e].rnr == 7 || len(end.sends) == 0 || !end.sends[0].waits() {
		return nil
	}
	m := &end.wire[s.sent(e, end.sends[0].id)]
	if !m.op.ConsumesRecv() || m.opened || m.fetching() || s.unreachable(e) || s.silent(e^1) || end.broken || s.free(e^1) >= 0 || s.drainOnRevoke(e) {
		return nil
	}
	c := s.clone()
	c.fail(e, verbs.StatusRNRRetryExcErr)
	for i := range c.ends[e].wire {
		c.drop(&c.ends[e].wire[i])
	}
	return []*state{c}
}

// failedWriteIsAmbiguous: once the requester of a request has given up or is gone, the rest
// of the request may never arrive.
func (s *state) failedWriteIsAmbiguous(e int) []*state {
	if next := s.failedWriteBytes(e); next != nil {
		return next
	}
	i := slices.IndexFunc(s.ends[e].wire, func(m message) bool { return m.gone && !m.dead && !(m.opened && m.arrived()) })
	if i < 0 {
		return nil
	}
	c := s.clone()
	for j := i; j < len(c.ends[e].wire); j++ {
		c.drop(&c.ends[e].wire[j])
	}
	return []*state{c}
}

// drop loses the packets of a message that have not arrived (failed-write-packets). Where
// packets come in any order, bytes of them may still land. What a card has accepted, it
// executes for a requester that is gone as well.
func (s *state) drop(m *message) {
	if m.dead || answered(m.op) && m.op != verbs.OpRead && m.opened && m.refused == 0 {
		return
	}
	m.dead = true
	var cells []cell
	for _, c := range m.cells {
		switch {
		case c.step != absent:
			cells = append(cells, c)
		case m.opened && m.refused == 0 && !s.profile.WholePackets && s.profile.FailedCell() < s.profile.CellBytes:
			for _, at := range split(c.at, s.profile.FailedCell()) {
				cells = append(cells, cell{at: at, off: c.off + at.off - c.at.off, step: torn})
			}
		default:
			c.step = lost
			cells = append(cells, c)
		}
	}
	m.cells = cells
}

// failedWriteBytes decides whether a piece of a failed Write lands.
func (s *state) failedWriteBytes(e int) []*state {
	for i := range s.ends[e].wire {
		for k, cl := range s.ends[e].wire[i].cells {
			if cl.step == torn {
				a, b := s.clone(), s.clone()
				a.ends[e].wire[i].cells[k].step = lost
				b.ends[e].wire[i].cells[k].step = arrived
				return []*state{a, b}
			}
		}
	}
	return nil
}

// tidy forgets messages that have no more effects.
func (s *state) tidy() {
	for e := range s.ends {
		s.lostInOrder(e)
		s.ends[e].wire = slices.DeleteFunc(s.ends[e].wire, func(m message) bool {
			if !m.gone || m.half || s.ends[e].psn && m.haunts() || m.taken > 0 || !m.placed() {
				return false
			}
			return m.dead || m.refused != 0 || m.executed || m.opened && !answered(m.op)
		})
	}
}

// lostInOrder loses the pieces that arrived after a lost piece which must be placed first: of an
// earlier Write, where Writes reach memory in post order, or of the same block.
func (s *state) lostInOrder(e int) {
	behind := false
	for i := range s.ends[e].wire {
		cells := s.ends[e].wire[i].cells
		for k := range cells {
			first := behind && s.profile.Placement == faults.InOrder || s.profile.Placement == faults.Blocks128 &&
				slices.ContainsFunc(cells[:k], func(c cell) bool { return c.step == lost && c.sameBlock(cells[k]) })
			if first && cells[k].step == arrived {
				cells[k].step = lost
			}
		}
		behind = behind || slices.ContainsFunc(cells, func(c cell) bool { return c.step == lost })
	}
}

// modify changes the state or the access flags of a queue pair.
func (s *state) modify(t int, o *op, st lang.Modify) []*state {
	if s.draining(t) {
		return nil
	}
	c := s.clone()
	e := &c.ends[s.now(o)]
	switch {
	case e.destroyed:
		if st.Reg == "" {
			refuse(st, "CLOSED")
		}
		return s.with(t, st.Reg, named("CLOSED"))
	case st.Access != nil && e.state == verbs.StateErr, st.State == verbs.StateErr && e.state == verbs.StateReset, st.Access != nil && e.state == verbs.StateReset:
		if st.Reg == "" {
			refuse(st, "STATE")
		}
		return s.with(t, st.Reg, named("STATE"))
	case st.Access != nil && s.drainOnRevoke(s.now(o)):
		return nil
	case st.Access != nil:
		e.access = *st.Access
	case st.State == verbs.StateReset && s.drainOnRevoke(s.now(o)):
		return nil
	case st.State == verbs.StateReset:
		c.resetWipesQueues(s.now(o))
	case !s.threads[t].waiting:
		c.toError(s.now(o))
		c.threads[t].waiting = true
		return []*state{c}
	case s.drainOnRevoke(s.now(o)):
		return nil
	}
	c.threads[t].set(st.Reg, named("OK"))
	c.advance(t)
	return []*state{c}
}

// resetWipesQueues wipes queued requests and completions.
func (s *state) resetWipesQueues(e int) {
	s.toError(e)
	end := &s.ends[e]
	end.state, end.sends, end.receives = verbs.StateReset, nil, nil
	end.freed, end.rfree = end.posted, end.rposted
	s.wipe(e)
	for i := range s.ends[e^1].wire {
		s.ends[e^1].wire[i].taken = min(s.ends[e^1].wire[i].taken, 0)
	}
}

// wipe removes the completions of an end.
func (s *state) wipe(e int) {
	for q := range s.queues {
		s.queues[q] = slices.DeleteFunc(s.queues[q], func(w completion) bool { return w.end == e })
	}
}

// drainOnRevoke reports whether an end cannot leave RTS yet. On cards that promise it,
// everything that the card has accepted there is in memory before the queue pair enters ERR or
// RESET, by code or by an error, and before code changes the access of the peer.
func (s *state) drainOnRevoke(e int) bool {
	return s.profile.DrainOnRevoke && slices.ContainsFunc(s.ends[e^1].wire, message.placing)
}

// drains reports whether a registration cannot end yet, for the same reason.
func (s *state) drains(r region) bool {
	return s.profile.DrainOnRevoke && slices.ContainsFunc(s.ends, func(e end) bool {
		return slices.ContainsFunc(e.wire, func(m message) bool {
			return m.half && m.at.block == r.block || slices.ContainsFunc(m.cells, func(c cell) bool { return c.step == arrived && c.at.block == r.block })
		})
	})
}

// placing reports whether a part of a message has arrived and is not in memory.
func (m message) placing() bool {
	return m.half || slices.ContainsFunc(m.cells, func(c cell) bool { return c.step == arrived })
}

func (s *state) stateOf(t int, o *op, st lang.StateOf) []*state {
	return s.with(t, st.Reg, named(s.ends[s.now(o)].state.String()))
}

func (s *state) destroy(t int, o *op) []*state {
	if s.draining(t) || s.drainOnRevoke(s.now(o)) {
		return nil
	}
	if s.ends[s.now(o)].destroyed {
		refuse(o.stmt, "CLOSED")
	}
	c := s.clone()
	c.discard(s.now(o))
	c.advance(t)
	return []*state{c}
}

// discard destroys one end of a queue pair.
func (s *state) discard(e int) {
	s.toError(e)
	end := &s.ends[e]
	end.destroyed, end.state, end.sends, end.receives = true, verbs.StateReset, nil, nil
	s.wipe(e)
	for i := range s.ends[e^1].wire {
		s.ends[e^1].wire[i].taken = min(s.ends[e^1].wire[i].taken, 0)
	}
}

// deregister ends a registration.
func (s *state) deregister(t int, o *op) []*state {
	if s.draining(t) {
		return nil
	}
	c := s.clone()
	if !s.threads[t].waiting {
		if !s.valid[o.region] {
			refuse(o.stmt, "CLOSED")
		}
		c.valid[o.region] = false
		c.threads[t].waiting = true
		return []*state{c}
	}
	if s.drains(s.regions[o.region]) {
		return nil
	}
	c.advance(t)
	return []*state{c}
}

// fault makes a fault happen at a statement.
func (s *state) fault(t int, st lang.Fault) []*state {
	b := 0
	if len(st.Hosts) > 1 {
		b = s.host(st.Hosts[1])
	}
	next := s.strike(st.Kind, s.host(st.Hosts[0]), b)
	for _, c := range next {
		if !c.threads[t].ended {
			c.advance(t)
		}
	}
	return next
}

// faultsAnywhere lets a fault of the budget strike.
func (s *state) faultsAnywhere() []*state {
	if len(s.budget) == 0 {
		return nil
	}
	var next []*state
	for _, k := range faults.Kinds() {
		for a := range s.hosts {
			for b := range s.hosts {
				on := []string{s.hosts[a], s.hosts[b]}[:k.Arity()]
				if len(on) == 1 && (b > 0 || !s.up[a] || s.zombie[a]) || len(on) == 2 && a >= b || !s.budget.Allows(s.spent, k, on...) {
					continue
				}
				for _, c := range s.strike(k, a, b) {
					c.spent = s.budget.Spend(s.spent, k, on...)
					next = append(next, c)
				}
			}
		}
	}
	return next
}

// strike makes a fault happen to a host, or to the link of two. A suspected host keeps
// running (zombie-writes), but its name belongs to another machine, which has no program.
func (s *state) strike(k faults.Kind, a, b int) []*state {
	if k.Arity() == 1 && s.zombie[a] {
		return []*state{s.clone()}
	}
	if k == faults.Crash && s.profile.DrainOnRevoke && s.crashKeepsPmem(a) || k == faults.Revoke && s.revoking(a) {
		return nil
	}
	c := s.clone()
	switch k {
	case faults.Crash, faults.Power:
		c.end(a, k)
		return c.messagesLost(a)
	case faults.Cut:
		c.link(a, b, cut)
	case faults.Partition:
		if s.cut[a*len(s.hosts)+b] == cut {
			break
		}
		x := s.clone()
		c.link(a, b, cut)
		x.link(a, b, healing)
		return []*state{c, x}
	case faults.Break:
		for e := range c.ends {
			if x, y := s.program.ends[e].host, s.program.ends[e^1].host; !c.ends[e].broken && (x == a && y == b || x == b && y == a) {
				c.ends[e].broken, c.ends[e].last = true, c.ends[e].posted
			}
		}
	case faults.Suspect:
		c.zombie[a] = true
	case faults.Ghost:
		return s.oldPackets(a, b)
	case faults.Revoke:
		for i := range c.valid {
			c.valid[i] = c.valid[i] && s.regions[i].host != a
		}
	}
	return []*state{c}
}

// crashKeepsPmem reports whether a card still has to place acknowledged data in persistent
// memory: the crash of a process does not prevent that. A card that drains queue pairs does it
// before the next process begins.
func (s *state) crashKeepsPmem(h int) bool {
	for e := range s.ends {
		if s.program.ends[e^1].host == h && slices.ContainsFunc(s.ends[e].wire, func(m message) bool {
			return m.acknowledged && slices.ContainsFunc(m.cells, s.late)
		}) {
			return true
		}
	}
	return false
}

// late reports whether a cell still has to reach persistent memory.
func (s *state) late(c cell) bool { return c.step == arrived && s.blocks[c.at.block].persistent }

// revoking reports whether a host cannot have revoked its memory yet.
func (s *state) revoking(h int) bool {
	return slices.ContainsFunc(s.regions, func(r region) bool { return r.host == h && s.drains(r) })
}

// messagesLost loses any of the messages of a host that are on their way.
func (s *state) messagesLost(h int) []*state {
	next := []*state{s}
	for i, n := range s.inbox {
		if n.from != h {
			continue
		}
		for _, c := range next {
			x := c.clone()
			x.inbox = slices.Delete(x.inbox, i-len(s.inbox)+len(x.inbox), i-len(s.inbox)+len(x.inbox)+1)
			next = append(next, x)
		}
	}
	return next
}

func (s *state) link(a, b int, l link) {
	n := len(s.hosts)
	s.cut[a*n+b], s.cut[b*n+a] = l, l
}

// partitionHeals heals a partition, at any time.
func (s *state) partitionHeals() []*state {
	var next []*state
	n := len(s.hosts)
	for i, l := range s.cut {
		if l == healing && i/n < i%n {
			c := s.clone()
			c.cut[i], c.cut[i%n*n+i/n] = whole, whole
			next = append(next, c)
		}
	}
	return next
}

// end ends the life of a host. Another life begins if the host has persistent memory or a
// thread that recovers.
func (s *state) end(h int, kind faults.Kind) {
	for t := range s.threads {
		if s.program.threads[t].host == h {
			x := &s.threads[t]
			x.ended, x.buffer, x.flushed = x.ended || !x.done, nil, nil
		}
	}
	s.inbox = slices.DeleteFunc(s.inbox, func(n note) bool { return n.host == h })
	for e := range s.ends {
		if s.program.ends[e].host != h {
			continue
		}
		s.discard(e)
		s.ends[e^1].orphan = true
		for i := range s.ends[e^1].wire {
			m := &s.ends[e^1].wire[i]
			m.dead, m.half, m.taken = true, false, 0
			m.cells = slices.DeleteFunc(m.cells, func(c cell) bool { return kind == faults.Power || s.profile.DrainOnRevoke || !s.late(c) })
			for k := range m.cells {
				if !m.acknowledged {
					m.cells[k].step = torn
				}
			}
		}
		s.ends[e^1].wire = slices.DeleteFunc(s.ends[e^1].wire, func(m message) bool { return m.gone && len(m.cells) == 0 })
	}
	s.up[h] = slices.ContainsFunc(s.program.threads, func(t code) bool { return t.recovers && t.host == h })
	for b := range s.blocks {
		if s.blocks[b].host != h {
			continue
		}
		if !s.blocks[b].persistent {
			s.memory[b] = s.blocks[b].init
			continue
		}
		s.up[h] = true
		if kind == faults.Power {
			s.memory[b] = s.survives(b)
			s.durable[b] = s.memory[b]
		}
	}
	if s.up[h] {
		s.begin(h)
	}
}

// begin begins a life of a host that has restarted: its registrations are new.
func (s *state) begin(h int) {
	for i, r := range s.regions {
		s.valid[i] = s.valid[i] || r.host == h
	}
	for t, c := range s.program.threads {
		if c.recovers && c.host == h {
			s.threads[t] = thread{done: len(c.steps) == 0}
		}
	}
}
