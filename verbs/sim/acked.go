package sim

// Under a profile with ReadsSeeAcked, later Reads of a card see what that card has acknowledged. A queue pair that
// has stopped (ERR, RESET, destroyed) acknowledges nothing more. So a request that had arrived by then and completes
// later was acknowledged before the stop. Whether it was is decided when a Read arrives that would have to see it.

// sees reports whether Read or Atomic e must find by: by was acknowledged before e was
// posted. A request that was posted earlier may have sampled earlier.
func (w *World) sees(e, by *elem) bool {
	return (e.kind == elemSample || e.modifies()) && by.acked && by.ackAt < e.at && w.cfg.Profile.ReadsSeeAcked
}

// seesAcked lands the changes that by must see because the card has acknowledged them (ReadsSeeAcked).
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

// acksNoMore records which elements had arrived when q stopped.
func (q *qp) acksNoMore() {
	p := q.peer
	if p == nil || !p.h.alive || p.gone || !p.sends() {
		return // the acknowledgement reaches no requester
	}
	for _, e := range p.elems {
		if e.wr >= p.head && e.changes() && e.stopAt == 0 && (e.came || e.acked && e.ackAt == unlimited) {
			q.w.ticks++
			e.stopAt = q.w.ticks
		}
	}
}

// acknowledged decides whether e was acknowledged before its responder's queue pair
// stopped. If it was, so was everything before it; if not, nothing after it was.
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

// acks records that e is acknowledged: now, or before its responder's queue pair stopped.
func (w *World) acks(e *elem) {
	w.ticks++
	e.acked, e.ackAt = true, w.ticks
	if e.stopAt > 0 {
		e.ackAt, e.stopAt = e.stopAt, 0
	}
}
