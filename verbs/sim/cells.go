package sim

import "slices"

// In which order a wide look sees its cells where Atomics, or pieces of less than a cell,
// are on their way to them. What one cell is seen to hold may need something to have landed
// in another, and that may have been looked at before.

// cellsOf are the cells of a look at [off, off+n).
func (w *World) cellsOf(r *region, off, n int) (cells []span) {
	for at := off; at < off+n; {
		end := min(w.cellEnd(r, at), off+n)
		cells = append(cells, span{at, end})
		at = end
	}
	return cells
}

// nextCell picks which of some cells is looked at next. If a look at one of them changes
// none of the others, it can come first: what would have been seen in it later, after others,
// can be seen there now, since all that had landed in it by then can land now, in the same
// order. Otherwise any of them may be the next.
func (w *World) nextCell(r *region, cells []span) int {
	for i := range cells {
		if !w.changesOthers(r, cells, i) {
			return i
		}
	}
	return w.choose(ChooseLanding, len(cells), func(i int) string { return itoa(cells[i].lo) })
}

// changesOthers reports whether a look at one cell may change another: what lands there
// takes along what stands before it in its queue, and that what shares bytes with it.
func (w *World) changesOthers(r *region, cells []span, i int) bool {
	if len(cells) == 1 {
		return false
	}
	var buf [32]*elem
	lands := buf[:0]
	for _, e := range r.pend {
		if e.overlaps(cells[i].lo, cells[i].hi-cells[i].lo) && w.canLand(e) {
			lands = append(lands, e)
		}
	}
	for k := 0; k < len(lands); k++ {
		e := lands[k]
		for j, c := range cells {
			if j != i && e.reg == r && e.changes() && e.overlaps(c.lo, c.hi-c.lo) {
				return true
			}
		}
		for _, p := range e.q.elems {
			if p == e {
				break
			}
			if w.before(p, e) && !slices.Contains(lands, p) {
				lands = append(lands, p)
			}
		}
		if e.reg == nil {
			continue
		}
		for _, p := range e.reg.pend {
			if p.overlaps(e.off, e.n) && !slices.Contains(lands, p) {
				lands = append(lands, p)
			}
		}
	}
	return false
}
