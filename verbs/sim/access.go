package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The access flags of the responder's queue pair. A revoked key stays revoked, but flags
// may change, and change back, between a post and the execution of the request. Only the
// flags at the execution count (the semantics note, section 5).

// checkAccess checks a request that is posted to q's peer against the current flags.
func (q *qp) checkAccess(s *sqEntry) {
	if p := q.peer; p != nil && s.need&^p.access != 0 {
		s.nak, s.early = verbs.StatusRemInvReqErr, true
	}
}

// forbid refuses each request that executes without the access that it needs, from now until the access
// is granted again. How far the card has got is decided now, whether or not the requester is alive: a
// request that has not arrived may arrive after a grant. Modify has established that none was refused.
func (q *qp) forbid(access verbs.Access) {
	p, w := q.peer, q.w
	if p == nil {
		return
	}
	hit := func(s *sqEntry) bool { return s.need&^access != 0 && !s.early }
	p.touchElems()
	w.stats.Exercised |= faults.Revocations
	for all := sweep(&p.elems); all.next(); {
		e := all.e
		if hit(p.ent(e.wr)) && e.reg != nil && (e.hasRead() || e.acked && e.kind != elemSample && w.cfg.Profile.DrainOnRevoke) {
			w.land(e) // it was admitted
			all.again()
		}
	}
	n, overtakers := w.machine.denies(p, hit)
	for i := p.oldest(); i < p.posted; i++ {
		s := p.ent(i)
		if hit(s) && !s.came && p.mayCome(i) && (s.nak == verbs.StatusRemAccessErr || s.nak == verbs.StatusSuccess && i >= n) {
			s.nak, s.early = verbs.StatusRemInvReqErr, true
		}
	}
	for _, e := range overtakers {
		if e.over() || w.heldBack(e) {
			continue
		}
		if p.ent(e.wr).need&^access != 0 {
			w.leaveOpen(e)
		} else if e.isDenied() {
			e.could = true // it may have arrived before the refused request, and be placed after it
		}
	}
	w.notExecuted(p)
	if p.catching {
		w.caughtUp(p)
	}
	w.machine.settleRivals(p)
}

func (m *late) denies(q *qp, hit func(*sqEntry) bool) (first int, overtakers []*elem) {
	if !q.awaits(hit) {
		return q.posted, nil
	}
	q.asks(isRNR) // from now on the request is refused, or not answered
	overtakers = m.w.catchUp(q)
	for _, e := range q.elems {
		e.came = e.came && !m.w.heldBack(e) // it waits for a request that was not executed
	}
	return m.w.tookBefore(q, hit), overtakers
}

// awaits reports whether a request that hit accepts may still be executed. A responder
// in ERR has already decided which were executed.
func (q *qp) awaits(hit func(*sqEntry) bool) bool {
	if p := q.peer; p != nil && p.state == verbs.StateErr {
		return false
	}
	for i := q.oldest(); i < q.posted; i++ {
		if s := q.ent(i); s.local == verbs.StatusSuccess && s.nak == verbs.StatusSuccess && hit(s) && !q.neverLeaves(i) {
			return true
		}
	}
	return false
}

// neverLeaves reports whether request i stays in the send queue: its queue pair is in ERR, was cut off before
// i, and has nothing of i in flight. A request that is posted in ERR has no key, and counts as one of these.
func (q *qp) neverLeaves(i int) bool {
	return q.state == verbs.StateErr && i >= q.limit && !q.ent(i).early && !slices.ContainsFunc(q.elems, func(e *elem) bool { return e.wr == i })
}

// oldest returns the first request that may not have arrived yet. Requests of a
// terminated requester complete in any case.
func (q *qp) oldest() int {
	if q.live() {
		return q.head
	}
	return q.base
}

// notExecuted undoes the arrival of forbidden requests, and of those behind them, that have not
// executed: the execution counts, not the arrival. Pieces of Writes are placed in any case.
func (w *World) notExecuted(q *qp) {
	q.comesAgain()
	for _, e := range q.elems {
		if e.isDenied() && e.kind != elemWrite {
			e.came = false
		}
	}
}

// comesAgain notes which arrivals so far do not show that a denied Atomic in front of them has arrived.
func (q *qp) comesAgain() {
	denied := unlimited
	for _, e := range q.elems {
		if e.responds() && e.isDenied() {
			denied = min(denied, e.wr)
		}
	}
	for i := denied + 1; i < q.posted; i++ {
		for _, x := range q.ent(i).payload {
			x.past = x.past || x.seen() || !x.over() && (x.came || !q.live() && q.w.mayCome(x))
		}
	}
}

// denyNoMore clears the denial of requests that a reset wiped: they will not arrive again.
func (q *qp) denyNoMore() {
	for i := q.base; i < q.posted; i++ {
		if s := q.ent(i); s.early && !q.stands(i) {
			s.early, s.nak = false, verbs.StatusSuccess
		}
	}
}

// passed reports whether it matters that e has overtaken an Atomic: only while the Atomic is pending.
func (e *elem) passed() bool {
	return e.past && slices.ContainsFunc(e.q.elems, func(p *elem) bool { return p.kind == elemAtomic && p.precedes(e) })
}

// grant admits the requests that the access flags forbade until now. They have not
// arrived yet: had one been refused, q would be in ERR, and Modify has looked.
func (q *qp) grant() {
	p := q.peer
	if p == nil {
		return
	}
	p.comesAgain()
	first := p.posted
	for i := p.base; i < p.posted; i++ {
		s := p.ent(i)
		if !s.early || p.gone && s.came || s.need&^q.access != 0 || !p.stands(i) { // one of a terminated requester may have been refused
			continue
		}
		first = min(first, i)
		s.early, s.nak = false, verbs.StatusSuccess
		if s.keyless || s.revoked() {
			s.refuse(verbs.StatusRemAccessErr)
			if !p.live() {
				p.limit = min(p.limit, i)
			}
		}
	}
	for _, e := range p.elems {
		if e.wr >= first && e.wr < p.reach() && e.cutOff() {
			e.could, e.frozen = false, false // an earlier arrival has the same effect as one now
		}
	}
}

// notYet decides that e had not arrived when its queue pair was denied access, and neither
// had elements that arrive with it or later. All of them may arrive after a grant.
func (w *World) notYet(e *elem) {
	w.touchElem(e)
	e.could, e.frozen = false, false
	for _, x := range e.q.elems {
		if x.cutOff() && (w.before(e, x) || w.with(e, x)) {
			w.notYet(x)
		}
	}
}

// isDenied reports whether e is at or behind a request that the responder's access flags forbid now.
func (e *elem) isDenied() bool {
	return !e.byCPU() && e.wr >= min(e.q.forbidden(), e.q.denied())
}

// forbidden returns the first request of q that its peer's access flags forbid. A card
// that had executed it would be in ERR.
func (q *qp) forbidden() int {
	for i := q.head; i < q.posted; i++ {
		if q.ent(i).early {
			return i
		}
	}
	return unlimited
}

// denied returns the first request of a terminated requester, or of an earlier
// connection, that is still in flight and that its peer's access flags forbid.
func (q *qp) denied() int {
	for i := q.base; i < q.posted; i++ {
		if q.ent(i).early && q.stands(i) {
			return i
		}
	}
	return unlimited
}

// mayCome reports whether request i can still arrive: it belongs to the current
// connection, or was in flight at a reset.
func (q *qp) mayCome(i int) bool {
	return i >= q.first || slices.ContainsFunc(q.elems, func(e *elem) bool { return e.wr == i })
}

// stands reports whether the denial of request i still matters: the request may arrive,
// or one behind it on the same connection may, such as a message without data.
func (q *qp) stands(i int) bool {
	if q.mayCome(i) {
		return true
	}
	for j := i + 1; j < q.first; j++ {
		if s := q.ent(j); q.connection(j) == q.connection(i) && (q.mayCome(j) || s.op.ConsumesRecv() && !s.recv) {
			return true
		}
	}
	return false
}

// leftDenied reports whether e belongs to an earlier connection, at or behind a denied request.
func (e *elem) leftDenied() bool { return e.wr < e.q.first && e.wr >= e.q.denied() }

// revoked reports whether the key of s is revoked: no grant restores it.
func (s *sqEntry) revoked() bool { return s.mr != nil && s.mr.gone }
