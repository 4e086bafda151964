package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// arrival lets the next packet of an end reach its peer's card, which checks it.
func (s *state) arrival(e int) []*state {
	if s.unreachable(e) || s.silent(e^1) {
		return nil
	}
	var next []*state
	for i := range s.ends[e].wire {
		m := &s.ends[e].wire[i]
		if m.dead {
			continue
		}
		if s.ends[e].broken && m.id >= s.ends[e].last {
			return next
		}
		if !m.opened {
			return append(next, s.open(e, i)...)
		}
		if m.refused != 0 {
			return next
		}
		next = append(next, s.overtakenRefused(e, i)...)
		if more := s.packet(e, i); more != nil {
			next = append(next, more...)
			if s.profile.WholePackets {
				return next // later packets wait behind this one
			}
		}
	}
	return next
}

// open lets a message begin: its first packet passes the checks of the responder, or is
// refused. A request that consumes a receive waits for one.
func (s *state) open(e, i int) []*state {
	m := &s.ends[e].wire[i]
	peer := &s.ends[e^1]
	if m.fetching() {
		return nil
	}
	switch {
	case s.qpAccessFlags(e, m):
		return s.refuse(e, i, verbs.StatusRemInvReqErr)
	case m.op.ConsumesRecv() && s.free(e^1) < 0:
		return nil // rnr
	}
	c := s.clone()
	x := &c.ends[e].wire[i]
	x.opened = true
	if m.op.ConsumesRecv() {
		k := s.free(e ^ 1)
		x.taken = 1 + peer.receives[k].id
		if m.op == verbs.OpSend || m.op == verbs.OpSendImm {
			r := peer.receives[k]
			if s.recvLength(m, r) {
				return c.refuseReceive(e, i, verbs.StatusRemInvReqErr, verbs.StatusLocLenErr)
			}
			x.cells = c.scatter(m, r)
			if s.deregistered(x.cells) {
				return c.refuseReceive(e, i, verbs.StatusRemOpErr, verbs.StatusLocProtErr)
			}
		}
	}
	if m.region >= -1 && m.op != verbs.OpSend && m.op != verbs.OpSendImm && s.mrAccess(m, m.at) {
		return s.refuse(e, i, verbs.StatusRemAccessErr)
	}
	if m.op.OnWord() && s.atomicAligned(m) {
		return s.refuse(e, i, verbs.StatusRemInvReqErr)
	}
	if m.op == verbs.OpRead {
		for _, at := range s.cellAtomicity(m.at) {
			x.fetch = append(x.fetch, cell{at: at, off: at.off - m.at.off})
		}
		x.answer = string(make([]byte, m.at.n))
	}
	if s.profile.WholePackets && len(x.cells) > 0 {
		return c.packet(e, i)
	}
	return []*state{c}
}

// qpAccessFlags reports whether the access flags of the responder's queue pair forbid a
// request.
func (s *state) qpAccessFlags(e int, m *message) bool {
	need := needs(m)
	return s.ends[e^1].access&need != need
}

func needs(m *message) verbs.Access {
	switch m.op {
	case verbs.OpWrite, verbs.OpWriteImm, verbs.OpAtomicWrite:
		return verbs.RemoteWrite
	case verbs.OpRead:
		return verbs.RemoteRead
	case verbs.OpCompareSwap, verbs.OpFetchAdd:
		return verbs.RemoteAtomic
	case verbs.OpFlush:
		return m.flushNeedsAccess()
	}
	return 0
}

// mrAccess reports whether the key of a request does not permit it there.
func (s *state) mrAccess(m *message, at place) bool {
	if m.region < 0 || !s.valid[m.region] {
		return true
	}
	r := s.regions[m.region]
	need := needs(m)
	return r.access&need != need || r.block != at.block || at.off+at.n > s.blocks[r.block].size
}

func (s *state) atomicAligned(m *message) bool { return m.at.off%8 != 0 }

// recvLength reports whether a Send is longer than its receive buffer.
func (s *state) recvLength(m *message, r receive) bool {
	n := 0
	for _, at := range r.into {
		n += at.n
	}
	return len(m.data) > n
}

// free is the index of the first receive that no message has taken, or -1.
func (s *state) free(e int) int {
	return slices.IndexFunc(s.ends[e].receives, func(r receive) bool { return s.taker(e, r) == nil })
}

// taker is the message that has taken a receive.
func (s *state) taker(e int, r receive) *message {
	for i := range s.ends[e^1].wire {
		if m := &s.ends[e^1].wire[i]; m.taken == 1+r.id {
			return m
		}
	}
	return nil
}

// deregistered reports whether the memory of a receive is no longer registered.
func (s *state) deregistered(cells []cell) bool {
	return slices.ContainsFunc(cells, func(c cell) bool { return !s.registered(c.at) })
}

// scatter returns the destinations of the cells of a Send. From then on they are placed
// like the cells of a Write: send-lands-like-write.
func (s *state) scatter(m *message, r receive) []cell {
	var out []cell
	off := 0
	for _, at := range r.into {
		at.n = min(at.n, len(m.data)-off)
		if at.n <= 0 {
			break
		}
		for _, c := range s.cellAtomicity(at) {
			out = append(out, cell{at: c, off: off + c.off - at.off})
		}
		off += at.n
	}
	return out
}

// packet lets a packet of an opened message arrive: the next one of MTU bytes where
// packets come in order, any cell otherwise. Access is checked for each
// (access-checked-per-packet). It returns nil if all have arrived.
func (s *state) packet(e, i int) []*state {
	m := &s.ends[e].wire[i]
	var next []*state
	for k, cl := range m.cells {
		if cl.step != absent {
			continue
		}
		if m.taken > 0 && m.op != verbs.OpWriteImm && s.deregistered(m.cells[k:]) {
			next = append(next, s.clone().refuseReceive(e, i, verbs.StatusRemOpErr, verbs.StatusLocProtErr)...)
		} else if s.accessCheckedPerPacket(e, m, cl) {
			next = append(next, s.refuse(e, i, s.why(e, m))...)
		} else {
			c := s.clone()
			c.land(e, i, k)
			next = append(next, c)
		}
		if s.profile.WholePackets {
			break
		}
	}
	return next
}

// overtakenRefused refuses a Write that has executed: its packets have overtaken others,
// and it is checked again in post order.
func (s *state) overtakenRefused(e, i int) []*state {
	m := &s.ends[e].wire[i]
	if !m.early || m.acknowledged || !m.arrived() || !s.accessCheckedPerPacket(e, m, m.cells[0]) {
		return nil
	}
	return s.refuse(e, i, s.why(e, m))
}

// land marks a packet as arrived: the packet that begins with a cell, or the cell alone.
func (s *state) land(e, i, k int) {
	m := &s.ends[e].wire[i]
	m.early = m.early || slices.ContainsFunc(s.ends[e].wire[:i], func(x message) bool { return !x.dead && !answered(x.op) && !x.arrived() })
	from := m.cells[k].off
	for j := k; j < len(m.cells); j++ {
		if j == k || s.profile.WholePackets && m.cells[j].off/s.profile.MTU == from/s.profile.MTU {
			m.cells[j].step = arrived
		}
	}
}

func (s *state) accessCheckedPerPacket(e int, m *message, c cell) bool {
	if m.op == verbs.OpSend || m.op == verbs.OpSendImm {
		return false
	}
	return s.qpAccessFlags(e, m) || s.mrAccess(m, c.at)
}

func (s *state) why(e int, m *message) verbs.Status {
	if s.qpAccessFlags(e, m) {
		return verbs.StatusRemInvReqErr
	}
	return verbs.StatusRemAccessErr
}

// refuse refuses a request: its requester will be notified, and the responder's queue pair
// fails too. Later requests are not executed (flushed-is-not-executed).
func (s *state) refuse(e, i int, status verbs.Status) []*state {
	if slices.ContainsFunc(s.ends[e].wire[:i], func(m message) bool { return !m.dead && !answered(m.op) && !m.arrived() }) {
		return nil // the responder answers in order
	}
	if s.drainOnRevoke(e ^ 1) {
		return nil
	}
	c := s.clone()
	m := &c.ends[e].wire[i]
	m.refused, m.opened = status, true
	c.toError(e ^ 1)
	for j := i; j < len(c.ends[e].wire); j++ {
		c.drop(&c.ends[e].wire[j])
	}
	return []*state{c}
}

// refuseReceive refuses a Send whose receive cannot take it; the receive fails as well.
func (s *state) refuseReceive(e, i int, status, local verbs.Status) []*state {
	p := e ^ 1
	k := slices.IndexFunc(s.ends[p].receives, func(r receive) bool { return s.ends[e].wire[i].taken == 1+r.id })
	s.ends[e].wire[i].taken = 0
	next := s.refuse(e, i, status)
	for _, c := range next {
		c.ends[p].receives[k].fails, c.ends[p].receives[k].behind = local, c.ends[e].wire[i].id-1
	}
	return next
}

// receiveCompletes completes the oldest receive of an end: with success once its message
// and all earlier ones are in memory, or because the queue pair is in ERR.
func (s *state) receiveCompletes(p int) []*state {
	end := &s.ends[p]
	if len(end.receives) == 0 || end.destroyed || !s.up[s.program.ends[p].host] {
		return nil
	}
	r := end.receives[0]
	m := s.taker(p, r)
	w := completion{end: p, id: r.id, label: r.label, recv: true}
	switch {
	case r.fails != 0:
		if !s.recvCompletionVisibility(p^1, r.behind) {
			return nil
		}
		w.status = r.fails
	case s.recvCompletesIfAcknowledged(m):
		if !s.recvCompletionVisibility(p^1, m.id) {
			return nil
		}
		w.n, w.imm, w.hasImm = len(m.data), m.imm, m.op == verbs.OpSendImm || m.op == verbs.OpWriteImm
	case end.state == verbs.StateErr:
		w.status = verbs.StatusWRFlushErr
	default:
		return nil
	}
	c := s.clone()
	c.ends[p].receives = c.ends[p].receives[1:]
	if m != nil {
		c.ends[p^1].wire[slices.IndexFunc(s.ends[p^1].wire, func(x message) bool { return x.taken == 1+r.id })].taken = -1
	}
	q := s.program.ends[p].rcvCQ
	c.queues[q] = append(c.queues[q], w)
	return []*state{c}
}

// recvCompletesIfAcknowledged: a message that has arrived may have been acknowledged.
func (s *state) recvCompletesIfAcknowledged(m *message) bool {
	return m != nil && m.opened && m.refused == 0 && m.arrived()
}

// recvCompletionVisibility: all earlier transfers of the connection are visible, but
// Reads need not be finished (recv-completion-spares-reads).
func (s *state) recvCompletionVisibility(e, id int) bool {
	for i := range s.ends[e].wire {
		m := &s.ends[e].wire[i]
		if m.id <= id && (m.op.OnWord() && !m.executed || !m.placed()) {
			return false
		}
	}
	return true
}

func (m *message) placed() bool {
	return !slices.ContainsFunc(m.cells, func(c cell) bool { return c.step == absent || c.step == arrived || c.step == torn })
}
