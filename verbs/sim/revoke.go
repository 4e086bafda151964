package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Revocation: a key, a registration or a queue pair is revoked, and the card stops taking requests
// that need it (the semantics note, section 5).

// cutoff stops those requests that arrive at a card from now on and that hit accepts.
func (w *World) cutoff(hit func(*sqEntry) bool, c *card) {
	for _, q := range w.qps {
		if (q.state >= verbs.StateRTR || q.linked && len(q.elems) > 0) && q.remoteNode() == c.h.node.idx && q.remoteLife() == c.h.life {
			w.cutoffQP(q, hit, verbs.StatusRemAccessErr)
		}
	}
}

// cutoffQP decides how far q's requests had got when the responder stopped taking those that
// hit accepts. A live requester learns it from a NAK, so it is decided now. No host learns
// it if the requester is dead, so then its elements stay pending as landed before now or
// never. Without DrainOnRevoke, elements that the card had accepted may still land later.
func (w *World) cutoffQP(q *qp, hit func(*sqEntry) bool, nak verbs.Status) {
	q.touchElems()
	w.stats.Exercised |= faults.Revocations
	awaits := q.awaits(hit)
	if awaits {
		q.asks(isRNR) // from now on the request is refused, or not answered
	}
	w.machine.cutoff(q, hit, nak, awaits)
}

func (m *late) cutoff(q *qp, hit func(*sqEntry) bool, nak verbs.Status, awaits bool) {
	w := m.w
	hitElem := func(e *elem) bool { return hit(q.ent(e.wr)) } // another key of the same memory stays valid
	live := q.live()
	drain := w.cfg.Profile.DrainOnRevoke
	if (live || nak != 0) && awaits {
		overtakers := w.catchUp(q)
		for _, e := range overtakers {
			if hitElem(e) {
				w.leaveOpen(e)
			}
		}
		w.cutoffKnown(q, hit, nak)
		w.caughtUp(q)
		for _, e := range overtakers {
			if !e.over() && !e.cutOff() && e.wr >= q.reach() {
				e.could = true // it may have arrived before the refused request
			}
		}
		m.settleRivals(q)
		return
	}
	reach := max(q.reach(), q.since) // requests on an old connection do not bound what arrives on this one
	for i := reach; i < q.posted && !live; i++ {
		if s := q.ent(i); hit(s) && !s.wasRefused() {
			q.limit = min(q.limit, i) // it has not arrived by now, so neither it nor any request behind it will be executed
			break
		}
	}
	if !live {
		q.undecide()
		w.executedByNow(q, hitElem)
	}
	for all := sweep(&q.elems); all.next(); {
		e := all.e
		if !hitElem(e) || e.reg == nil {
			continue
		}
		switch {
		case !live && e.wr >= reach && !e.acked && !e.frozen && !e.could:
			w.discard(e) // it has not arrived by now: its receive never existed
			all.again()
		case e.acked && drain:
			if w.land(e); e.over() { // unless it is landing just now
				all.again()
			}
		case !e.acked && !live && drain && !e.frozen:
			w.freeze(e)
			if e.over() {
				all.again()
			}
		}
	}
	m.settleRivals(q)
}

// wasRefused reports whether s has arrived and its responder went to ERR because of it: nothing stops it again.
func (s *sqEntry) wasRefused() bool { return s.came && s.nak != verbs.StatusSuccess }

// executedByNow decides which Atomics of a terminated requester were executed before a revocation. With
// DrainOnRevoke the others have not arrived. Without it they are not executed later, and neither is anything that
// had to wait for them. An Atomic that is alone is left open. One that unreadable memory refuses was not executed.
func (w *World) executedByNow(q *qp, hit func(*elem) bool) {
	for all := sweep(&q.elems); all.next(); {
		e := all.e
		if e.kind != elemAtomic || !hit(e) || e.frozen || e.acked || e.could {
			continue
		}
		w.mend(e.reg, e.off, e.n)
		can := w.canLand(e)
		switch {
		case !can && !w.refused(e):
			continue
		case can && w.cfg.Profile.DrainOnRevoke && w.hasCome(e):
			w.arrive(q, e.wr+1)
			w.land(e)
		case can && len(q.elems) == 1:
			w.freeze(e)
			continue
		case can && w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + executedNames[i] }) == 1:
			w.arrive(q, e.wr)
			w.land(e)
		case w.cfg.Profile.DrainOnRevoke:
			w.neverCame(e)
		default:
			w.dropAfter(e)
			w.discard(e)
		}
		all.again()
	}
}

// cameWith reports whether e has arrived because a piece of its message that arrived with it or later has landed.
func (w *World) cameWith(e *elem, pieces []*elem) bool {
	return !e.over() && e.arrives() && slices.ContainsFunc(pieces, func(x *elem) bool { return x.seen() && w.with(e, x) })
}

// incomplete chooses a piece that has not arrived, since request n of q would have
// succeeded otherwise, and drops it. It is the last piece of n, unless there may be gaps.
func (w *World) incomplete(q *qp, n int) {
	var of []*elem
	for _, e := range q.elems {
		if (e.wr == n || e.wr < n && e.kind == elemWrite && w.gaps()) && q.connection(e.wr) == q.connection(n) && !e.acked {
			of = append(of, e)
		}
	}
	if len(of) == 0 {
		return
	}
	if !w.gaps() {
		of = of[len(of)-1:]
	}
	empty := w.gaps() && !slices.ContainsFunc(of, func(e *elem) bool { return e.wr == n }) // n itself may be missing
	k := w.choose(ChooseCutoff, len(of)+boolInt(empty), func(i int) string {
		if i == len(of) {
			return q.name() + "#" + itoa(n) + " is missing"
		}
		return of[i].name() + " is missing"
	})
	if k == len(of) {
		return
	}
	missing := of[k]
	q.limit = min(q.limit, missing.wr)
	for all := sweep(&q.elems); all.next() && w.gaps(); {
		if e := all.e; missing.precedes(e) && !e.acked && !w.overtakes(e, missing) {
			w.discard(e)
			all.again()
		}
	}
	w.discard(missing)
}

func limitAfter(q *qp, n int, nak verbs.Status) int {
	if nak != 0 {
		return q.limit // the NAK itself stops the requests behind it
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
		if e.wr < n && q.connection(e.wr) == q.connection(n-1) && !e.acked {
			w.ticks++
			e.acked, e.ackAt = true, w.ticks
			w.fetch(e)
		}
	}
}
