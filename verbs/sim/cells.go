package sim

// A look at several cells while Atomics, or pieces smaller than a cell, are in flight to
// some of them: the hard cells. A hard cell shows what has landed there. That landing
// may require another landing in a cell that the look has already read.
//
// Each of the other cells shows one last writer and needs no order. Suppose a look sees
// writer e in one cell, and an element that another cell needs must not have landed with e.
// Then that element comes after e in e's queue, and the look at the other cell has landed e
// too. So only hard cells impose an order between cells, and only they are read in an order.

// hard reports whether a look must land the elements in flight to a cell to see it.
func (w *World) hard(r *region, c span) bool {
	for _, e := range r.pend {
		if e.changes() && e.overlaps(c.lo, c.hi-c.lo) && w.canLand(e) &&
			(e.kind == elemAtomic || w.cfg.MaxPieces == 0 && (e.off > c.lo || e.off+e.n < c.hi)) {
			return true
		}
	}
	return false
}

// nextCell picks the next of some hard cells. If a look at one of them changes none of the others,
// it can come first: whatever it could show later, after others, it can show now, because everything
// that had landed in it by then can land now, in the same order. Otherwise any of them may be next.
func (w *World) nextCell(r *region, cells []span) int {
	for i := range cells {
		if len(cells) == 1 || !w.changesOthers(r, cells, i) {
			return i
		}
	}
	return w.choose(ChooseLanding, len(cells), func(i int) string { return itoa(cells[i].lo) })
}

// changesOthers reports whether a look at one cell may change another: an element that lands there
// brings along the elements that precede it in its queue, and those that share bytes with them.
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
