package sim

// What a card acknowledges, later Reads of the same card see, if the profile says so. A queue
// pair that has stopped (ERR, RESET, destroyed) acknowledges nothing any more, so what had come
// and completes later had been acknowledged by then. Whether it had is asked when a Read comes
// that would have to see it.

// sees reports whether Read or Atomic e must find by: the requester was told of by
// before e was posted. One that was posted earlier may have sampled earlier.
func (w *World) sees(e, by *elem) bool {
	return (e.kind == elemSample || e.modifies()) && by.acked && by.ackAt < e.at && w.cfg.Profile.ReadsSeeAcked
}

// seesAcked applies the profile's promise that what the card has acknowledged is
// seen by whatever it executes later.
func (w *World) seesAcked(by *elem) {
	r := by.reg
	if !w.cfg.Profile.ReadsSeeAcked {
		return
	}
	for all := sweep(&r.pend); all.next(); {
		e := all.e
		if !e.changes() {
			continue
		}
		if e.stopAt > 0 && e.stopAt < by.at {
			w.acknowledged(e)
		}
		if e.acked && e.ackAt < by.at && !e.during() {
			w.land(e)
			all.again()
		}
	}
}

// acksNoMore notes what had come to q when it stopped.
func (q *qp) acksNoMore() {
	p := q.peer
	if p == nil || !p.h.alive || p.gone || !p.sends() {
		return // nobody hears of it
	}
	for _, e := range p.elems {
		if e.wr >= p.head && e.changes() && e.stopAt == 0 && (e.came || e.acked && e.ackAt == unlimited) {
			q.w.ticks++
			e.stopAt = q.w.ticks
		}
	}
}

// acknowledged asks whether e was acknowledged before its responder's queue pair stopped, and
// with it what came before. If not, neither was what came later.
func (w *World) acknowledged(e *elem) {
	q := e.q
	w.touchElem(e)
	if e.during() || w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + ackedNames[i] }) == 0 {
		q.unacked = min(q.unacked, e.wr)
		for _, x := range q.elems {
			if x.wr >= e.wr {
				x.stopAt = 0
			}
		}
		return
	}
	for _, x := range q.elems {
		if x.stopAt > 0 && x.wr <= e.wr {
			w.acks(x)
		}
	}
}

var ackedNames = [...]string{" was not acknowledged", " was acknowledged"}

// acks notes that e is acknowledged: now, or before its responder's queue pair stopped.
func (w *World) acks(e *elem) {
	w.ticks++
	e.acked, e.ackAt = true, w.ticks
	if e.stopAt > 0 {
		e.ackAt, e.stopAt = e.stopAt, 0
	}
}
