package sim

// A load of several cells looks at each at a moment of its own, in any order. Between two of
// these moments others may act on what they know: one cell is seen as it was before a change, and
// another as a second change left it that was made because of the first. In eager mode each cell
// is a step. In late mode the load is two steps: it begins to watch, and when it ends, each
// cell may have been seen with any content that it has had since.

// wideLook is a load that has begun: nothing if r is nil.
type wideLook struct {
	r      *region
	off, n int
	was    []held // what was there since, and is not any more
}

type held struct {
	span
	data []byte
}

// apart reports whether a load must be more than one step, for others may change several cells.
func (r *region) apart(off, n int) bool {
	return !r.h.w.cells().One(off, n) && (r.shared() || r.awaited())
}

// delicate reports whether a look at one cell may do more than look: drain the task's own stores,
// or fail.
func (r *region) delicate(off int, p []byte) bool {
	own, _ := r.h.w.cur.sb.holds(r, off, p)
	return own != nil || r.pm != nil && r.h.node.flips+r.h.node.poisons > 0 || r.h.w.unreadable(r, off, len(p))
}

// begins begins to watch, and lets others go on. What was cut off before has landed by now or
// never will.
func (t *task) begins(r *region, off, n int) {
	r.check(off, n)
	t.w.findOut(r, off, n, false)
	t.w.settleFrozen(r, off, n)
	t.w.touch(r.object(), Read)
	t.wide = wideLook{r: r, off: off, n: n}
	t.wait(op{kind: opRun})
}

// ended ends the watch. Responses that have come by now have changed something too.
func (t *task) ended(r *region, off, n int) wideLook {
	if t.wide.r == r && !r.freed {
		t.w.answers(r, off, n, true)
	}
	defer func() { t.wide = wideLook{} }()
	return t.wide
}

// watched notes what [off, off+n) of r contains, for that is about to change.
func (w *World) watched(r *region, off, n int) {
	for _, t := range w.tasks {
		if t.wide.r != r || !t.alive {
			continue
		}
		for at, end := max(off, t.wide.off), min(off+n, t.wide.off+t.wide.n); at < end; {
			next := w.cells().Moment(at, end)
			t.wide.add(span{at, next}, w.bytes(next-at))
			at = next
		}
	}
}

// add adds what is at x, if it is new. Of the memory buf it keeps the content there.
func (t *wideLook) add(x span, buf []byte) {
	for _, c := range t.was {
		if c.span == x && string(c.data) == string(t.r.data[x.lo:x.hi]) {
			return
		}
	}
	copy(buf, t.r.data[x.lo:x.hi])
	t.was = append(t.was, held{x, buf})
}

// choose decides which cells of p, which is what is there now, were seen before.
func (t *wideLook) choose(w *World, p []byte) {
	for i, c := range t.was {
		first := i
		var of []held
		for j, x := range t.was {
			if x.span == c.span {
				first = min(first, j)
				if string(x.data) != string(p[x.lo-t.off:x.hi-t.off]) {
					of = append(of, x)
				}
			}
		}
		if first < i || len(of) == 0 {
			continue // it has been decided
		}
		if k := w.choose(ChooseLanding, len(of)+1, func(k int) string {
			if k == 0 {
				return "memory"
			}
			return "before: " + hexText(of[k-1].data)
		}); k > 0 {
			copy(p[c.lo-t.off:], of[k-1].data)
		}
	}
}

// print adds up what was seen: when does not matter.
func (t *wideLook) print() (p print) {
	for _, c := range t.was {
		p = p.Plus(print{}.Int(c.lo).Bytes(c.data))
	}
	return p
}
