package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// How a queue pair fails before a poll returns the completion that reports the failure. When a
// request fails, a card takes the queue pair to ERR at once, and the responder's as well if the
// responder refused the request: receives are flushed, incoming requests are dropped, and State
// returns ERR. In eager mode this is part of the step of an acknowledgement. In late mode
// completions are decided when they are polled, and so is the failure, with two exceptions:
//
// - Code looks at one of the two queue pairs directly (State, Modify), or does something that makes
//     the failure impossible (posts a receive for a Send that found none, heals a link, stops the requester).
//     Whether the queue pair has failed by now is then a choice within that step.
// - Others would notice without such a look: a receive is flushed, or a request in flight to one of the two
//     queue pairs is dropped. Then the failure is an event of its own.
//
// All other effects of a failure concern requests that the queue pair itself has posted.
// Whether they were executed is decided with their completions, not before.

// canFail reports whether q's requester can have failed without a step, and is not failing just now.
func (q *qp) canFail() bool {
	return q.buffer == nil && !q.gone && !q.refusedBy && q.h.alive && q.sends() && q.head < q.posted && q.w.machine.failsUnseen()
}

// failures appends the failures that may come next, whatever succeeds before them. whole reports
// whether all outstanding requests may succeed as well, with a completion that reports it.
func (q *qp) failures(o []outcome) (out []outcome, whole bool) {
	if !q.canFail() {
		return o, false
	}
	o, to := q.ways(o, true)
	return o, to > q.head && to == q.outstanding() && q.ent(to-1).signaled
}

// takesPeer reports whether a failure with status s takes the responder's queue pair to ERR as well.
func takesPeer(s verbs.Status) bool {
	return s == verbs.StatusRemAccessErr || s == verbs.StatusRemInvReqErr || s == verbs.StatusRemOpErr
}

func anything(verbs.Status) bool    { return true }
func nothing(verbs.Status) bool     { return false }
func isSuccess(s verbs.Status) bool { return s == verbs.StatusSuccess }
func isRNR(s verbs.Status) bool     { return s == verbs.StatusRNRRetryExcErr }
func isRetry(s verbs.Status) bool   { return s == verbs.StatusRetryExcErr }
func (q *qp) receives() bool        { return q != nil && !q.gone && q.h.alive && len(q.rq) > 0 }
func (q *qp) underWay() bool {
	return q != nil && !q.gone && q.h.alive && q.sends() && q.head < q.posted
}

// noticed returns the failures that others would notice at once.
func (q *qp) noticed(o []outcome) (out []outcome, whole bool) {
	p := q.peer
	own := q.receives() || p.underWay() || q.mendedFirst() >= 0 || q.cfg.PSN != 0 && q.head < q.posted // in the last case its packets may reach the next connection
	theirs := p.receives() && p.state != verbs.StateErr
	if !own && !theirs {
		return o, false
	}
	o, whole = q.failures(o)
	if !own && !slices.ContainsFunc(o, func(x outcome) bool { return takesPeer(x.status) }) {
		return o[:0], false
	}
	return o, whole && len(o) > 0 // a failure that the peer does not notice may prevent one that it would notice
}

func only(o []outcome, hit func(verbs.Status) bool) []outcome {
	n := 0
	for _, x := range o {
		if hit(x.status) {
			o[n] = x
			n++
		}
	}
	return o[:n]
}

// enabledFailures lists the queue pairs whose failure is an event.
func (w *World) enabledFailures() {
	for _, q := range w.qps {
		if q.failsUnheard() {
			w.events = append(w.events, Event{Actor: q.failActor(), a: q.h.node.idx, qp: q})
		}
	}
}

// failsUnheard reports whether others would notice, without a poll of its completions,
// that q fails or loses a request.
func (q *qp) failsUnheard() bool {
	if q.vanishing() >= 0 || q.unfitUntold() >= 0 {
		return true
	}
	var buf [8]outcome
	o, _ := q.noticed(buf[:0])
	return len(o) > 0
}

func (q *qp) failActor() Actor { return actor(actFail, q.h.life, q.h.node.idx, int(q.num)) }

// stepFail makes the failure event of q happen: q fails, loses a request, or succeeds
// with everything that it has posted, as if all acknowledgements had arrived.
func (w *World) stepFail(ev Event) {
	q := ev.qp
	if ev.quiet && (!q.failsUnheard() || w.choose(ChooseCutoff, 2, func(k int) string { return q.name() + quietNames[k] }) == 1) {
		q.quiets(q.outstanding() - 1)
		return
	}
	if i := q.unfitUntold(); i >= 0 && (q.vanishing() < 0 ||
		w.choose(ChooseCutoff, 2, func(k int) string { return q.name() + "#" + itoa(i) + receivedNames[k] }) == 1) {
		q.peer.misfits(i)
		return
	}
	if i := q.vanishing(); i >= 0 {
		w.missed(q, i, q.reach())
		q.forsaken = q.canFail() && !q.broken
		return
	}
	o, whole := q.noticed(nil)
	mends, fails := q.mendedFirst(), q.unfit(o)
	i := w.choose(ChooseCutoff, len(o)+boolInt(whole || mends >= 0)+boolInt(fails >= 0), func(i int) string {
		switch {
		case i < len(o):
			return o[i].name()
		case i == len(o) && (whole || mends >= 0):
			return q.name() + " succeeds"
		}
		return q.name() + "#" + itoa(fails) + receivedNames[1]
	})
	switch {
	case i < len(o):
		q.completeTo(o[i])
		return
	case i > len(o) || !whole && mends < 0:
		q.peer.misfits(fails)
		return
	case mends >= 0:
		w.mendFor(q.ent(mends)) // no host learns it
		return
	}
	q.completeTo(outcome{q: q, wr: q.outstanding() - 1, status: verbs.StatusSuccess})
}

// vanishing returns the request of q that takes the next receive at the peer, if it is not sent again and may
// never have arrived, or -1. Its loss is an event, because a task that waits for the receive then keeps waiting.
func (q *qp) vanishing() int {
	p := q.peer
	if q.buffer != nil || p == nil || !q.w.machine.failsUnseen() || p.peer != q || p.gone || !p.h.alive || p.state == verbs.StateErr ||
		q.h.alive && !q.gone && q.sends() && !q.broken && !q.cutForGood() {
		return -1
	}
	i := p.nextIncoming()
	if i < 0 || q.ent(i).came || q.seenAt(i) > i || q.accepted(i) {
		return -1
	}
	return i
}

// accepted reports whether the responder's card certainly has all of request i and of everything before it.
func (q *qp) accepted(i int) bool {
	pieces := q.ent(i).payload
	return len(pieces) > 0 && !slices.ContainsFunc(pieces, func(e *elem) bool { return !e.acked && !e.seen() }) &&
		!slices.ContainsFunc(q.elems, func(e *elem) bool { return e.wr <= i && q.connection(e.wr) == q.connection(i) && !e.acked })
}

// cutForGood reports whether the link is cut and will not heal. A gate may forbid the healing forever.
func (q *qp) cutForGood() bool {
	forbidden := q.w.cfg.Gate != nil && !q.w.cfg.Gate(faults.Partition, true)
	return slices.ContainsFunc(q.w.cuts, func(c linkState) bool { return (!c.heals || forbidden) && q.between(c.a, c.b) })
}

// asks decides whether q has failed by now with a failure that hit accepts.
func (q *qp) asks(hit func(verbs.Status) bool) bool { return q.failsBy(hit, false) }

// failsBy is like asks. If certain is set, q has failed with one of these failures, if any is possible.
func (q *qp) failsBy(hit func(verbs.Status) bool, certain bool) bool {
	w := q.w
	if !q.canFail() {
		return false
	}
	q.touch(Write)
	var buf [8]outcome
	o, _ := q.failures(buf[:0])
	o = only(o, hit)
	if len(o) == 0 {
		return false
	}
	may := boolInt(!certain)
	i := w.choose(ChooseCutoff, len(o)+may, func(i int) string {
		if i < may {
			return q.name() + " has not failed"
		}
		return o[i-may].name()
	})
	if i < may {
		return false
	}
	q.touchElems()
	q.completeTo(o[i-may])
	return true
}

// looked decides whether q is in ERR by now, because code looks at its state: it failed
// because of its own requests, or because it refused one of its peer's.
func (q *qp) looked() {
	if q.gone || q.asks(anything) {
		return
	}
	q.refuses()
}

// misfit returns the first request of the peer that meets a receive and does not fit it, or -1.
func (q *qp) misfit() int {
	if q.state == verbs.StateErr || q.nextIncoming() < 0 {
		return -1
	}
	p := q.peer
	i := p.reach()
	if i >= min(p.posted, p.limit, p.cutAt, p.held) || p.ent(i).recvErr == verbs.StatusSuccess {
		return -1
	}
	for j := max(q.recvNext, p.base); j < i; j++ {
		if p.ent(j).unexecuted() {
			return -1
		}
	}
	return i
}

// unfit returns the request of q among o that takes the peer to ERR before q is
// notified, because it does not fit its receive, or -1.
func (q *qp) unfit(o []outcome) int {
	p := q.peer
	if p == nil {
		return -1
	}
	i := p.misfit()
	if i >= 0 && !slices.ContainsFunc(o, func(x outcome) bool { return x.wr == i && takesPeer(x.status) }) {
		return -1
	}
	return i
}

// unfitUntold returns the request of q that takes the peer to ERR although q is not, or not certainly,
// notified, or -1. Only the peer's own requests are then flushed. It is -1 too if the peer has one CQ
// for both sides: there the failed receive comes first, and its completion decides the failure.
func (q *qp) unfitUntold() int {
	p := q.peer
	if q.buffer != nil || !q.w.machine.failsUnseen() || !p.underWay() || p.peer != q || p.sendCQ == p.recvCQ || q.canFail() && q.vanishing() < 0 {
		return -1
	}
	return p.misfit()
}

// misfits takes q to ERR because of request i of its peer. The peer is notified unless q's host dies first.
func (q *qp) misfits(i int) {
	q.touchElems()
	q.w.arrive(q.peer, i+1)
	q.peer.ent(i).came = true // even if the peer has been RESET since
	q.w.departed(q.peer, i)
	q.receiveFailed(i, isSuccess)
	q.misfitted = true
}

// refuses decides whether q has refused a request of its peer by now, and so taken both queue pairs to ERR.
func (q *qp) refuses() {
	p := q.peer
	if p == nil || q.state == verbs.StateErr {
		return
	}
	if p.canFail() {
		p.asks(takesPeer)
		return
	}
	// If the peer is not notified of anything more, only a request that meets a receive counts: see receiveFailed.
	if i := q.misfit(); i >= 0 && q.w.machine.failsUnseen() &&
		q.w.choose(ChooseCutoff, 2, func(k int) string { return p.name() + "#" + itoa(i) + receivedNames[k] }) == 1 {
		q.misfits(i)
	}
}

// leaves decides whether the peer had refused a request of q before q stops. If so, the
// peer is in ERR; if not, it never will be for that reason.
func (q *qp) leaves() {
	if p := q.peer; p != nil && !p.gone && p.h.alive && p.state != verbs.StateErr {
		q.asks(takesPeer)
	}
}

// completeTo makes o and all successes before it happen. Their completions then wait in the CQ.
func (q *qp) completeTo(o outcome) {
	for q.state != verbs.StateErr && q.head <= o.wr {
		next := o
		for i := q.head; i < o.wr; i++ {
			if q.ent(i).signaled {
				next = outcome{q: q, wr: i, status: verbs.StatusSuccess}
				break
			}
		}
		q.decided(next)
	}
}
