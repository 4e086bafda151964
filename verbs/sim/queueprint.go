package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// The prints of queue pairs and of the elements in flight on them: see fingerprint.go.

// id identifies q among the queue pairs of its host: by its number or, if it leads to an
// interchangeable host, by how many led there before.
func (q *qp) id() print {
	p := print{}.Int(q.h.life)
	switch {
	case q.buffer != nil:
		return p.Int(-1).Int(q.buffer.t.ord)
	case q.remoteSym() >= 0:
		return p.Int(q.remoteLife()).Int(q.nth)
	case q.linked:
		return p.Int(q.remoteLife()).Uint(uint64(q.num) << 1)
	}
	// Before q is connected only its own host acts on it, and which one it is follows
	// from the actions of a single task.
	if q.h.single() {
		return p.Int(-2)
	}
	return p.Int(-2).Uint(uint64(q.num))
}

// single reports whether the host's state follows from what its one task has observed.
func (h *Host) single() bool { return h.ntasks == 1 && h.live == 1 }

// otherNode returns the host that q leads to, or its own.
func (q *qp) otherNode() int {
	if !q.linked {
		return q.h.node.idx
	}
	return q.remoteNode()
}

// queuePrint covers a QP: its state, its outstanding requests and its pending elements.
// A dead QP with nothing pending is not part of the state.
func (w *World) queuePrint(q *qp) {
	if q.idle() {
		return
	}
	w.about(q.h.node.idx, q.otherNode(), q.state128())
	for _, e := range q.elems {
		if e.kind == elemSample || e.kind == elemFlush || e.modifies() {
			w.relations(e)
		}
		if e.frozen && e.changes() {
			w.overtaken(e)
		}
		if e.barred > 0 {
			w.barredAfter(e)
		}
	}
}

func (q *qp) state128() print {
	p := q.queues(q.id().Int(tagQueue))
	if q.buffer == nil && !q.sends() {
		p = p.Int(q.posted - min(q.denied(), q.posted)) // a denied request stops all later ones until a grant
	}
	lives := q.responderLives()
	for i := q.base; i < min(q.first, q.posted); i++ { // Sends from before a reset or the end that have not met their receives yet
		s := q.ent(i)
		if s.early && lives {
			p = p.Int(i - q.first) // a grant of one kind of access may leave it, and the requests behind it, denied
		}
		if s.op.ConsumesRecv() && !s.recv {
			p = p.Int(q.first - i).Uint(uint64(s.length)<<32 | uint64(s.imm)).Uint(uint64(s.op)<<16 | uint64(s.recvErr)<<8 | uint64(boolInt(s.came))).Bool(i < min(q.limit, q.cutAt))
		}
	}
	for _, e := range q.elems {
		p = q.elemPrint(p, e)
	}
	return p
}

// elemPrint covers one pending element.
func (q *qp) elemPrint(p print, e *elem) print {
	p = p.Uint(uint64(e.kind)<<16 | uint64(boolInt(e.acked)<<3|boolInt(e.frozen)<<2|boolInt(e.src != nil)<<1|boolInt(e.fenced)|
		boolInt(e.came)<<4|boolInt(e.lost())<<5|boolInt(e.persist)<<6|boolInt(e.could)<<7|boolInt(e.struck())<<8|boolInt(e.stopAt > 0)<<9|q.connection(e.wr)<<10|boolInt(e.passed())<<12)).Int(e.off)
	if e.reg != nil {
		p = p.Int(e.reg.ord<<1 | boolInt(e.reg.pm != nil)).Int(e.reg.h.life)
	}
	switch {
	case q.buffer != nil: // these are in the order of the list
	case q.gone:
		p = p.Int(e.wr - q.elems[0].wr).Bool(e.wr < min(q.limit, q.cutAt))
	default:
		p = p.Int(e.wr - q.head)
	}
	if q.buffer == nil && (q.gone || e.wr < q.first || !q.h.single()) { // the task that posted it may have terminated, and what that task knew is not part of the state
		s := q.ent(e.wr)
		if p = p.Uint(uint64(s.op)<<32 | uint64(s.imm)); s.op.IsAtomic() {
			p = p.Uint(s.compare).Uint(s.swap).Uint(s.add)
		}
		if s.mr != nil {
			p = p.Uint(uint64(s.mr.key))
		}
	}
	if q.w.cfg.Profile.WholePackets {
		p = p.Int(e.off - e.start)
		if q.buffer == nil && !e.frozen && !e.acked && (q.gone || q.state == verbs.StateErr) {
			p = p.Int(q.w.withMates(e))
		}
	}
	if e.src != nil && !q.h.single() {
		p = p.Int(e.src.ord<<1 | boolInt(e.src.pm != nil)).Int(e.srcOff)
	}
	if e.kind != elemSample {
		return p.Int(e.n).Bool(e.hasRead()).Bytes(e.content())
	}
	p = p.Int(e.n).Int(len(e.got))
	for _, g := range e.got {
		p = p.Int(g.lo).Bytes(e.data[g.lo-e.off : g.hi-e.off])
	}
	return p
}

// overtaken covers which frozen elements on the bytes of frozen e were posted after the moment of e.
func (w *World) overtaken(e *elem) {
	if e.reg == nil {
		return // the payload of a Send that has met no receive
	}
	for _, y := range e.reg.pend {
		if y.frozen && y.since() > e.frozeAt && y.overlaps(e.off, e.n) {
			w.aboutThree(e.q.h.node.idx, y.q.h.node.idx, e.reg.h.node.idx, e.id(tagFroze).Print(y.id(0)))
		}
	}
}

// barredAfter covers which frozen elements on that machine have their moment before e
// can have landed: they did not land e.
func (w *World) barredAfter(e *elem) {
	if e.reg == nil {
		return
	}
	for _, q := range w.qps {
		for _, d := range q.elems {
			if d.frozen && d.frozeAt < e.barred && d.reg != nil && d.reg.h == e.reg.h {
				w.aboutThree(e.q.h.node.idx, d.q.h.node.idx, e.reg.h.node.idx, e.id(tagBarred).Print(d.id(0)))
			}
		}
	}
}

// relations covers what an element must find or leave behind because of what its requester
// knew at the post. Moments are not part of the state, but their order may matter.
func (w *World) relations(e *elem) {
	id := e.id(tagSees)
	for _, y := range e.reg.pend {
		if y != e && y.changes() && (y.acked && y.ackAt < e.at || y.stopAt > 0 && y.stopAt < e.at) {
			w.aboutThree(e.q.h.node.idx, y.q.h.node.idx, e.reg.h.node.idx, id.Print(y.id(0)))
		}
	}
	if e.kind != elemFlush || !e.persist || e.reg.pm == nil || len(e.reg.pm.used) == 0 {
		return
	}
	lo, hi, _ := e.reg.pm.span(e.reg, e.off, e.n)
	for i := lo; i < hi; i++ {
		for k, c := range e.reg.pm.units[i].list {
			if c.at < e.at || c.q == e.q && c.wr < e.wr {
				w.about(e.q.h.node.idx, e.reg.h.node.idx, id.Int(i).Int(k))
			}
		}
	}
}

// id identifies e among the elements that its host has made.
func (e *elem) id(tag int) print {
	return e.q.id().Int(tag).Int(e.wr - e.q.head).Int(e.part).Int(e.sub)
}

// queues adds the state and the work queues of a live QP.
func (q *qp) queues(p print) print {
	if q.buffer != nil {
		return p
	}
	if q.gone {
		return q.remains(p)
	}
	p = p.Uint(uint64(q.state)<<16 | uint64(q.access)<<8 | uint64(boolInt(q.forsaken)<<7|boolInt(q.sendCQ.front == front{q, false})<<6|boolInt(q.recvCQ.front == front{q, true})<<5|boolInt(q.misfitted)<<4|boolInt(q.refusedBy)<<3|boolInt(q.broken)<<2|boolInt(q.stale)<<1|boolInt(q.peer != nil))).
		Int(q.posted - q.head).Int(min(q.limit, q.posted+1) - q.head).Int(min(q.cutAt, q.posted+1) - q.head).Int(min(q.unacked, q.posted+1) - q.head).
		Int(q.posted - q.freed).Int(q.recvNext).Int(q.unmet).Int(q.met).Int(q.nextMatch())
	if q.held != unlimited {
		p = p.Int(max(q.held-q.head, 0))
	}
	if q.linked && !q.h.single() {
		p = p.Uint(uint64(q.remote.QPN))
	}
	p = p.Int(len(q.rq))
	if !q.h.single() {
		for i := range q.rq {
			p = p.Uint(q.rq[i].ID).Int(len(q.rq[i].SGL))
			for _, x := range q.rq[i].SGL {
				p = p.Uint(x.Addr).Uint(uint64(x.Length)<<32 | uint64(x.LKey))
			}
		}
	}
	for i := q.head; i < q.posted; i++ {
		p = q.entryPrint(p, i)
	}
	p = p.Int(len(q.done))
	for i := range q.done {
		wc := &q.done[i].wc
		p = p.Int(q.head - q.done[i].wr).Uint(uint64(wc.Status)<<8 | uint64(wc.Op)).Uint(uint64(wc.ByteLen))
		if !q.h.single() {
			p = p.Uint(wc.ID)
		}
	}
	for i := max(q.base, q.first); q.unmet > 0 && i < q.head; i++ { // Sends that have not met their receives yet
		if s := q.ent(i); s.op.ConsumesRecv() && !s.recv {
			p = p.Int(q.head - i).Uint(uint64(s.length)<<32 | uint64(s.imm)).Uint(uint64(s.op)<<16 | uint64(s.recvErr)<<8 | uint64(boolInt(s.came)))
		}
	}
	return q.fates(p, q.head)
}

// remains adds the Sends of a dead QP that may still meet their receives, and the
// requests between those that have left something behind.
func (q *qp) remains(p print) print {
	for i := max(q.base, q.first); q.unmet > 0 && i < q.posted; i++ {
		if s := q.ent(i); q.mayBeReceived(i) {
			p = p.Uint(uint64(s.length)<<32 | uint64(s.imm)).Uint(uint64(s.op)<<16 | uint64(s.recvErr)<<8 | uint64(boolInt(s.came)))
		}
	}
	p = q.fates(p, q.posted)
	if n := len(q.elems); n > 0 {
		for i := q.elems[0].wr; i <= q.elems[n-1].wr; i++ {
			p = p.Int(int(q.ent(i).op))
		}
	}
	return p
}

// idle reports whether q is dead, or is a store buffer, and nothing of it is left.
func (q *qp) idle() bool { return (q.gone || q.buffer != nil) && q.left(q.posted) == q.posted }

// left returns the first request before n that may still cause an arrival, or n.
func (q *qp) left(n int) int {
	if len(q.elems) > 0 {
		n = min(n, q.elems[0].wr)
	}
	if q.unmet == 0 || !q.responderLives() {
		return n
	}
	for i, k := q.posted-1, q.unmet; k > 0 && i >= q.base; i-- { // requests from before a reset do not count any more
		if s := q.ent(i); s.op.ConsumesRecv() && !s.recv {
			if k--; q.mayBeReceived(i) {
				n = min(n, i)
			}
		}
	}
	return n
}

// mayBeReceived reports whether the receive of request i of a dead QP may still
// complete: the request can arrive, or has arrived behind a Read that was refused since.
func (q *qp) mayBeReceived(i int) bool {
	s := q.ent(i)
	return s.op.ConsumesRecv() && !s.recv && (i < q.limit || s.came && (s.nak == verbs.StatusSuccess || s.recvErr != verbs.StatusSuccess))
}

// fates covers the fate of the requests before n, which decides which of the remaining ones
// can have been executed. Normally those before them were executed. A reset starts over.
func (q *qp) fates(p print, n int) print {
	left := q.left(q.posted)
	if left == q.posted {
		return p
	}
	for i := q.base; i < n; i++ {
		s := q.ent(i)
		if q.connection(i) < q.connection(left) {
			continue
		}
		if i < left && s.nak != verbs.StatusSuccess {
			p = p.Int(n - i).Uint(uint64(s.nak)<<8 | uint64(boolInt(s.early))) // a request behind it arrives only if it did so before the refusal
		}
		for _, e := range s.payload {
			if i >= left || e.unknown() || e.void() {
				p = p.Int(n - i).Uint(uint64(boolInt(e.passed())<<3 | boolInt(e.unknown())<<2 | boolInt(e.void())<<1 | boolInt(e.over())))
			}
		}
	}
	return p
}

// entryPrint covers a request that has not completed. Its content follows from the actions of a single task.
func (q *qp) entryPrint(p print, i int) print {
	s := q.ent(i)
	p = p.Uint(uint64(s.op)<<40 | uint64(s.nak)<<32 | uint64(s.local)<<24 | uint64(s.recvErr)<<16 |
		uint64(boolInt(s.keyless)<<4|boolInt(s.came)<<3|boolInt(s.early)<<2|boolInt(s.recv)<<1|boolInt(s.signaled)))
	if s.op.IsAtomic() {
		p = p.Uint(s.compare).Uint(s.swap).Uint(s.add)
	}
	if !q.h.single() {
		p = p.Uint(s.id).Uint(uint64(s.flags)<<32 | uint64(s.imm)).Int(s.length)
		if q.responderLives() { // otherwise nothing looks at its key
			if p = p.Uint(uint64(s.need)); s.mr != nil && !q.neverLeaves(i) {
				p = p.Uint(uint64(s.mr.key))
			}
		}
		for _, d := range s.dst {
			p = p.Int(d.r.ord<<1 | boolInt(d.r.pm != nil)).Int(d.off).Int(d.n)
		}
	}
	for _, e := range s.payload {
		if e.over() {
			p = p.Uint(uint64(boolInt(e.passed())<<3 | boolInt(e.unknown())<<2 | boolInt(e.void()) + 1))
			if e.kind == elemSample || e.kind == elemAtomic {
				p = p.Bytes(e.data) // a response in flight
			}
		}
	}
	return p
}
