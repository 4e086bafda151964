package sim

import "slices"

// What a revocation refuses depends on how far the card had come: what had arrived, and which of
// the Reads and Atomics among it had been executed. In eager mode, steps have decided this. In late
// mode it is decided at the revocation, by the rules of those steps; everything after that is the
// same in both modes. Where arrived data is placed stays open.

// catchUp decides what of q had arrived and had been executed, because a live requester learns it.
// It returns the elements behind the first missing one that may have overtaken it. Whether they
// did stays undecided, because no host learns of it. Everything before the first has arrived.
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
	q.catching = true // what is executed finds only what has arrived
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
	q.catching = true // they find only what has arrived
	for all := sweep(&q.elems); all.next(); {
		if p := all.e; w.holdsBack(p, e) {
			w.land(p)
			all.again()
		}
	}
	q.catching = false
}

// neverLeaves reports whether e waits for the response to a request that memory refuses.
func (w *World) neverLeaves(e *elem) bool {
	return slices.ContainsFunc(e.q.elems, func(p *elem) bool { return w.holdsBack(p, e) && w.poisoned(e.q.ent(p.wr)) })
}

// undecide makes it open again when Atomics are executed that had arrived at the previous call of
// catchUp: no host has learned it.
func (q *qp) undecide() {
	for _, e := range q.elems {
		if e.kind == elemAtomic && e.acked && !e.over() && e.ackAt == unlimited {
			e.acked, e.came = false, true
		}
	}
}

// leaveOpen treats overtakers that a revocation hits: each has arrived by now or never will. With
// DrainOnRevoke, what has arrived is in memory.
func (w *World) leaveOpen(e *elem) {
	if e.could = !w.cfg.Profile.DrainOnRevoke; !e.could {
		w.freeze(e)
	}
}

// comes marks e as arrived, with its packet.
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

// hasCome reports whether something shows that e has arrived: it, or what leaves after it.
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

// emptyCame is the first request that has not arrived, given the first one that lacks a piece. An
// empty request has no piece: whether those just before n have arrived is decided here, in late mode.
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

// catchUpExecuted decides which requests that have arrived were executed, in an order that the
// card may keep. What memory refuses was not.
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

// catchUpReceived decides which receives had completed because of requests that stand behind
// what was not executed. All others that have arrived complete in any case.
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

// caughtUp leaves late mode with what has arrived: it will land, though no host has learned it.
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
