package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// How queue pairs stop, and what happens to requests that are cut off: state changes,
// destruction, errors (the semantics note, section 5). Revocation is in revoke.go.

// Modify implements verbs.QP.
func (q *qp) Modify(a verbs.QPAttr) error {
	q.w.guard()
	if q.w.dying() {
		return nil
	}
	q.w.cur.drain()
	ends := a.SetState && (a.State == verbs.StateErr || a.State == verbs.StateReset)
	if ends {
		q.w.cur.pauseDirty()
	} else {
		q.w.cur.wait(op{kind: opRun}) // a look, like State
	}
	if q.gone {
		q.touch(Read)
		return q.w.cur.refused(fmt.Errorf("sim: modify QP %d: %w", q.num, verbs.ErrClosed))
	}
	to := q.state
	if a.SetState {
		to = a.State
	}
	q.touchElems() // a failure of the peer takes this QP to ERR as well
	if ends {
		q.refuses()
	} else {
		q.looked()
		if !a.SetState {
			to = q.state
		}
	}
	q.w.cur.obs.seeUint(uint64(q.state) + 1)
	if err := verbs.CheckTransition(q.state, to, a.Mask); err != nil {
		return fmt.Errorf("sim: modify QP %d: %w", q.num, err)
	}
	if a.Mask&verbs.AttrAccess != 0 {
		if err := verbs.CheckAccess(a.Access, q.w.cfg.Profile.FlushOps); err != nil {
			return fmt.Errorf("sim: modify QP %d: %w", q.num, err)
		}
	}
	q.w.cur.ends()
	if q.w.tracer != nil {
		q.w.trace(q.h, "modify", "modifies %s: %v to %v", q.name(), q.state, to)
	}
	if a.Mask&verbs.AttrAccess != 0 {
		q.forbid(a.Access)
		q.access = a.Access
		q.grant()
		q.w.cur.reach() // a request that arrives now is refused differently from one that arrives after the QP stops
	}
	from := q.state
	if to == verbs.StateErr || to == verbs.StateReset {
		q.kill(to)
	}
	q.state = to
	switch {
	case to == verbs.StateRTR && from == verbs.StateInit:
		q.link()
	case to == verbs.StateSQD && from == verbs.StateRTS:
		q.held = q.posted
	case to == verbs.StateRTS && from == verbs.StateSQD:
		q.release()
	}
	return nil
}

// release sends the requests that were posted in SQD.
func (q *qp) release() {
	q.held = unlimited
}

// kill stops both roles of the QP: unacknowledged requests may or may not have executed,
// and incoming ones are dropped.
func (q *qp) kill(to verbs.QPState) { q.killAfter(to, anything) }

// killAfter is like kill, except that only completions whose status hit accepts can come before ERR.
func (q *qp) killAfter(to verbs.QPState, hit func(verbs.Status) bool) {
	q.touchElems()
	if to == verbs.StateErr {
		q.settle(hit)
	} else if q.awaitsResponse() || q.cfg.PSN != 0 {
		q.settle(anything) // answered requests are in memory, and acknowledged ones do not reach the next connection
	} else {
		q.leaves()
	}
	q.stopIncoming(func(*sqEntry) bool { return true }, 0)
	q.acksNoMore()
	q.cutSend()
	if p := q.peer; p != nil {
		p.limit = min(p.limit, p.posted, p.forbidden()) // requests that p posts from now on are dropped
	}
	if to == verbs.StateReset {
		q.done, q.misfitted = nil, false
		q.head, q.freed, q.first = q.posted, q.posted, q.posted
		q.rq, q.met = q.rq[:0], 0
		q.wipe()
		q.denyNoMore()
	}
	if to != verbs.StateErr {
		q.state = to
	} else if q.state != to {
		q.errs()
	}
}

// cutSend stops the requester.
func (q *qp) cutSend() {
	defer func(x bool) { q.completing = x }(q.completing)
	q.completing = true // earlier completions are already decided
	reach := q.reach()
	q.limit = min(q.limit, q.posted, q.cutAt, q.held, q.refusedFrom(q.head))
	if q.peer == nil && !q.stale {
		q.limit = min(q.limit, q.first) // the peer never existed
	}
	q.remember()
	for all := sweep(&q.elems); all.next(); {
		e := all.e
		q.w.fetchOne(e)
		if e.kind == elemSample {
			q.leaveUnread(e, reach)
			all.again()
		} else if e.wr >= q.limit && !e.acked && !e.could && !e.frozen && !e.taken() {
			q.w.discard(e)
			all.again()
		}
	}
	q.shatter()
}

// leaveUnread drops Read e, whose response has no receiver. Requests behind it may
// arrive all the same, except Sends that leave only after its response: they have left
// if e was executed. In late mode it may have been executed if it can have arrived.
func (q *qp) leaveUnread(e *elem, reach int) {
	for i := e.wr + 1; i < q.posted && !q.w.machine.mayHaveRun(e, reach); i++ {
		if s := q.ent(i); s.op.ConsumesRecv() && (s.flags&verbs.Fence != 0 || e.stalls(i)) {
			q.limit = min(q.limit, i)
		}
	}
	q.w.discard(e)
	e.stage = forgotten
}

// refused returns the first request that fails if nothing changes, at the responder or before it is sent.
func (q *qp) refused() int { return min(q.refusedFrom(q.head), q.forbidden()) }

// refusedFrom returns the first request from n on that fails whatever access its responder grants.
func (q *qp) refusedFrom(n int) int {
	for i := n; i < q.posted; i++ {
		if s := q.ent(i); s.nak != verbs.StatusSuccess && (!s.early || s.keyless) || s.local != verbs.StatusSuccess {
			return i
		}
	}
	return unlimited
}

// shatter breaks the remains of failed Writes into the pieces that the profile lets them
// leave behind: smaller than a cell in the weakest profile.
func (q *qp) shatter() {
	size := q.w.cfg.Profile.FailedCell()
	if size >= q.w.cfg.Profile.CellBytes {
		return
	}
	var all []*elem
	for _, e := range q.elems {
		if e.kind != elemWrite || e.acked || e.over() || e.lost() || e.n <= size {
			all = append(all, e)
			continue
		}
		q.w.touchElem(e)
		e.reg.pend = without(e.reg.pend, e)
		for at := 0; at < e.n; at += size {
			x := q.w.pools.elems.get()
			*x = *e
			n := min(size, e.n-at)
			x.off, x.n, x.sub, x.data, x.got = e.off+at, n, at/size, e.data[at:at+n], nil
			all = append(all, x)
			e.reg.pend = append(e.reg.pend, x)
		}
	}
	q.elems = all
}

// stopIncoming cuts off the peer's requests here. They are refused with nak, or dropped if nak is 0.
func (q *qp) stopIncoming(hit func(*sqEntry) bool, nak verbs.Status) {
	if p := q.peer; p != nil {
		q.w.cutoffQP(p, hit, nak)
	}
}

// Destroy implements verbs.QP.
func (q *qp) Destroy() error {
	q.w.guard()
	if q.w.dying() {
		return nil
	}
	q.w.cur.drain()
	q.touch(Read) // others can change whether anyone notices the destruction
	if !q.gone && !q.silent() {
		q.w.cur.pauseDirty()
	} else {
		q.w.cur.pauseShared()
	}
	if q.gone {
		q.touch(Read)
		return q.w.cur.refused(fmt.Errorf("sim: destroy QP %d: %w", q.num, verbs.ErrClosed))
	}
	q.w.cur.ends()
	if q.w.tracer != nil {
		q.w.trace(q.h, "destroy", "destroys %s", q.name())
	}
	q.refuses()
	q.kill(verbs.StateReset)
	q.gone = true
	q.pd.open--
	q.leave()
	return nil
}

// silent reports whether nobody can notice the destruction of q: q has failed already,
// and its peer has nothing in flight to it.
func (q *qp) silent() bool {
	p := q.peer
	return q.state == verbs.StateErr && (p == nil || p.idle() || len(p.elems) == 0 && p.head == p.posted)
}

func (q *qp) leave() {
	q.sendCQ.qps = withoutQP(q.sendCQ.qps, q)
	q.recvCQ.rqps = withoutQP(q.recvCQ.rqps, q)
}

func withoutQP(s []*qp, q *qp) []*qp {
	for i, x := range s {
		if x == q {
			return append(s[:i], s[i+1:]...)
		}
	}
	return s
}

// sends reports whether q is an active requester.
func (q *qp) sends() bool { return q.state == verbs.StateRTS || q.state == verbs.StateSQD }

// refuse makes the responder refuse s. A Send is refused because of its receive. The
// access of the queue pair is checked first, so a refusal as an invalid request stays.
func (s *sqEntry) refuse(nak verbs.Status) {
	if s.nak == verbs.StatusRemInvReqErr {
		return
	}
	s.nak = nak
	if s.op == verbs.OpSend || s.op == verbs.OpSendImm {
		s.nak, s.recvErr = verbs.StatusRemOpErr, verbs.StatusLocProtErr
	}
}

// seenAt returns the first request from i on that is not known to have arrived whole. A request
// that has landed has arrived, and so has everything before it, unless gaps are possible.
func (q *qp) seenAt(i int) int {
	for j := i; j < q.posted; j++ {
		pieces := q.ent(j).payload
		some := slices.ContainsFunc(pieces, (*elem).seen)
		all := some && !slices.ContainsFunc(pieces, func(e *elem) bool { return !e.seen() && !q.w.cameWith(e, pieces) })
		if gap := i < j && q.w.gaps(); all && !gap || q.ent(j).came && q.ent(j).nak == verbs.StatusSuccess {
			i = j + 1
		} else if some && !gap {
			i = j
		}
	}
	return i
}

// cutOff reports whether e's request can no longer succeed, although e may have arrived.
func (e *elem) cutOff() bool { return !e.over() && (e.frozen || e.could) }

// overtook reports whether e, if it arrived, reached a machine that is up, before a
// request that its responder refused.
func (e *elem) overtook() bool { return e.could && !e.byCPU() && e.reg != nil && e.reg.h.alive }

// seen reports whether e has landed.
func (e *elem) seen() bool { return e.over() && !e.void() }
