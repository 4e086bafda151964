package sim

import "slices"

// A load of several cells looks at each cell at its own moment, in any order. Between two of these moments others
// may act on what they know: the load may see one cell from before a change, and another from after a second change
// that was made because of the first. In eager mode each cell is a step. In late mode the load is two steps: the
// first starts watching, and at the second, each cell may have been seen with any content that it has held since.
//
// Media errors fit in. Others may change a cell with a flipped bit before the load finishes, so each flip ends
// a step (meetsFlips), and the load has seen the cell as it is then: otherwise a card could fetch, and send, a
// flipped bit that nobody has found. Memory that the load finds unreadable terminates it, whatever it has
// seen, so it is enough to find that in the last step. Memory that others find unreadable meanwhile may have
// been seen before (outlived), and memory that was unreadable before it was mended was not seen (watched).

// wideLook is a load that has begun, or none if r is nil.
type wideLook struct {
	r      *region
	off, n int
	looks  bool   // this load is the one that finds flipped bits
	was    []held // contents since the load began that have been overwritten
	seen   []held // cells that were looked at when one of their bits flipped
}

type held struct {
	span
	data []byte
}

// apart reports whether a load must be more than one step, because others may change several of its cells.
func (r *region) apart(off, n int) bool {
	return !r.h.w.cells().One(off, n) && (r.shared() || r.awaited() || len(r.pend) > 0)
}

// delicate reports whether a look at one cell may do more than look: it may drain the task's own stores.
func (r *region) delicate(off int, p []byte) bool {
	own, _ := r.h.w.cur.sb.holds(r, off, p)
	return own != nil
}

// begins starts watching and lets others run. An element that was cut off before has landed by now, or never will.
func (t *task) begins(r *region, off, n int) {
	r.check(off, n)
	t.w.findOut(r, off, n, false)
	t.w.settleFrozen(r, off, n)
	t.w.touch(r.object(), Read)
	t.wide = wideLook{r: r, off: off, n: n}
	t.wait(op{kind: opRun})
}

// meetsFlips lets bits flip in the loaded bytes, and lets others run after each flip.
func (t *task) meetsFlips(r *region, off, n int) {
	for r.pm != nil && !r.freed {
		t.w.decided(r, off, n)
		t.wide.looks = true
		flipped := t.w.damage(r, off, n, flips)
		if t.wide.looks = false; !flipped {
			return
		}
		t.wait(op{kind: opRun})
	}
}

// sees notes a look at the cell with byte i of r, in which a bit has flipped.
func (t *wideLook) sees(w *World, r *region, i int) {
	if !t.looks || t.r != r {
		return
	}
	for at := t.off; at < t.off+t.n; {
		next := w.cells().Moment(at, t.off+t.n)
		if at <= i && i < next {
			t.seen = append(t.seen, held{span{at, next}, slices.Clone(r.data[at:next])})
		}
		at = next
	}
}

// meets returns the errors that may show when a load finishes. A load that began in an
// earlier step has met its flips.
func (t *wideLook) meets() mediaErrors {
	if t.r != nil {
		return poison
	}
	return flips | poison
}

// ended stops watching. Responses that have arrived by now also changed the memory.
func (t *task) ended(r *region, off, n int) wideLook {
	if t.wide.r == r && !r.freed {
		t.w.responses(r, off, n)
		t.w.settleFrozen(r, off, n) // elements that were cut off since the load began have changed the memory too, or never arrived
	}
	defer func() { t.wide = wideLook{} }()
	return t.wide
}

// watched notes the readable content of [off, off+n) of r, which is about to change.
func (w *World) watched(r *region, off, n int) {
	for _, t := range w.tasks {
		if t.wide.r != r || !t.alive {
			continue
		}
		lo, hi := off, off+n
		if w.cells().Pieces == 0 { // the old content is kept by cells, so that a cell has one content at a time
			lo, hi = w.cells().Around(off, n)
		}
		for at, end := max(lo, t.wide.off), min(hi, t.wide.off+t.wide.n); at < end; {
			next := w.cells().Moment(at, end)
			if !w.unreadable(r, at, next-at) {
				t.wide.add(span{at, next}, w.bytes(next-at))
			}
			at = next
		}
	}
}

// add adds the current content of x, copied into buf, unless it is known.
func (t *wideLook) add(x span, buf []byte) {
	for _, c := range t.was {
		if c.span == x && string(c.data) == string(t.r.data[x.lo:x.hi]) {
			return
		}
	}
	copy(buf, t.r.data[x.lo:x.hi])
	t.was = append(t.was, held{x, buf})
}

// outlived decides whether the load saw the memory before it became unreadable.
func (t *wideLook) outlived(w *World) bool {
	if t.r == nil {
		return false
	}
	lo, hi, size := t.r.pm.span(t.r, t.off, t.n)
	for i := lo; i < hi; i++ {
		if !t.r.pm.units[i].bad {
			continue
		}
		for at, end := max(i*size, t.off), min((i+1)*size, t.off+t.n); at < end; {
			x := span{at, w.cells().Moment(at, end)}
			if !slices.ContainsFunc(t.was, func(c held) bool { return c.span == x }) {
				return false
			}
			at = x.hi
		}
	}
	return w.choose(ChooseMedia, 2, func(k int) string { return [...]string{"unreadable", "seen before"}[k] }) == 1
}

// choose decides which cells of p, the current content, the load saw with an earlier content.
func (t *wideLook) choose(w *World, p []byte) {
	for i, c := range t.was {
		if slices.ContainsFunc(t.was[:i], func(x held) bool { return x.span == c.span }) {
			continue // already decided
		}
		now := p[c.lo-t.off : c.hi-t.off]
		var of []held
		if !w.unreadable(t.r, c.lo, len(now)) {
			of = append(of, held{c.span, now})
		}
		readable := len(of)
		for _, x := range t.was[i:] {
			if x.span == c.span && (len(of) == 0 || string(x.data) != string(of[0].data)) {
				of = append(of, x)
			}
		}
		k := 0
		if len(of) > 1 {
			k = w.choose(ChooseLanding, len(of), func(k int) string {
				if k < readable {
					return "memory"
				}
				return "before: " + hexText(of[k].data)
			})
		}
		copy(now, of[k].data)
	}
	for _, c := range t.seen {
		copy(p[c.lo-t.off:], c.data)
	}
}

// print sums what was seen: the moments do not matter.
func (t *wideLook) print() (p print) {
	for _, c := range t.was {
		p = p.Plus(print{}.Int(c.lo).Bytes(c.data))
	}
	for _, c := range t.seen {
		p = p.Int(c.lo).Bytes(c.data)
	}
	return p.Bool(t.r != nil)
}
