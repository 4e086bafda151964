package sim

import "slices"

// What a revocation refuses depends on how far the card had got: which requests had arrived,
// and which of the Reads and Atomics among them had executed. In eager mode, earlier steps have
// decided this. In late mode it is decided at the revocation, by the rules of those steps; from
// there on both modes are the same. Where arrived data has been placed stays undecided.

// catchUp decides which of q's requests had arrived and which had executed, because a live requester
// learns it. It returns the elements behind the first missing one that may have overtaken it. Whether they
// did stays undecided, because no host learns it. Everything before the first missing one has arrived.
func (w *World) catchUp(q *qp) (overtakers []*elem) {
	q.undecide()
	reach := q.reach()
	var missing []*elem
	for _, e := range slices.Clone(q.elems) {
		mayCome := func() bool {
			return e.wr < reach && !slices.ContainsFunc(missing, func(p *elem) bool { return !w.overtakes(e, p) || w.packet(p, e) })
		}
		switch {
		case e.over() || e.cutOff():
		case !w.hasCome(e) && w.neverLeaves(e):
			missing = append(missing, e)
		case !w.hasCome(e) && len(missing) > 0 && mayCome():
			overtakers = append(overtakers, e)
		case w.hasCome(e) || mayCome() && w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + cameNames[1-i] }) == 1:
			w.letGo(e)
			w.comes(e)
		default:
			missing = append(missing, e)
		}
	}
	q.catching = true // requests that execute find only those that have arrived
	w.catchUpExecuted(q)
	w.catchUpReceived(q)
	return overtakers
}

// letGo executes the Reads and Atomics whose responses e waited for, because e has left.
func (w *World) letGo(e *elem) {
	if !w.heldBack(e) {
		return
	}
	q := e.q
	q.catching = true // they find only requests that have arrived
	for all := sweep(&q.elems); all.next(); {
		if p := all.e; w.holdsBack(p, e) {
			w.land(p)
			all.again()
		}
	}
	q.catching = false
}

// neverLeaves reports whether e waits for the response to a request that unreadable memory refuses.
func (w *World) neverLeaves(e *elem) bool {
	return slices.ContainsFunc(e.q.elems, func(p *elem) bool { return w.holdsBack(p, e) && w.poisoned(e.q.ent(p.wr)) })
}

// undecide reopens Atomics that had arrived, but not executed, at the previous call of
// catchUp: when they execute is open again, because no host has learned it.
func (q *qp) undecide() {
	for _, e := range q.elems {
		if e.kind == elemAtomic && e.acked && !e.over() && e.ackAt == unlimited {
			e.acked, e.came = false, true
		}
	}
}

// leaveOpen handles an overtaker that a revocation hits: it has arrived by now or never
// will. With DrainOnRevoke, everything that has arrived is in memory.
func (w *World) leaveOpen(e *elem) {
	if e.could = !w.cfg.Profile.DrainOnRevoke; !e.could {
		w.freeze(e)
	}
}

// comes marks e as arrived, together with its packet.
func (w *World) comes(e *elem) {
	for _, x := range e.q.elems {
		if !x.came && !x.cutOff() && (x == e || w.packet(e, x)) {
			x.came = true
		}
	}
}

// packet reports whether x, a piece of a Write, arrives in the packet of e.
func (w *World) packet(e, x *elem) bool {
	return w.cfg.Profile.WholePackets && x.kind == elemWrite && w.mates(e, x)
}

// hasCome reports whether there is evidence that e has arrived: its own, or that of an element that leaves after it.
func (w *World) hasCome(e *elem) bool {
	if e.came || e.acked || len(e.got) > 0 {
		return true
	}
	q := e.q
	for i := max(e.wr, q.base); i < q.posted; i++ {
		s := q.ent(i)
		if q.connection(i) == q.connection(e.wr) && (s.came || slices.ContainsFunc(s.payload, func(x *elem) bool { return x.seen() && !x.past && w.leavesBefore(e, x) })) {
			return true
		}
	}
	return false
}

// emptyCame returns the first request that has not arrived; n is the first one that lacks a piece. Empty
// requests have no pieces, so in late mode it decides here whether those just before n have arrived.
func (w *World) emptyCame(q *qp, n int) int {
	least := n
	for q.catching && least > q.oldest() && q.ent(least-1).length == 0 && !q.ent(least-1).came {
		least--
	}
	if least == n {
		return n
	}
	return n - w.choose(ChooseCutoff, n-least+1, func(i int) string { return q.name() + " came to #" + itoa(n-i) })
}

// catchUpExecuted decides which of the requests that have arrived were executed, in an
// order that the card may keep. A request that unreadable memory refuses was not.
func (w *World) catchUpExecuted(q *qp) {
	var open []*elem // not executed
	for all := sweep(&q.elems); all.next(); {
		e := all.e
		if !e.came || !e.responds() && !w.flushes(e) || slices.Contains(open, e) {
			continue
		}
		if slices.ContainsFunc(open, func(p *elem) bool { return w.follows(e, p) }) || w.poisoned(q.ent(e.wr)) ||
			w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + executedNames[i] }) == 0 {
			open = append(open, e)
			continue
		}
		w.land(e)
		all.again()
	}
}

var executedNames = [...]string{" not executed", " executed"}

// catchUpReceived decides which receives had completed for requests behind an unexecuted
// one. All other requests that have arrived complete their receives in any case.
func (w *World) catchUpReceived(q *qp) {
	p := q.peer
	if p == nil {
		return
	}
	met := 0
	for i := max(p.recvNext, q.base); i < q.posted && met < p.met; i++ {
		s := q.ent(i)
		if !s.op.ConsumesRecv() || s.recv {
			continue
		}
		met++
		if s.came || w.cameTo(q) > i {
			continue
		}
		if s.nak != 0 || s.local != 0 || i >= q.reach() || slices.ContainsFunc(q.elems, func(e *elem) bool {
			return e.wr <= i && (!e.came || e.changes() && w.waitsForExecution(e) || e.holds(i))
		}) || w.choose(ChooseCutoff, 2, func(k int) string { return q.name() + "#" + itoa(i) + receivedNames[k] }) == 0 {
			return
		}
		w.placeTo(q, i)
	}
}

// placeTo places the data of q's requests up to i, which have arrived.
func (w *World) placeTo(q *qp, i int) {
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.wr <= i && e.changes() {
			w.land(e)
			all.again()
		}
	}
	w.arrive(q, i+1)
}

var receivedNames = [...]string{" not received", " received"}

// waitsForExecution reports whether e must land after a request that was not executed.
func (w *World) waitsForExecution(e *elem) bool {
	return e.kind == elemAtomic || slices.ContainsFunc(e.q.elems, func(p *elem) bool { return p.responds() && w.follows(e, p) })
}

// caughtUp ends catching up. Elements that have arrived will land, though no host has learned of them.
func (w *World) caughtUp(q *qp) {
	q.catching = false
	for _, e := range slices.Clone(q.elems) {
		if e.came && !e.acked {
			e.acked, e.ackAt = true, unlimited
			w.fetch(e)
		}
		e.came = false
	}
}
