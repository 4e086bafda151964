package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// The receive side of a queue pair. Requests that consume a receive meet the receives in the order of both
// queues, so the pairs are known as soon as both sides are posted. From then on a Send has an address, and
// its data is pending there like the data of a Write. Its completion reports that all of it is in memory.

// PostRecv implements verbs.QP.
func (q *qp) PostRecv(wrs []verbs.RecvWR) error {
	q.w.guard()
	q.w.cur.drain()
	q.w.cur.pauseDirty()
	q.touchElems()
	for i := range wrs {
		if err := q.mayReceive(&wrs[i]); err != nil {
			return q.w.cur.refused(&verbs.PostError{Index: i, Err: err})
		}
		if i == 0 { // all are posted at once
			q.waitedInVain()
		}
		q.w.ticks++
		q.rq = append(q.rq, recvWR{verbs.RecvWR{ID: wrs[i].ID, SGL: append([]verbs.SGE(nil), wrs[i].SGL...)}, q.w.ticks})
		q.lend(wrs[i].SGL)
		q.match()
	}
	q.w.cur.reach()
	return nil
}

func (q *qp) mayReceive(wr *verbs.RecvWR) error {
	if q.gone {
		return verbs.ErrClosed
	}
	if err := q.state.CheckPostRecv(q.num); err != nil {
		return err
	}
	return q.cfg.CheckRecv(q.num, wr, len(q.rq)+q.unpolled() >= q.cfg.MaxRecvWR)
}

// unpolled counts the receives that have completed and still hold their slots: like the
// slots of sends, polling frees them.
func (q *qp) unpolled() (n int) {
	for _, x := range q.recvCQ.queue {
		n += boolInt(x.recv && x.wc.QPNum == q.num)
	}
	return n
}

// lend notes that a peer can write to the memory of a receive.
func (q *qp) lend(sgl []verbs.SGE) {
	for _, x := range sgl {
		if r, _, ok := q.pd.sge(x, true); ok && !r.receives {
			r.receives = true
			r.lent++
		}
	}
}

// match lets requests of q's peer meet the receives that they will consume.
func (q *qp) match() {
	p := q.peer
	if p == nil || q.state < verbs.StateRTR || q.state == verbs.StateErr {
		return // it drops incoming requests
	}
	for i := max(q.matched, p.base); i < min(p.posted, p.limit) && q.met < len(q.rq); i++ { // requests that never arrive meet nothing
		s := p.ent(i)
		if s.op.ConsumesRecv() {
			p.address(i, &q.rq[q.met].RecvWR)
			q.met++
		}
		q.matched = i + 1
	}
}

// nextMatch returns the request of q's peer that meets the next receive. Requests in
// between consume none, so the result does not depend on whether match has passed them.
func (q *qp) nextMatch() int {
	p := q.peer
	if p == nil {
		return 0
	}
	i := max(q.matched, p.base)
	for i < p.posted && !p.ent(i).op.ConsumesRecv() {
		i++
	}
	return i
}

// address gives request i of p the memory that rw names.
func (p *qp) address(i int, rw *verbs.RecvWR) {
	s := p.ent(i)
	if s.op == verbs.OpWriteImm || s.local != verbs.StatusSuccess || s.nak != verbs.StatusSuccess {
		return
	}
	if s.length > rw.Length() {
		s.nak, s.recvErr = verbs.StatusRemInvReqErr, verbs.StatusLocLenErr
		return
	}
	left := s.length
	for _, x := range rw.SGL {
		if _, _, ok := p.peer.pd.sge(x, true); !ok && left > 0 && x.Length > 0 {
			s.nak, s.recvErr = verbs.StatusRemOpErr, verbs.StatusLocProtErr
			return
		}
		if left > 0 && x.Length > 0 {
			s.into = append(s.into, p.peer.pd.c.key(x.LKey))
		}
		left -= int(x.Length)
	}
	p.scatter(i, rw.SGL)
}

// scatter cuts the payload of Send i as the memory of its receive is cut: at the
// boundaries of the list and, as for Writes, at cells or into at most MaxPieces.
func (p *qp) scatter(i int, sgl []verbs.SGE) {
	w, s := p.w, p.ent(i)
	if s.length == 0 || len(s.payload) == 0 || slices.ContainsFunc(s.payload, func(e *elem) bool { return e.over() || e.frozen }) {
		return // it has no data, or it was cut off before the receive was posted
	}
	at := 0
	for at < len(p.elems) && p.elems[at].wr < i {
		at++
	}
	behind := append(w.aside[:0], p.elems[at+len(s.payload):]...)
	whole := append(w.sends[:0], s.payload...)
	p.elems, s.payload = p.elems[:at], s.payload[:0]
	k, used, done := 0, 0, 0 // the current SGE, the bytes of it that are used, the bytes of the message that are placed
	for _, e := range whole {
		for from := 0; from < e.n; {
			for used == int(sgl[k].Length) {
				k, used = k+1, 0
			}
			r, off, _ := p.peer.pd.sge(sgl[k], true)
			off += used
			n := min(e.n-from, int(sgl[k].Length)-used, w.cut(off, done, s.length))
			x := w.pools.elems.get()
			got := x.got[:0]
			*x = *e
			x.got, x.kind, x.reg, x.off, x.n, x.start, x.part = got, elemWrite, r, off, n, off-done, len(s.payload)
			if e.src != nil {
				x.srcOff = e.srcOff + from
				x.src.srcs = append(x.src.srcs, x)
			} else {
				x.data = e.data[from : from+n]
			}
			p.elems, s.payload, r.pend = append(p.elems, x), append(s.payload, x), append(r.pend, x)
			w.touch(r.object(), Add)
			from, used, done = from+n, used+n, done+n
		}
		if e.src != nil {
			w.dropSource(e)
		}
		e.lands()
	}
	p.elems = append(p.elems, behind...)
	w.aside, w.sends = behind, whole
	if !p.sends() {
		p.shatter()
	}
}

// recvOutcomes appends the completions of q's receive queue that may come next.
func (q *qp) recvOutcomes(o []outcome) []outcome {
	if q.gone {
		return o
	}
	if i := q.inCQ(); i >= 0 && q.w.machine.decidesKept() {
		status := q.recvCQ.queue[i].wc.Status
		if status != verbs.StatusSuccess && q.sendCQ == q.recvCQ && len(q.done) > 0 && q.done[0].wc.Status == verbs.StatusSuccess {
			return o // the receive took the queue pair to ERR, and the send completions were in the CQ by then
		}
		return append(o, outcome{q: q, recv: true, status: status, kept: true})
	}
	if len(q.rq) == 0 {
		return o
	}
	i := q.nextIncoming()
	came := i >= 0 && q.hasSeen(i)
	// Receives that completed before the queue pair went to ERR enter the CQ before the
	// flushed ones, and before the receive that caused the error.
	behind := len(q.done) > 0 && q.sendCQ == q.recvCQ
	if i >= 0 && q.w.machine.receives(q, came) && !(behind && q.peer.ent(i).recvErr != verbs.StatusSuccess) {
		o = append(o, outcome{q: q, wr: 0, recv: true, status: q.peer.ent(i).recvErr})
	}
	if q.state == verbs.StateErr && !came && !behind {
		o = append(o, outcome{q: q, wr: 0, recv: true, status: verbs.StatusWRFlushErr})
	}
	return o
}

// hasSeen reports whether request i of q's peer has certainly arrived: it was acknowledged, for example.
func (q *qp) hasSeen(i int) bool { return q.peer.ent(i).came || q.peer.seenAt(i) > i }

// inCQ returns the index of q's first completed receive in its CQ, or -1.
func (q *qp) inCQ() int {
	return slices.IndexFunc(q.recvCQ.queue, func(x completion) bool { return x.recv && x.wc.QPNum == q.num })
}

// keepReceived puts q's unpolled receives into the CQ because its peer gets a new connection, and
// nothing more of the old one is received. That is everything that can have arrived: a request
// that never arrived has vanished in a step of its own (vanishing). In eager mode earlier steps
// have decided the arrivals, and q received all of them unless it went to ERR before.
func (q *qp) keepReceived() {
	for q.h.alive && !q.gone && len(q.rq) > 0 {
		i := q.nextIncoming()
		if i < 0 || !q.w.machine.received(q, i) {
			return
		}
		q.recvCQ.queue = append(q.recvCQ.queue, q.recvCQ.keep(outcome{q: q, recv: true, status: q.peer.ent(i).recvErr}))
	}
}

// nextIncoming returns the index, in the peer's send queue, of the next request that
// consumes a receive and can have arrived, or -1.
func (q *qp) nextIncoming() int {
	p := q.peer
	if p == nil || q.state < verbs.StateRTR || q.met == 0 {
		return -1
	}
	reach, stopped := p.reach(), false
	for i := max(q.recvNext, p.base); i < p.posted; i++ {
		s := p.ent(i)
		refused := s.recvErr != verbs.StatusSuccess && i == reach && i < min(p.limit, p.cutAt, p.held)
		takes := s.local == verbs.StatusSuccess && (s.nak == verbs.StatusSuccess || s.recvErr != verbs.StatusSuccess)
		stopped = stopped || !takes || i >= reach && !refused || s.unexecuted()
		if takes && s.op.ConsumesRecv() && !s.recv && (!stopped || s.came) { // a request that has arrived may be behind a Read that was refused later
			return i
		}
	}
	return -1
}

// unexecuted reports whether s can never be executed: nothing behind it is received.
func (s *sqEntry) unexecuted() bool {
	return slices.ContainsFunc(s.payload, func(e *elem) bool { return e.void() && !e.unknown() && e.responds() })
}

// pending reports whether s is a Read or an Atomic that has not been executed.
func (s *sqEntry) pending() bool {
	return slices.ContainsFunc(s.payload, func(e *elem) bool { return e.responds() && !e.over() })
}

// completeRecv completes the first receive. Everything before it on the connection is then in memory.
func (w *World) completeRecv(o outcome, wc *verbs.WC) {
	q := o.q
	rw := q.rq[0]
	p, i, reach := q.peer, q.nextIncoming(), 0
	if i >= 0 {
		reach = p.reach()
	}
	q.rq = append(q.rq[:0], q.rq[1:]...)
	q.met = max(q.met-1, 0)
	*wc = verbs.WC{ID: rw.ID, Status: o.status, Op: verbs.WCRecv, QPNum: q.num}
	if o.status == verbs.StatusWRFlushErr {
		if i >= 0 {
			w.missed(p, i, reach)
		}
		return
	}
	s := p.ent(i)
	s.recv = true
	p.unmet--
	q.recvNext = i + 1
	q.touchElems()
	w.arrive(p, i+1)
	w.departed(p, i)
	for all := sweep(&p.elems); all.next(); {
		if e := all.e; e.wr <= i && (e.wr < p.first) == (i < p.first) && e.changes() && !e.over() {
			w.land(e)
			all.again()
		}
	}
	if s.recvErr != verbs.StatusSuccess {
		q.misfitted = false
		before := isSuccess // had a request failed, q would be in ERR already
		if q.sendCQ == q.recvCQ {
			before = nothing // if q had completed more, that would have been polled before this
		}
		q.receiveFailed(i, before)
		return
	}
	wc.ByteLen = uint32(s.length)
	if s.op == verbs.OpWriteImm {
		wc.Op = verbs.WCRecvWriteImm
	}
	if s.op != verbs.OpSend {
		wc.Imm, wc.HasImm = s.imm, true
	}
}

// receiveFailed takes q to ERR because request i of its peer did not fit.
func (q *qp) receiveFailed(i int, before func(verbs.Status) bool) {
	q.peer.limit = min(q.peer.limit, i+1) // requests behind it are not executed
	q.killAfter(verbs.StateErr, before)
}

// missed marks request i of p as not completely arrived when its responder stopped.
// Parts of it may have arrived, and so may requests before reach that overtook it.
func (w *World) missed(p *qp, i, reach int) {
	p.touchElems()
	p.limit = min(p.limit, i)
	pieces := p.ent(i).payload
	w.incomplete(p, i)
	for all := sweep(&p.elems); all.next(); {
		e := all.e
		switch {
		case e.wr > i && e.wr < reach && slices.ContainsFunc(pieces, func(x *elem) bool { return w.overtakes(e, x) }):
			e.could = true
		case e.wr > i || e.wr == i && !e.changes():
			w.discard(e)
			all.again()
		case e.wr == i && !e.frozen:
			if w.freeze(e); e.over() {
				all.again()
			}
		}
	}
	w.machine.settleRivals(p)
}

// holds reports whether request i of the same queue pair has not left because it waits for the response of e.
func (e *elem) holds(i int) bool {
	return e.wr < i && e.responds() && !e.over() && (e.q.ent(i).flags&verbs.Fence != 0 || e.stalls(i))
}

// departed executes the Reads and Atomics whose responses request i of p waited for, or
// that its refusal acknowledges.
func (w *World) departed(p *qp, i int) {
	fenced := p.ent(i).flags&verbs.Fence != 0 || p.ent(i).recvErr != verbs.StatusSuccess
	for all := sweep(&p.elems); all.next(); {
		if e := all.e; e.wr < i && e.responds() && !e.over() && (fenced || e.stalls(i)) {
			w.land(e)
			all.again()
		}
	}
}

// waitedInVain decides whether a request of q's peer that found no receive has run out of retries
// by now. From now on it would find one, or get no answer. In eager mode that is a step of its own.
func (q *qp) waitedInVain() {
	if p := q.peer; p != nil {
		p.asks(isRNR)
	}
}

// receivesNoMore cuts off requests that find no receive here, because q's machine dies.
func (q *qp) receivesNoMore() {
	p := q.peer
	if p == nil {
		return
	}
	q.waitedInVain()
	if i := p.reach(); i < p.posted && p.ent(i).op.ConsumesRecv() && p.ent(i).nak == verbs.StatusSuccess {
		p.limit = min(p.limit, i)
	}
}
