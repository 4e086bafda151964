package sim

// A wide look at cells of which Atomics, or pieces of less than a cell, are on their way to
// some: the hard ones. What a hard cell is seen to hold is what has landed there, and that
// may need something to have landed in another that was looked at before.
//
// What the other cells hold is that of one last writer each, and needs no order: to see
// writer e in one and not what another look needs to have landed, that must come after e in
// e's own queue, and then e has landed by the other look as well. So cells come before each
// other only because of hard ones, and those alone are looked at in an order.

// hard reports whether a cell must be seen by landing what is on its way there.
func (w *World) hard(r *region, c span) bool {
	for _, e := range r.pend {
		if e.changes() && e.overlaps(c.lo, c.hi-c.lo) && w.canLand(e) &&
			(e.kind == elemAtomic || w.cfg.MaxPieces == 0 && (e.off > c.lo || e.off+e.n < c.hi)) {
			return true
		}
	}
	return false
}

// nextCell picks which of some hard cells is looked at next. If a look at one of them changes
// none of the others, it can come first: what would have been seen in it later, after others,
// can be seen there now, since all that had landed in it by then can land now, in the same
// order. Otherwise any of them may be the next.
func (w *World) nextCell(r *region, cells []span) int {
	for i := range cells {
		if len(cells) == 1 || !w.changesOthers(r, cells, i) {
			return i
		}
	}
	return w.choose(ChooseLanding, len(cells), func(i int) string { return itoa(cells[i].lo) })
}

// changesOthers reports whether a look at one cell may change another: what lands there
// takes along what stands before it in its queue, and that what shares bytes with it.
func (w *World) changesOthers(r *region, cells []span, i int) bool {
	w.marks++
	var buf [32]*elem
	lands := buf[:0]
	add := func(e *elem) (changes bool) {
		if e.mark == w.marks {
			return false
		}
		e.mark, lands = w.marks, append(lands, e)
		for j, c := range cells {
			changes = changes || j != i && e.reg == r && e.changes() && e.overlaps(c.lo, c.hi-c.lo)
		}
		return changes
	}
	for _, e := range r.pend {
		if e.overlaps(cells[i].lo, cells[i].hi-cells[i].lo) && w.canLand(e) && add(e) {
			return true
		}
	}
	for k := 0; k < len(lands); k++ {
		e := lands[k]
		for _, p := range e.q.elems {
			if p == e {
				break
			}
			if w.before(p, e) && add(p) {
				return true
			}
		}
		if e.reg == nil {
			continue
		}
		for _, p := range e.reg.pend {
			if p.overlaps(e.off, e.n) && add(p) {
				return true
			}
		}
	}
	return false
}
