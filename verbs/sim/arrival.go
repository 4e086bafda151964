package sim

// Which elements had arrived when a connection was cut off. Packets arrive in order or
// leave gaps. A frozen element landed by then, or never will.

// discard drops e and every element that could only land after it: none of them will land.
func (w *World) discard(e *elem) {
	if e.over() {
		return
	}
	if e.cutOff() && e.isDenied() {
		w.notYet(e)
		return
	}
	e.drops()
	w.touchElem(e)
	w.recordDropped(e)
	w.remove(e)
	switch {
	case e.src == nil:
	case e.q.cfg.PSN != 0:
		w.fetchOne(e) // a ghost of it may execute on the next connection
	default:
		w.dropSource(e)
	}
	if e.frozen && !e.unknown() {
		if e.arrives() {
			e.q.limit = min(e.q.limit, e.wr) // it never arrived
		}
		w.eachMate(e, func(x *elem) bool { return e.arrives() && w.with(e, x) }, w.discard)
		for all := sweep(&e.q.elems); all.next(); {
			if x := all.e; !x.over() && (x.frozen && w.before(e, x) || !w.gaps() && e.arrives() && !x.frozen && !x.acked && e.precedes(x)) {
				w.discard(x)
				all.again()
			}
		}
	}
	for all := sweep(&e.q.elems); all.next() && e.overtook() && !e.frozen; {
		if x := all.e; x.overtook() && w.before(e, x) {
			w.discard(x) // it arrived later, if at all
			all.again()
		}
	}
}

// arrives reports whether a frozen e is in memory if it has arrived. That does not hold
// after a power failure, which strikes during the placement, or for stores of a CPU.
func (e *elem) arrives() bool { return e.kind == elemWrite && !e.byCPU() && !e.struck() }

// tells reports whether a landing of e shows that its packet has arrived.
func (e *elem) tells() bool { return e.changes() && !e.byCPU() && !e.struck() }

// eachMate calls f for the frozen elements that share e's fate because of the order in which packets arrive.
func (w *World) eachMate(e *elem, shares func(*elem) bool, f func(*elem)) {
	if !e.tells() {
		return
	}
	for all := sweep(&e.q.elems); all.next(); {
		if x := all.e; x != e && x.frozen && !x.over() && !x.during() && x.tells() && shares(x) {
			f(x)
			all.again()
		}
	}
}

// with reports whether a arrived in the packet of b or in an earlier one.
func (w *World) with(a, b *elem) bool {
	if !w.cfg.Profile.WholePackets {
		return a.precedes(b) && !w.overtakes(b, a)
	}
	mtu := w.cfg.Profile.MTU
	return a.q == b.q && (a.wr < b.wr || a.wr == b.wr && (a.off-a.start)/mtu <= (b.off-b.start)/mtu)
}

// mates reports whether a and b arrived in one packet.
func (w *World) mates(a, b *elem) bool { return w.with(a, b) && w.with(b, a) }

// freeze marks e as landed before now or never. If an element that arrived with e or
// later has landed, e has arrived. If one that arrived with e or earlier was dropped, e
// has not. The caller calls settleRivals after freezing all elements.
func (w *World) freeze(e *elem) {
	w.fetchOne(e)
	switch w.withMates(e) {
	case fateCame:
		w.land(e)
		return
	case fateLost:
		w.discard(e)
		return
	}
	w.touchElem(e)
	w.ticks++
	e.frozen, e.frozeAt = true, w.ticks
}

// withMates returns the fate of e as shown by elements that arrived with it, before it
// or after it. The request of e may have failed since.
func (w *World) withMates(e *elem) int {
	for i := e.q.base; i < e.q.posted && e.tells(); i++ {
		for _, x := range e.q.ent(i).payload {
			switch {
			case !x.tells() || !x.over() || e.q.connection(x.wr) != e.q.connection(e.wr):
			case !x.void() && w.with(e, x) && e.arrives():
				return fateCame
			case x.void() && !x.unknown() && x.kind == elemWrite && w.with(x, e):
				return fateLost
			}
		}
	}
	return fateOpen
}

// remove takes e out of its region's and its queue's lists.
func (w *World) remove(e *elem) {
	if e.reg != nil {
		e.reg.pend = without(e.reg.pend, e)
	}
	e.q.elems = without(e.q.elems, e)
}

func without(s []*elem, e *elem) []*elem {
	for i, x := range s {
		if x == e {
			return append(s[:i], s[i+1:]...)
		}
	}
	return s
}
