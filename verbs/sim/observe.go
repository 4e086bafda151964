package sim

// What a look at memory finds: for each cell, either the content of memory or one of the
// pending elements, which then lands.

// observe copies into out what a look at [off, off+len(out)) of r sees. Each cell may be seen at its own moment, in
// any order. So the cells are decided independently, and elements that must have landed by then land afterwards.
func (w *World) observe(r *region, off int, out []byte, card bool) {
	n := len(out)
	w.responses(r, off, n)
	w.touch(r.object(), Read)
	if r.pm != nil {
		w.findOut(r, off, n, false)
		if card && r.h.bank.due(flips) { // the landings before a flip decide what other cells held
			w.settleFrozen(r, off, n)
			w.sourced(r, off, n)
			w.observeInOrder(r, off, out, card, true)
			return
		}
	}
	if !w.machine.mayHold(r, off, n) {
		copy(out, r.data[off:])
		return
	}
	w.settleFrozen(r, off, n)
	w.sourced(r, off, n)
	if w.complicated(r, off, n, card) {
		w.observeInOrder(r, off, out, card, false)
		return
	}
	var landing [16]*elem
	l := landing[:0]
	copy(out, r.data[off:])
	for at := off; at < off+n; {
		end := w.oneLook(at, off+n, card)
		if w.cfg.MaxPieces > 0 {
			end = w.pieceEnd(r, at, off+n)
		}
		if e := w.chooseCell(r, at, end-at); e != nil {
			w.takeSources(e)
			copy(out[at-off:end-off], e.data[at-e.off:])
			l = append(l, e)
		}
		at = end
	}
	for _, e := range l {
		w.land(e)
	}
}

// chooseCell picks the pending element that a look at one cell finds there, or nil for the content of memory. If no
// element would change the cell, there is no choice: leaving them pending allows everything that a landing allows.
func (w *World) chooseCell(r *region, at, n int) *elem {
	var can [32]*elem
	c := can[:0]
	plain := true
	for _, e := range r.pend {
		if e.kind == elemWrite && e.overlaps(at, n) && w.canLand(e) {
			c = append(c, e)
			plain = plain && string(e.content()[at-e.off:at-e.off+n]) == string(r.data[at:at+n])
		}
	}
	if plain {
		return nil
	}
	i := w.choose(ChooseLanding, len(c)+1, func(i int) string {
		if i == 0 {
			return "memory"
		}
		return c[i-1].name()
	})
	if i == 0 {
		return nil
	}
	return c[i-1]
}

// anyPending reports whether an element that may change the bytes is in flight to them.
func (w *World) anyPending(r *region, off, n int) bool {
	for _, e := range r.pend {
		if e.changes() && e.overlaps(off, n) && w.canLand(e) {
			return true
		}
	}
	return false
}

// complicated reports whether the last writer alone does not decide some cells: because
// of Atomics, or of elements that cover only part of a cell.
func (w *World) complicated(r *region, off, n int, card bool) bool {
	for _, e := range r.pend {
		if !e.changes() || !e.overlaps(off, n) || !w.canLand(e) {
			continue
		}
		lo, hi := max(e.off, off), min(e.off+e.n, off+n)
		if e.kind == elemAtomic {
			return true
		}
		if w.cfg.MaxPieces > 0 {
			continue
		}
		from, to := w.cells().Around(lo, hi-lo)
		for at, end := max(from, off), min(to, off+n); at < end; { // does it cover only part of what one look reads?
			next := w.oneLook(at, end, card)
			if at < lo && lo < next || at < hi && hi < next {
				return true
			}
			at = next
		}
	}
	return false
}

// observeInOrder looks at the hard cells one after the other (cells.go), and lands what
// each shows. Where bits may flip, every cell is hard.
func (w *World) observeInOrder(r *region, off int, out []byte, card, flipping bool) {
	var cells []span
	var landing []*elem
	for at := off; at < off+len(out); {
		c := span{at, w.oneLook(at, off+len(out), card)}
		at = c.hi
		if flipping || w.hard(r, c) {
			cells = append(cells, c)
			continue
		}
		copy(out[c.lo-off:c.hi-off], r.data[c.lo:])
		if e := w.chooseCell(r, c.lo, c.hi-c.lo); e != nil {
			w.takeSources(e)
			copy(out[c.lo-off:c.hi-off], e.data[c.lo-e.off:])
			landing = append(landing, e)
		}
	}
	for len(cells) > 0 {
		i := w.nextCell(r, cells)
		at, end := cells[i].lo, cells[i].hi
		cells = append(cells[:i], cells[i+1:]...)
		w.findOut(r, at, end-at, true)
		w.landBefore(r, at, end-at, nil)
		if flipping {
			w.damage(r, at, end-at, flips)
		}
		copy(out[at-off:end-off], r.data[at:end])
	}
	for _, e := range landing {
		w.land(e)
	}
}

// oneLook returns the end of the bytes from at that a CPU, or a card, reads at one moment.
func (w *World) oneLook(at, end int, card bool) int {
	if card {
		return w.cells().Sample(at, end)
	}
	return w.cells().Look(at, end)
}

// pieceEnd returns the next boundary between pending elements, so that a look at large
// messages is decided piece by piece.
func (w *World) pieceEnd(r *region, at, end int) int {
	for _, e := range r.pend {
		if e.kind != elemWrite || !w.canLand(e) {
			continue
		}
		if e.off > at && e.off < end {
			end = e.off
		}
		if x := e.off + e.n; x > at && x < end {
			end = x
		}
	}
	return end
}
