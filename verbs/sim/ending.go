package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// How queue pairs end, and what becomes of requests that are cut off: state
// changes, revocation, errors (the semantics note, section 5).

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
		q.w.cur.wait(op{kind: opRun}) // a look, as State
	}
	if q.gone {
		q.touch(Read)
		return q.w.cur.refused(fmt.Errorf("sim: modify QP %d: %w", q.num, verbs.ErrClosed))
	}
	to := q.state
	if a.SetState {
		to = a.State
	}
	q.touchElems() // a failure of the peer's takes this end to ERR as well
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
	q.w.cur.ends()
	if q.w.tracer != nil {
		q.w.trace(q.h, "modify", "modifies %s: %v to %v", q.name(), q.state, to)
	}
	if a.Mask&verbs.AttrAccess != 0 {
		q.stopIncoming(func(s *sqEntry) bool { return s.need&^a.Access != 0 && !s.early }, verbs.StatusRemInvReqErr)
		q.access = a.Access
		q.grant()
		q.w.cur.reach() // what comes now is refused in another way than when more is ended
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

// release lets go what was posted in SQD.
func (q *qp) release() {
	q.held = unlimited
}

// grant lets in what the access flags forbade and now do not. It has not come yet: had it been
// refused, q would be in ERR, and Modify has looked.
func (q *qp) grant() {
	p := q.peer
	if p == nil || !p.sends() {
		return
	}
	for i := p.head; i < p.posted; i++ {
		s := p.ent(i)
		switch {
		case s.early && s.need&^q.access == 0:
			s.early, s.nak = false, verbs.StatusSuccess
			if s.mr != nil && s.mr.gone {
				s.refuse(verbs.StatusRemAccessErr)
				return
			}
		case s.nak != verbs.StatusSuccess:
			return
		}
	}
}

// kill ends both roles of the QP: what it sent and was not acknowledged may or
// may not have executed, and what comes in is dropped.
func (q *qp) kill(to verbs.QPState) { q.killAfter(to, anything) }

// killAfter is kill where requests can have completed before only as hit says.
func (q *qp) killAfter(to verbs.QPState, hit func(verbs.Status) bool) {
	q.touchElems()
	if to == verbs.StateErr {
		q.settle(hit)
	} else {
		q.leaves()
		if q.awaitsResponse() {
			q.settle(isSuccess) // what was answered is in memory
		}
	}
	q.stopIncoming(func(*sqEntry) bool { return true }, 0)
	q.cutSend()
	if p := q.peer; p != nil {
		p.limit = min(p.limit, p.posted) // what it posts from now on is dropped
	}
	if to == verbs.StateReset {
		q.done = nil
		q.head, q.freed, q.first = q.posted, q.posted, q.posted
		q.rq, q.met = q.rq[:0], 0
		q.wipe()
	}
	q.state = to
}

// cutSend ends the requester's role.
func (q *qp) cutSend() {
	defer func(x bool) { q.completing = x }(q.completing)
	q.completing = true // what had completed before is known by now
	q.limit = min(q.limit, q.posted, q.cutAt, q.held, q.refused())
	if q.peer == nil && !q.stale {
		q.limit = min(q.limit, q.first) // the peer was never there
	}
	q.remember()
	for i := 0; i < len(q.elems); i++ {
		e := q.elems[i]
		q.w.fetchOne(e)
		if e.kind == elemSample || e.wr >= q.limit && !e.acked && !e.could && !e.frozen && !e.taken() {
			q.w.discard(e)
			i = -1
		}
	}
	q.shatter()
}

// refused is the first request that the responder will refuse.
func (q *qp) refused() int { return q.refusedFrom(q.head) }

func (q *qp) refusedFrom(n int) int {
	for i := n; i < q.posted; i++ {
		if q.ent(i).nak != verbs.StatusSuccess {
			return i
		}
	}
	return unlimited
}

// shatter breaks what is left of failed writes into the pieces that the profile
// says they may leave behind: less than a cell, in the weakest one.
func (q *qp) shatter() {
	size := q.w.cfg.Profile.FailedCell()
	if size >= q.w.cfg.Profile.CellBytes {
		return
	}
	var all []*elem
	for _, e := range q.elems {
		if e.kind != elemWrite || e.acked || e.landed || e.lost || e.n <= size {
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

// stopIncoming cuts the peer's requests off here. They are refused with nak, or if
// that is 0 dropped.
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

// silent reports whether nobody can tell that q goes: it has failed already, and
// its peer has nothing under way to it.
func (q *qp) silent() bool {
	return q.state == verbs.StateErr && (q.peer == nil || len(q.peer.elems) == 0 && q.peer.head == q.peer.posted)
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

// cutoff stops requests that reach a card from now on, because of what hit says.
func (w *World) cutoff(hit func(*sqEntry) bool, c *card) {
	for _, q := range w.qps {
		if q.state >= verbs.StateRTR && q.remoteNode() == c.h.node.idx && q.remoteLife() == c.h.life {
			w.cutoffQP(q, hit, verbs.StatusRemAccessErr)
		}
	}
}

// cutoffQP decides how far q's requests had come when the responder stopped
// taking those that hit. A live requester learns it from a NAK, so it is decided
// now; of a dead one nobody learns, so its elements stay pending as ones that
// landed before now or never. Without DrainOnRevoke what the card had accepted
// may still land later.
func (w *World) cutoffQP(q *qp, hit func(*sqEntry) bool, nak verbs.Status) {
	q.touchElems()
	w.stats.Exercised |= faults.Revocations
	first := -1
	for i := q.head; i < q.posted; i++ {
		if s := q.ent(i); s.local == 0 && s.nak == 0 && hit(s) {
			first = i
			break
		}
	}
	if first >= 0 {
		q.asks(isRNR) // from now on it is refused, or nobody answers
	}
	hitElem := func(e *elem) bool { return hit(q.ent(e.wr)) } // another key of the same memory stays valid
	live := q.h.alive && q.sends() && !q.gone
	drain := w.cfg.Profile.DrainOnRevoke
	if w.cfg.Eager {
		w.cutoffEager(q, hit, nak)
		return
	}
	if live && first >= 0 {
		known := q.lastCame() + 1
		least, reach := q.seenAt(first), q.reach()
		opts := max(min(reach, q.posted), least) - least + 1
		n := least + w.choose(ChooseCutoff, opts, func(i int) string { return q.name() + " #" + itoa(least+i) })
		w.arrive(q, n)
		over := w.overtakers(q, n)
		done := w.unexecuted(q, first, w.unread(q, first, n), n, hit)
		stop := unlimited
		if nak != 0 {
			for i := done; i < q.posted; i++ {
				if s := q.ent(i); hit(s) {
					s.refuse(nak)
					stop = i
					break
				}
			}
		}
		q.limit = limitAfter(q, done, nak)
		if n < q.posted && hit(q.ent(n)) && !slices.ContainsFunc(q.ent(n).payload, (*elem).cutOff) {
			w.incomplete(q, n)
		}
		for i := 0; i < len(q.elems); i++ {
			e := q.elems[i]
			switch {
			case e.wr >= max(n, reach) && !e.acked && (e.wr >= stop || hitElem(e)) && !e.cutOff():
				w.discard(e) // it cannot have come
				i = -1
			case e.wr > n && !e.acked && hitElem(e) && drain && slices.Contains(over, e):
				if w.freeze(e); e.landed {
					i = -1
				}
			case e.wr > n && !e.acked && (e.wr >= stop || hitElem(e)) && slices.Contains(over, e):
				e.could = true
			case e.wr > n && !e.acked && (e.wr >= stop || hitElem(e)) && !(w.gaps() && e.cutOff()):
				w.discard(e)
				i = -1
			case e.wr == n && !e.acked && hitElem(e) && e.responds():
				w.discard(e)
				i = -1
			case e.wr == n && !e.acked && hitElem(e) && !drain && w.withMates(e) == fateLost:
				w.discard(e)
				i = -1
			case e.wr == n && !e.acked && hitElem(e) && !drain:
				e.could = true // what has come of it may land later
			case e.wr == n && !e.acked && hitElem(e):
				w.freeze(e)
				if e.landed {
					i = -1
				}
			}
		}
		w.execute(q, n, done, hitElem) // it can find nothing that has not arrived
		if done < n && !q.ent(done).came {
			w.unreceived(q, done, known, n)
		}
	}
	reach := q.reach()
	for i := reach; i < q.posted && !live; i++ {
		if hit(q.ent(i)) {
			q.limit = min(q.limit, i) // it has not come by now, nor will it or what is behind it be executed
			break
		}
	}
	if !live {
		w.executedByNow(q, hitElem)
	}
	for i := 0; i < len(q.elems); i++ {
		e := q.elems[i]
		if !hitElem(e) || e.reg == nil {
			continue
		}
		switch {
		case !live && e.wr >= reach && !e.acked && !e.frozen && !e.could:
			w.discard(e) // it has not come by now: its receive was never there
			i = -1
		case e.acked && drain:
			w.land(e)
			i = -1
		case !e.acked && !live && drain && !e.frozen:
			w.freeze(e)
			if e.landed {
				i = -1
			}
		}
	}
	w.settleRivals(q)
}

// executedByNow decides which Atomics of a requester that has ended were executed before a
// revocation. With DrainOnRevoke the others have not come; without it they are not executed any
// more, nor what had to wait for them. What stands alone is left open.
func (w *World) executedByNow(q *qp, hit func(*elem) bool) {
	for i := 0; i < len(q.elems); i++ {
		e := q.elems[i]
		switch {
		case e.kind != elemAtomic || !hit(e) || e.frozen || e.acked || e.could || !w.canLand(e):
			continue
		case len(q.elems) == 1:
			w.freeze(e)
			continue
		case w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + executedNames[i] }) == 1:
			w.arrive(q, e.wr)
			w.land(e)
		case w.cfg.Profile.DrainOnRevoke:
			w.neverCame(e)
		default:
			w.dropAfter(e)
			w.discard(e)
		}
		i = -1
	}
}

// sends reports whether the queue pair is a requester.
func (q *qp) sends() bool { return q.state == verbs.StateRTS || q.state == verbs.StateSQD }

// refuse makes the responder refuse s. A Send is refused because of its receive. The access
// of the queue pair is checked first.
func (s *sqEntry) refuse(nak verbs.Status) {
	if s.nak == verbs.StatusRemInvReqErr {
		return
	}
	s.nak = nak
	if s.op == verbs.OpSend || s.op == verbs.OpSendImm {
		s.nak, s.recvErr = verbs.StatusRemOpErr, verbs.StatusLocProtErr
	}
}

// unexecuted decides which was the first Read or Atomic that the card had taken and not
// executed, if what stands behind it had been taken as well: that is done nevertheless.
// Where nothing stands behind, it is as if the card had not taken it.
func (w *World) unexecuted(q *qp, first, done, n int, hit func(*sqEntry) bool) int {
	at := []int{done}
	behind := false
	for i := n - 1; i >= first; i-- {
		s := q.ent(i)
		waits := s.op == verbs.OpRead || s.op.Responds() && !w.cfg.Profile.DrainOnRevoke
		if waits && behind && i < done && hit(s) && slices.ContainsFunc(s.payload, func(e *elem) bool { return !e.landed }) {
			at = append(at, i)
		}
		behind = behind || s.op != verbs.OpRead
	}
	i := w.choose(ChooseCutoff, len(at), func(i int) string { return q.name() + " executed to #" + itoa(at[i]) })
	if i > 0 {
		q.ent(at[i]).came = false // it was not taken
	}
	return at[i]
}

// execute makes the Reads and Atomics before request n take place now, if the card had
// come to them: after a revocation it could not. Reads from request done on it does not
// execute, nor what had to wait for them; with DrainOnRevoke it does all else that it took,
// without it may have come to the Atomics.
func (w *World) execute(q *qp, n, done int, hit func(*elem) bool) {
	drains := func(e *elem) bool { return e.kind != elemSample && w.cfg.Profile.DrainOnRevoke }
	for i := 0; i < len(q.elems); i++ {
		if e := q.elems[i]; e.wr >= done && e.wr < n && hit(e) && e.responds() && !drains(e) {
			if e.kind == elemAtomic && e.wr > done && w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + executedNames[i] }) == 1 {
				w.land(e)
			} else {
				w.dropAfter(e)
				w.discard(e)
			}
			i = -1
		}
	}
	for i := 0; i < len(q.elems); i++ {
		if e := q.elems[i]; hit(e) && (e.wr < done && (e.responds() || w.flushes(e)) || e.wr < n && e.responds() && drains(e)) {
			w.land(e)
			i = -1
		}
	}
}

var executedNames = [...]string{" not executed", " executed"}

// unreceived decides of which request on the receive had not completed, although those before n
// had arrived, for the card stopped at request done: a receive completes when all before it is in
// memory. Those before known have completed for certain.
func (w *World) unreceived(q *qp, done, known, n int) {
	at := []int{n}
	for i := done; i < n; i++ {
		s := q.ent(i)
		if slices.ContainsFunc(s.payload, func(e *elem) bool { return e.changes() && e.void && !e.unknown }) {
			at = []int{max(i, known)} // this never comes into memory
			break
		}
		if i >= known && s.op.ConsumesRecv() && !s.recv && s.local == verbs.StatusSuccess && s.nak == verbs.StatusSuccess {
			at = append(at, i)
		}
	}
	for i := at[w.choose(ChooseCutoff, len(at), func(i int) string { return q.name() + " received to #" + itoa(at[i]) })]; i < n; i++ {
		q.ent(i).came = false
	}
}

// lastCame is the last request that has arrived for certain, or the one before all.
func (q *qp) lastCame() int {
	i := q.posted - 1
	for i >= q.base && !q.ent(i).came {
		i--
	}
	return i
}

// seenAt is the first request from i on of which nothing shows that it has arrived
// whole: what has landed has arrived, and what is before it unless there may be gaps.
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

// cutOff reports whether e's request cannot succeed any more, although it may have come.
func (e *elem) cutOff() bool { return !e.landed && (e.frozen || e.could) }

// overtook reports whether e came to a machine that is up, if it did, before what its
// responder refused.
func (e *elem) overtook() bool { return e.could && e.q.cpu == nil && e.reg != nil && e.reg.h.alive }

// seen reports whether e has landed.
func (e *elem) seen() bool { return e.landed && !e.void }

// cameWith reports whether e has arrived because a piece of its message has landed that
// came with it or later.
func (w *World) cameWith(e *elem, pieces []*elem) bool {
	return !e.landed && w.whole(e) && slices.ContainsFunc(pieces, func(x *elem) bool { return x.seen() && w.with(e, x) })
}

// overtakers are the elements that may have arrived although request n before them has not.
func (w *World) overtakers(q *qp, n int) (out []*elem) {
	if !w.gaps() {
		return nil
	}
	reach := q.reach()
	for i, e := range q.elems {
		if e.wr > n && e.wr < reach && !e.acked && !slices.ContainsFunc(q.elems[:i], func(p *elem) bool {
			return p.wr >= n && p.precedes(e) && !w.overtakes(e, p) && !slices.Contains(out, p)
		}) {
			out = append(out, e)
		}
	}
	return out
}

// incomplete chooses a piece that has not arrived, for request n of q would have succeeded
// otherwise, and drops it: the last one of n, unless there may be gaps.
func (w *World) incomplete(q *qp, n int) {
	var of []*elem
	for _, e := range q.elems {
		if (e.wr == n || e.wr < n && e.kind == elemWrite && w.gaps()) && (e.wr < q.first) == (n < q.first) && !e.acked {
			of = append(of, e)
		}
	}
	if len(of) == 0 {
		return
	}
	if !w.gaps() {
		of = of[len(of)-1:]
	}
	missing := of[w.choose(ChooseCutoff, len(of), func(i int) string { return of[i].name() + " is missing" })]
	for i := 0; i < len(q.elems) && w.gaps(); i++ {
		if e := q.elems[i]; missing.precedes(e) && !e.acked && !w.overtakes(e, missing) {
			w.discard(e)
			i = -1
		}
	}
	w.discard(missing)
}

func limitAfter(q *qp, n int, nak verbs.Status) int {
	if nak != 0 {
		return q.limit // the NAK itself stops what follows
	}
	return min(q.limit, n)
}

// arrive marks work requests up to n as received by the responder's card.
func (w *World) arrive(q *qp, n int) {
	for i := max(q.head, q.base); i < n; i++ {
		s := q.ent(i)
		s.came = s.came || i < q.limit && (s.nak == verbs.StatusSuccess || s.recvErr != verbs.StatusSuccess)
	}
	for _, e := range q.elems {
		if e.wr < n && (e.wr < q.first) == (n <= q.first) && !e.acked {
			w.ticks++
			e.acked, e.ackAt = true, w.ticks
			w.fetch(e)
		}
	}
}
