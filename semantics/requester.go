package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// active reports whether the card of an end processes its send queue.
func (s *state) active(e int) bool {
	return s.up[s.program.ends[e].host] && !s.ends[e].destroyed && s.ends[e].state == verbs.StateRTS
}

// waits reports whether a request was sent and has no answer.
func (w *work) waits() bool { return w.issued && !w.responded }

// answered reports whether the responder answers when it has executed the request: a Read, an
// Atomic, an Atomic Write or a Flush.
func answered(op verbs.Opcode) bool { return op.Responds() }

// sourceReadLate takes the next request from the send queue, and fetches its data cell
// by cell.
func (s *state) sourceReadLate(e int) []*state {
	if next := s.fetch(e); next != nil {
		return next
	}
	end := &s.ends[e]
	i := slices.IndexFunc(end.sends, func(w work) bool { return !w.issued })
	if i < 0 || !s.active(e) || end.sends[i].local != 0 {
		return nil
	}
	w := &end.sends[i]
	if w.fence && (s.fenceWaitsForReads(e, i) || s.fenceWaitsForAll(e, i)) || s.outstandingReadsStall(e, i) {
		return nil
	}
	c := s.clone()
	x := &c.ends[e].sends[i]
	x.issued = true
	m := x.message
	m.fetch = slices.Clone(m.fetch)
	if m.op == verbs.OpWrite || m.op == verbs.OpWriteImm {
		for _, at := range s.cellAtomicity(m.at) {
			m.cells = append(m.cells, cell{at: at, off: at.off - m.at.off})
		}
	}
	c.ends[e].wire = append(c.ends[e].wire, m)
	return []*state{c}
}

// fetch fetches one more cell of the source of the last request on the wire.
func (s *state) fetch(e int) []*state {
	last := len(s.ends[e].wire) - 1
	if last < 0 || !s.ends[e].wire[last].fetching() || !s.active(e) {
		return nil
	}
	var next []*state
	for i, f := range s.ends[e].wire[last].fetch {
		c := s.clone()
		m := &c.ends[e].wire[last]
		m.data = put(m.data, f.off, s.read(f.at))
		m.fetch = slices.Delete(m.fetch, i, i+1)
		next = append(next, c)
	}
	return next
}

// fenceWaitsForReads: a fenced request waits for earlier Reads and Atomics, and for Flushes.
func (s *state) fenceWaitsForReads(e, i int) bool {
	return slices.ContainsFunc(s.ends[e].sends[:i], func(w work) bool { return answered(w.op) && !w.responded })
}

// fenceWaitsForAll: on some cards, a fenced request waits until all earlier work is done and placed.
func (s *state) fenceWaitsForAll(e, i int) bool {
	earlier := slices.ContainsFunc(s.ends[e].sends[:i], func(w work) bool { return !w.responded })
	return s.profile.FenceWaitsAll && (earlier || slices.ContainsFunc(s.ends[e].wire, message.placing))
}

// outstandingReadsStall: the card has a limited number of Reads and Atomics outstanding.
func (s *state) outstandingReadsStall(e, i int) bool {
	if !answered(s.ends[e].sends[i].op) {
		return false
	}
	n := 0
	for _, w := range s.ends[e].sends[:i] {
		if answered(w.op) && !w.responded {
			n++
		}
	}
	return n >= s.program.ends[e].rdAtomic
}

// completionsInOrder takes the answer to the oldest request: an acknowledgement, a
// response, or a refusal. The request completes.
func (s *state) completionsInOrder(e int) []*state {
	end := &s.ends[e]
	if !s.active(e) || s.cutOff(e) || end.broken || len(end.sends) == 0 || !end.sends[0].waits() {
		return nil
	}
	i := s.sent(e, end.sends[0].id)
	m := &end.wire[i]
	if m.refused != 0 {
		if s.drainOnRevoke(e) {
			return nil
		}
		c := s.clone()
		c.ends[e].wire[i].gone = true
		c.fail(e, m.refused)
		return []*state{c}
	}
	if !s.answerable(m) || s.silent(e^1) && !s.refusedLater(e) {
		return nil
	}
	c := s.clone()
	c.ends[e].wire[i].gone, c.ends[e].wire[i].acknowledged = true, true
	c.ends[e].sends[0].responded = true
	if answered(m.op) {
		c.responseIsLocal(m)
	}
	return []*state{c}
}

// responseMayBeEarly completes a request that was answered. Before that, code may find the
// response of a Read in memory without a completion.
func (s *state) responseMayBeEarly(e int) []*state {
	end := &s.ends[e]
	if end.destroyed || !s.up[s.program.ends[e].host] || len(end.sends) == 0 || !end.sends[0].responded {
		return nil
	}
	c := s.clone()
	c.completionCoversUnsignaled(e)
	return []*state{c}
}

// answerable reports whether the responder can answer a request: a Write or Send has arrived
// (write-completion-is-not-placement), so its source was fetched (completion-frees-source); a Read or Atomic was executed.
func (s *state) answerable(m *message) bool {
	if answered(m.op) {
		return m.executed
	}
	return m.opened && m.arrived()
}

func (m *message) arrived() bool {
	return !slices.ContainsFunc(m.cells, func(c cell) bool { return c.step != arrived && c.step != placed })
}

// refusedLater reports whether the responder has refused a request of the connection: it
// still answers the earlier ones.
func (s *state) refusedLater(e int) bool {
	return slices.ContainsFunc(s.ends[e].wire, func(m message) bool { return m.refused != 0 && !m.gone })
}

// responseIsLocal puts the response into local memory, before the completion.
func (s *state) responseIsLocal(m *message) {
	if len(m.sinks) == 0 {
		s.private[m.label] = m.answer
		return
	}
	off := 0
	for _, at := range m.sinks {
		n := min(at.n, len(m.answer)-off)
		s.arrive(place{at.block, at.off, n}, m.answer[off:off+n])
		off += n
	}
}

// completionCoversUnsignaled removes the oldest request from the send queue; if it was
// not signaled, a later completion covers it.
func (s *state) completionCoversUnsignaled(e int) {
	w := s.ends[e].sends[0]
	s.ends[e].sends = s.ends[e].sends[1:]
	if w.signaled {
		n := len(w.data)
		if answered(w.op) {
			n = w.at.n
		}
		s.complete(e, w, verbs.StatusSuccess, n)
	}
}

func (s *state) complete(e int, w work, status verbs.Status, n int) {
	q := s.program.ends[e].sendQueue
	s.queues[q] = append(s.queues[q], completion{end: e, id: w.id, label: w.label, status: status, n: n})
}

// sent returns the index of a request on the wire.
func (s *state) sent(e, id int) int {
	return slices.IndexFunc(s.ends[e].wire, func(m message) bool { return m.id == id && !m.gone })
}

// fail completes the oldest request with an error, even if it is not signaled
// (error-always-completes); the queue pair goes to ERR.
func (s *state) fail(e int, status verbs.Status) {
	w := s.ends[e].sends[0]
	s.ends[e].sends = s.ends[e].sends[1:]
	s.errorAlwaysCompletes(e, w, status)
	s.toError(e)
}

func (s *state) errorAlwaysCompletes(e int, w work, status verbs.Status) {
	s.complete(e, w, status, 0)
}

// toError takes an end to ERR.
func (s *state) toError(e int) {
	if !s.ends[e].destroyed && s.ends[e].state != verbs.StateReset {
		s.ends[e].state = verbs.StateErr
	}
	for i := range s.ends[e].wire {
		m := &s.ends[e].wire[i]
		m.gone = true
		if m.fetching() {
			s.drop(m)
		}
	}
}

// fetching reports whether a part of the source of a request was not fetched yet.
func (m *message) fetching() bool { return len(m.fetch) > 0 && m.op != verbs.OpRead }

// errorFlushesQueue completes a queued request of a queue pair in ERR. Earlier completions
// stay (completed-stays).
func (s *state) errorFlushesQueue(e int) []*state {
	end := &s.ends[e]
	if end.state != verbs.StateErr || end.destroyed || !s.up[s.program.ends[e].host] || len(end.sends) == 0 || end.sends[0].responded {
		return nil
	}
	c := s.clone()
	w := end.sends[0]
	c.ends[e].sends = c.ends[e].sends[1:]
	c.errorAlwaysCompletes(e, w, verbs.StatusWRFlushErr)
	return []*state{c}
}

// localProtection fails a request with a bad local key once all earlier requests are
// complete; nothing is sent.
func (s *state) localProtection(e int) []*state {
	if sends := s.ends[e].sends; !s.active(e) || len(sends) == 0 || sends[0].local == 0 || s.drainOnRevoke(e) {
		return nil
	}
	c := s.clone()
	c.fail(e, s.ends[e].sends[0].local)
	return []*state{c}
}

// retryExhausted fails a request whose packets or acknowledgements do not get through.
func (s *state) retryExhausted(e int) []*state {
	end := &s.ends[e]
	if !s.active(e) || len(end.sends) == 0 || !end.sends[0].waits() || !s.unreachable(e) && !end.broken && !s.silent(e^1) {
		return nil
	}
	if s.drainOnRevoke(e) || !s.cutOff(e) && !end.broken && s.refusedLater(e) && s.answersComing(e) {
		return nil // the responder has answered, or will
	}
	c := s.clone()
	c.fail(e, verbs.StatusRetryExcErr)
	for i := range c.ends[e].wire {
		c.drop(&c.ends[e].wire[i])
	}
	return []*state{c}
}

// answersComing reports whether the responder answers the oldest request although its
// queue pair has failed.
func (s *state) answersComing(e int) bool {
	m := &s.ends[e].wire[s.sent(e, s.ends[e].sends[0].id)]
	return m.refused != 0 || s.answerable(m) || s.ends[e^1].state == verbs.StateErr
}

// cutOff reports whether packets between an end and its peer get through in neither
// direction.
func (s *state) cutOff(e int) bool {
	a, b := s.program.ends[e].host, s.program.ends[e^1].host
	return s.cut[a*len(s.hosts)+b] != whole || !s.up[b] || s.ends[e].orphan
}

// unreachable reports whether packets of an end get to its peer's card at all.
func (s *state) unreachable(e int) bool {
	return s.cutOff(e) || s.ends[e^1].destroyed
}

// silent reports whether an end drops incoming packets: reset-is-silent,
// error-drops-incoming.
func (s *state) silent(e int) bool {
	end := &s.ends[e]
	return !s.up[s.program.ends[e].host] || end.destroyed || s.resetIsSilent(end) || s.errorDropsIncoming(end)
}

func (s *state) resetIsSilent(e *end) bool {
	return e.state == verbs.StateReset || e.state == verbs.StateInit
}

func (s *state) errorDropsIncoming(e *end) bool { return e.state == verbs.StateErr }
