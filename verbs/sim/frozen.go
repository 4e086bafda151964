package sim

// A frozen element landed before a moment that is past, or never will. Which of the two
// stays open until a step reaches its bytes.

// settleRivals decides the fate of those frozen elements of q whose bytes another element is about to change
// or read just now: that access may have come before they landed or after, and no later step can decide it.
// All others stay open until a step reaches their bytes, because no other element was in flight to those yet.
func (m *late) settleRivals(q *qp) {
	w := m.w
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.frozen && !e.lost() && e.changes() && w.rivalled(e) {
			w.settleFrozen(e.reg, e.off, e.n)
			all.again()
		}
	}
}

// rivalled reports whether another element was in flight to the bytes of e when e froze. A
// later one is no rival: deciding e for it too would lose nothing, but create more states.
func (w *World) rivalled(e *elem) bool {
	for _, x := range e.reg.pend {
		if !x.frozen && !x.during() && x.wants(e.off, e.n) && x.since() < e.frozeAt {
			return true
		}
	}
	return false
}

// settleFrozen decides which frozen elements had landed. Their moment is past, so all cells must agree on it.
func (w *World) settleFrozen(r *region, off, n int) {
	for {
		var can [32]*elem
		c := can[:0]
		for _, e := range r.pend {
			if e.frozen && !e.during() && e.changes() && e.overlaps(off, n) {
				c = append(c, e)
			}
		}
		if len(c) == 0 {
			return
		}
		if e := unrivalled(c); e != nil {
			c = append(c[:0], e)
		}
		i := w.choose(ChooseLanding, len(c)+1, func(i int) string {
			if i == 0 {
				return "none"
			}
			return c[i-1].name()
		})
		if i == 0 {
			for len(c) > 0 {
				w.discard(c[0])
				c = c[1:]
			}
			continue
		}
		w.land(c[i-1])
	}
}
