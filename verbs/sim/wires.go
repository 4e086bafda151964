package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// The steps of wires and cards, and the rules for a connection on which each arrival and each acknowledgement
// was a step. The late machine uses them too, once it has decided which requests have arrived.

// wireSteps lists the elements that can leave, arrive or land next. An element that can
// arrive leaves in the same step.
func (w *World) wireSteps(q *qp, out []*elem) []*elem {
	var missing []*elem
	reach := q.posted
	if q.buffer == nil {
		reach = q.reach()
	}
	for _, e := range q.elems {
		switch {
		case e.over():
		case !e.came:
			come := e.wr < reach && (q.buffer != nil || !e.leftDenied()) && !slices.ContainsFunc(missing, func(p *elem) bool { return !w.overtakes(e, p) })
			if (come || e.wr >= reach && w.unfetched(e) == e && w.mayLeave(e)) && !e.frozen && !w.heldBack(e) {
				out = append(out, e)
			}
			missing = append(missing, e)
		case e.kind != elemSend && w.free(e) && !w.refusedByMedia(e):
			out = append(out, e)
		}
	}
	return out
}

// heldBack reports whether e cannot have left the requester, because a fence or the
// limit on outstanding Reads and Atomics still waits for a response.
func (w *World) heldBack(e *elem) bool {
	return slices.ContainsFunc(e.q.elems, func(p *elem) bool { return w.holdsBack(p, e) })
}

func (w *World) holdsBack(p, e *elem) bool {
	return p.responds() && w.before(p, e) && (e.fenced || p.wr != e.wr && p.stalls(e.wr))
}

// overtakes reports whether e can arrive before p, which was sent before it: both are
// pieces of Writes, and only Writes lie between them.
func (w *World) overtakes(e, p *elem) bool {
	if !w.gaps() || e.kind != elemWrite || p.kind != elemWrite || w.before(p, e) {
		return false
	}
	for i := p.wr + 1; i < e.wr; i++ {
		if x := e.q.ent(i).payload; len(x) > 0 && x[0].kind != elemWrite {
			return false
		}
	}
	return true
}

// taken reports whether e is a piece of a Write that a card has accepted and will place,
// whatever its requester learns.
func (e *elem) taken() bool { return e.came && e.kind == elemWrite }

// free reports whether nothing that must land before e is still pending.
func (w *World) free(e *elem) bool {
	for _, p := range e.q.elems {
		if p == e {
			return true
		}
		if !p.over() && w.before(p, e) {
			return false
		}
	}
	return true
}

// awaited reports whether an operation in flight will let a task continue. In the regime
// idle, time then waits for it. Nothing waits for a Write that makes no completion.
func (w *World) awaited() bool {
	for _, t := range w.tasks {
		if !t.alive {
			continue
		}
		switch o := &t.op; o.kind {
		case opCQ:
			if o.cq.awaited() {
				return true
			}
		case opChan:
			if slices.ContainsFunc(o.ch.cqs, (*cq).awaited) {
				return true
			}
		case opAll:
			if !slices.ContainsFunc(o.cqs, func(c verbs.CQ) bool { return !c.(*cq).awaited() }) {
				return true
			}
		}
	}
	return false
}

// awaited reports whether c has a completion, or one is on its way.
func (c *cq) awaited() bool {
	return !c.gone && (len(c.queue) > 0 || len(c.outcomes(nil)) > 0)
}

func (w *World) stepWire(q *qp) {
	steps := w.wireSteps(q, nil)
	e := steps[w.choose(ChooseLanding, len(steps), func(i int) string { return steps[i].name() })]
	if !e.came && q.buffer == nil && e.wr >= q.reach() {
		w.fetch(e) // it leaves now and arrives later
		return
	}
	if !e.came {
		e.came = true
		if e.n == 0 {
			e.lands() // there is nothing to place
			w.remove(e)
			return
		}
		w.fetch(e)
		for _, x := range q.elems {
			if w.cfg.Profile.WholePackets && !x.came && x.kind == elemWrite && w.mates(e, x) {
				x.came = true
				w.fetch(x)
			}
		}
		return
	}
	if e.modifies() && !e.hasRead() && w.choose(ChooseOrder, 2, func(i int) string { return e.name() + readNames[i] }) == 1 {
		w.readAtomic(e)
		return
	}
	w.land(e)
}

// ackSteps lists what the requester's card can learn next.
func (w *World) ackSteps(q *qp, out []outcome) []outcome {
	if q.gone || !q.h.alive || q.buffer != nil {
		return out
	}
	for _, o := range q.sendOutcomes(nil) {
		if o.status == verbs.StatusSuccess && !w.arrived(q, o.wr) {
			continue
		}
		if o.status != verbs.StatusSuccess && o.wr > q.head && !w.arrived(q, o.wr-1) {
			continue
		}
		out = append(out, o)
	}
	if q.head < q.posted && w.arrived(q, q.head) {
		out = q.quietWays(out, q.head, min(q.quietTo(), q.head+1))
	}
	for _, o := range q.recvOutcomes(nil) {
		if o.status == verbs.StatusWRFlushErr || w.recvArrived(q) {
			out = append(out, o)
		}
	}
	return out
}

// arrived reports whether all elements up to work request i have arrived, and the Reads
// and Atomics among them have been executed.
func (w *World) arrived(q *qp, i int) bool {
	for _, e := range q.elems {
		if e.wr <= i && (!e.came || e.responds() || w.flushes(e)) {
			return false
		}
	}
	return true
}

// recvArrived reports whether the next incoming request and all requests before it are in memory.
func (w *World) recvArrived(q *qp) bool {
	i := q.nextIncoming()
	if i < 0 {
		return false
	}
	for _, e := range q.peer.elems {
		if e.wr <= i && (e.changes() || e.n == 0 && !e.came) {
			return false
		}
	}
	return true
}

func (w *World) stepAck(q *qp) {
	steps := w.ackSteps(q, nil)
	o := steps[w.choose(ChooseCompletion, len(steps), func(i int) string { return steps[i].name() })]
	if o.quiet {
		q.quiets(o.wr)
		return
	}
	done := completion{wr: o.wr, recv: o.recv}
	w.complete(o, &done.wc)
	c := q.sendCQ
	if o.recv {
		c = q.recvCQ
	}
	c.queue = append(c.queue, done)
}

// wipe removes q's completions from their CQs.
func (q *qp) wipe() {
	for _, c := range [2]*cq{q.sendCQ, q.recvCQ} {
		c.queue = slices.DeleteFunc(c.queue, func(x completion) bool { return x.wc.QPNum == q.num })
		if c.front.q == q {
			c.front = front{}
		}
	}
}

// cameTo returns the first request that has not arrived or has not been executed. A refused request may have arrived.
func (w *World) cameTo(q *qp) int {
	n := min(q.posted, q.reach())
	if n < q.posted && q.ent(n).nak != verbs.StatusSuccess {
		n++
	}
	for _, e := range q.elems {
		if !e.over() && (!e.came || e.responds() || w.flushes(e)) && !q.ent(e.wr).early {
			n = min(n, e.wr)
		}
	}
	return n
}

// tookBefore returns the first request that the responder has not taken when it stops
// taking those that hit accepts. It applies where the arrivals are known.
func (w *World) tookBefore(q *qp, hit func(*sqEntry) bool) int {
	for all := sweep(&q.elems); all.next() && w.cfg.Profile.DrainOnRevoke; {
		if e := all.e; e.reg != nil && e.came && e.kind != elemSample && hit(q.ent(e.wr)) && !e.cutOff() && !w.refused(e) && !w.stuck(e) {
			w.land(e)
			all.again()
		}
	}
	n := w.emptyCame(q, w.cameTo(q))
	for i := max(q.head, q.base); i < n; i++ {
		s := q.ent(i)
		s.came = s.came || s.nak == verbs.StatusSuccess
	}
	if !q.live() {
		return n
	}
	first := q.head
	for first < n && !hit(q.ent(first)) {
		first++
	}
	return w.unread(q, first, n)
}

// live reports whether any host learns the fate of q's requests.
func (q *qp) live() bool { return q.h.alive && q.sends() && !q.gone }

// cutoffKnown is like cutoffQP, where the arrivals are known.
func (w *World) cutoffKnown(q *qp, hit func(*sqEntry) bool, nak verbs.Status) {
	hitElem := func(e *elem) bool { return hit(q.ent(e.wr)) }
	n, live := w.tookBefore(q, hit), q.live() || nak != 0
	if live {
		for i := n; i < q.posted && nak != 0; i++ {
			if s := q.ent(i); hit(s) && (!s.came || s.pending()) && !q.neverLeaves(i) {
				if s.refuse(nak); i < q.head || !q.live() && s.recvErr == verbs.StatusSuccess {
					q.limit = min(q.limit, i) // it has completed, or no host learns of its refusal
				}
				break
			}
		}
		q.limit = limitAfter(q, n, nak)
	}
	for i := n; i < q.posted && !live; i++ {
		if s := q.ent(i); hit(s) && !s.wasRefused() {
			q.limit = min(q.limit, i) // requests that arrive behind it are not executed either
			break
		}
	}
	for all := sweep(&q.elems); all.next(); {
		e := all.e
		if e.reg != nil && hitElem(e) && (!e.came || e.kind != elemWrite) && !e.cutOff() {
			if e.responds() {
				w.dropAfter(e)
			}
			w.discard(e) // an unexecuted request will never be executed
			all.again()
		}
	}
}
