package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// outcome is a completion that may come next.
type outcome struct {
	q      *qp
	wr     int // index in q's send queue, or in its receive queue
	recv   bool
	status verbs.Status
	kept   bool // already decided: the first of q.done, or of q's receives in the CQ
	quiet  bool // no completion: see qp.quiet
}

func (o outcome) name() string {
	if o.quiet {
		return o.q.name() + "#" + itoa(o.wr) + quietNames[1]
	}
	kind := "#"
	if o.recv {
		kind = " recv "
	}
	return o.q.name() + kind + itoa(o.wr) + " " + o.status.String()
}

// sendOutcomes appends the completions of q's send queue that may come next. They come
// in post order; unsignaled successes make none.
func (q *qp) sendOutcomes(o []outcome) []outcome {
	if q.gone {
		return o
	}
	if len(q.done) > 0 {
		return append(o, outcome{q: q, wr: q.done[0].wr, status: q.done[0].wc.Status, kept: true})
	}
	if q.head == q.posted {
		return o
	}
	if q.misfitted && q.sendCQ == q.recvCQ {
		return o
	}
	if q.state == verbs.StateErr {
		return append(o, outcome{q: q, wr: q.head, status: verbs.StatusWRFlushErr})
	}
	o, _ = q.ways(o, false)
	return o
}

// ways appends the completions that may come next on a working queue pair. Requests before to may succeed without
// a completion. If failures is set, it passes over successes, signaled or not, and appends only failures.
func (q *qp) ways(o []outcome, failures bool) (out []outcome, to int) {
	lost := q.lost()
	reach := q.reach()
	for i := q.head; i < q.outstanding(); i++ {
		s := q.ent(i)
		if s.local != verbs.StatusSuccess {
			return append(o, outcome{q: q, wr: i, status: s.local}), i
		}
		if lost {
			o = append(o, outcome{q: q, wr: i, status: verbs.StatusRetryExcErr})
		}
		if i >= q.unacked {
			return o, i
		}
		if s.nak != verbs.StatusSuccess {
			if !lost || i < min(q.limit, q.cutAt) && !q.alone() {
				o = append(o, outcome{q: q, wr: i, status: s.nak})
			}
			return o, i
		}
		if s.unexecuted() {
			return o, i // neither this request nor any behind it is answered
		}
		if i >= reach {
			if !lost && s.op.ConsumesRecv() && q.cfg.RNRRetry < 7 && q.peer != nil {
				o = append(o, outcome{q: q, wr: i, status: verbs.StatusRNRRetryExcErr})
			}
			return o, i
		}
		if q.w.poisoned(s) {
			return append(o, outcome{q: q, wr: i, status: verbs.StatusRemOpErr}), i // unless other hosts mend the memory: see stepFail
		}
		if s.signaled && !failures {
			return append(o, outcome{q: q, wr: i, status: verbs.StatusSuccess}), i
		}
	}
	return o, q.outstanding()
}

// lost reports whether the requester may give up because it gets no acknowledgement.
func (q *qp) lost() bool {
	p := q.peer
	return q.deaf() || (p == nil || p.gone || p.state == verbs.StateErr || p.state < verbs.StateRTR) && !q.refusalComes()
}

// deaf reports whether nothing more arrives from the other machine.
func (q *qp) deaf() bool {
	if q.broken || q.cutAt < unlimited {
		return true
	}
	return !q.responderLives()
}

// responderLives reports whether the host that q is connected to is up, in the same life.
func (q *qp) responderLives() bool {
	h := q.w.nodes[q.remoteNode()].hostLife(q.remoteLife())
	return h != nil && h.alive
}

// refusalComes reports whether a refusal is certainly on its way.
func (q *qp) refusalComes() bool {
	for i := q.head; i < min(q.posted, q.unacked); i++ {
		if s := q.ent(i); s.came && s.nak != verbs.StatusSuccess {
			return true
		}
	}
	return false
}

// complete makes o happen and fills in wc.
func (w *World) complete(o outcome, wc *verbs.WC) {
	q := o.q
	switch {
	case o.recv && o.kept:
		i := q.inCQ()
		*wc = q.recvCQ.queue[i].wc
		q.recvCQ.queue = slices.Delete(q.recvCQ.queue, i, i+1)
		return
	case o.recv:
		w.completeRecv(o, wc)
		return
	case o.kept:
		*wc = q.done[0].wc
		q.done = q.done[1:]
		return
	}
	defer func(x bool) { q.completing = x }(q.completing)
	q.completing = true
	s := q.ent(o.wr)
	*wc = verbs.WC{ID: s.id, Status: o.status, QPNum: q.num}
	switch o.status {
	case verbs.StatusSuccess:
		for i := q.head; i <= o.wr; i++ {
			w.acknowledge(q, i)
		}
		wc.Op, wc.ByteLen = s.op.Completion(), uint32(s.length)
		q.head = o.wr + 1
	default:
		for i := q.head; i < o.wr; i++ {
			w.acknowledge(q, i)
		}
		q.head = o.wr + 1
		w.failed(q, o)
	}
}

// acknowledge makes it certain that request i has reached the responder's card. A Read
// or Atomic has executed, and its response is delivered.
func (w *World) acknowledge(q *qp, i int) {
	s := q.ent(i)
	for j := 0; j < len(s.payload); j++ {
		e := s.payload[j]
		if e.over() && !e.responds() {
			continue
		}
		if e.reg != nil {
			w.touch(e.reg.object(), Add)
			w.touch(e.reg.acks(), Add)
		}
		if !e.acked || e.ackAt == unlimited {
			w.acks(e)
		}
		w.fetch(e)
		if e.responds() || w.flushes(e) || e.frozen && e.arrives() {
			w.land(e)
		} else if e.n == 0 {
			e.lands() // an empty message has arrived; there is nothing to place
			w.remove(e)
		}
	}
	if s.op == verbs.OpRead || s.op.IsAtomic() {
		w.deliver(q, s)
	}
	s.came = true
	s.payload = s.payload[:0]
}

// deliver scatters the response into the requester's memory.
func (w *World) deliver(q *qp, s *sqEntry) {
	var all []byte
	if len(s.payload) == 1 {
		all = s.payload[0].data
	} else {
		for _, e := range s.payload {
			all = append(all, e.data...)
		}
	}
	for _, d := range s.dst {
		if !d.r.freed {
			w.beforeWrite(d.r, d.off, d.n, nil)
			w.pokeBy(d.r, d.off, all[:d.n], true)
		}
		all = all[d.n:]
	}
}

// failed takes the QP to ERR. An unacknowledged request may have executed completely,
// partly or not at all, unless the responder refused it.
func (w *World) failed(q *qp, o outcome) {
	defer func(x int) { w.barring = x }(w.barring)
	q.touchElems()
	switch o.status {
	case verbs.StatusRemAccessErr, verbs.StatusRemInvReqErr, verbs.StatusRemOpErr: // the statuses of takesPeer
		s, p := q.ent(o.wr), q.peer
		s.came = true
		ends := p != nil && !p.gone && p.state >= verbs.StateRTR && p.state != verbs.StateErr
		if ends {
			q.refusedBy = true
			p.settle(isSuccess) // had one of p's own requests failed, p would have refused nothing
		}
		if o.status == verbs.StatusRemOpErr && s.nak == verbs.StatusSuccess {
			w.machine.passed(q, o.wr)
		}
		q.limit = min(q.limit, o.wr+1)
		for all := sweep(&q.elems); all.next(); {
			if e := all.e; e.wr >= o.wr && !e.frozen && !e.could && !e.acked && !e.taken() {
				w.discard(e)
				all.again()
			}
		}
		if ends {
			p.killAfter(verbs.StateErr, nothing)
			q.refusedBy = false
		}
	}
	if o.status == verbs.StatusRetryExcErr { // nothing gets past a request that would be refused
		q.limit = min(q.limit, q.refusedFrom(o.wr))
	}
	if o.status == verbs.StatusRNRRetryExcErr || q.ent(o.wr).local != verbs.StatusSuccess {
		q.limit = min(q.limit, o.wr)
		w.discardFrom(q, o.wr)
	}
	if q.state != verbs.StateErr {
		q.cutSend()
		if p := q.peer; p != nil && o.status == verbs.StatusRNRRetryExcErr {
			defer func(x bool) { p.refusedBy = x }(p.refusedBy)
			p.refusedBy = true // p has just reported that it has no receive, so it has not failed
		}
		q.stopIncoming(func(*sqEntry) bool { return true }, 0)
		if p := q.peer; p != nil {
			p.limit = min(p.limit, p.posted, p.forbidden())       // as in kill
			for i := max(q.recvNext, p.base); i < p.posted; i++ { // even if p has stopped since it sent them
				if s := p.ent(i); s.recvErr != verbs.StatusSuccess && !s.came {
					p.limit = min(p.limit, i) // had it arrived, q would have failed because of it
				}
			}
		}
		q.errs()
		if w.tracer != nil {
			w.trace(q.h, "qp-error", "%s goes to ERR", q.name())
		}
	}
}

// errs takes q to ERR.
func (q *qp) errs() {
	q.w.ticks++
	q.state, q.erredAt = verbs.StateErr, q.w.ticks
}

// discardFrom drops the elements of request n of q and of those behind it.
func (w *World) discardFrom(q *qp, n int) {
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.wr >= n {
			w.discard(e)
			all.again()
		}
	}
}

// completion is a completion that was decided before a poll.
type completion struct {
	wr   int // as in outcome
	recv bool
	wc   verbs.WC
	from int // when it became possible (outcome.from)
	at   int // when it entered the CQ
}

// decide decides an outcome before a poll: decided handles one with a completion, quiets one without.
func (q *qp) decide(o outcome) {
	if o.quiet {
		q.quiets(o.wr)
		return
	}
	q.decided(o)
}

// decided adds the completion of o to those that wait in the CQ.
func (q *qp) decided(o outcome) {
	c := q.sendCQ.keep(o)
	q.done = append(q.done, c)
}

// settle decides what had completed by now, because q goes to ERR: completions that were
// not polled stay in the CQ, and the rest are flushed. Only outcomes that hit accepts
// are possible. In eager mode a completion is a step of its own.
func (q *qp) settle(hit func(verbs.Status) bool) {
	w := q.w
	if !q.canFail() {
		return
	}
	q.touchElems()
	for q.state != verbs.StateErr && q.head < q.posted {
		var buf [8]outcome
		o, to := q.ways(buf[:0], false)
		if o = only(o, hit); hit(verbs.StatusSuccess) {
			o = q.quietWays(o, q.head, to)
		}
		i := w.choose(ChooseCutoff, len(o)+1, func(i int) string {
			if i == 0 {
				return q.name() + " has completed no more"
			}
			return o[i-1].name()
		})
		if i == 0 {
			break
		}
		if q.decide(o[i-1]); o[i-1].quiet {
			break // q completes nothing more
		}
	}
}

// polled frees the send queue slots up to c: its own, and those of earlier requests that make no completion.
func (q *qp) polled(c *completion) {
	if c.recv {
		return
	}
	q.w.recordDone(q, q.freed, c.wr, c.wc.Status)
	q.freed = c.wr + 1
}

// wcPrint identifies a completion for one task without naming the peer, by the position of
// the request in its queue. On a host with several tasks, that does not determine its ID.
func (q *qp) wcPrint(c *completion) print {
	wc, next := &c.wc, c.wr+1
	if c.recv {
		next = 0
	}
	p := q.id().Uint(uint64(wc.Status)<<40 | uint64(wc.Op)<<32 | uint64(wc.ByteLen)).Uint(uint64(wc.Imm)<<1 | uint64(boolInt(wc.HasImm))).
		Int(next).Int(q.recvNext)
	if q.remoteSym() < 0 || !q.h.single() {
		p = p.Uint(wc.ID)
	}
	return p
}
