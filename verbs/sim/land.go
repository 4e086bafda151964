package sim

import (
	"encoding/binary"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// When an element lands, and what lands with it: everything that must precede it.

// canLand reports whether e can be in memory by now.
func (w *World) canLand(e *elem) bool {
	return w.canBegin(e) && !w.refused(e)
}

// canBegin is like canLand, but does not require that e can read its memory: a Read samples the readable rest first.
func (w *World) canBegin(e *elem) bool {
	if e.over() || e.during() || w.barring > 0 && e.barred >= w.barring {
		return false
	}
	if !w.machine.arrived(e) {
		return false
	}
	if w.stuck(e) {
		return false
	}
	for _, d := range w.landing {
		if w.follows(e, d) || d.hasRead() && w.brings(e, d) || d.frozen && e.since() > d.frozeAt {
			return false
		}
	}
	return w.mayCome(e)
}

// mayCome reports whether e can have arrived by now.
func (w *World) mayCome(e *elem) bool {
	return e.acked || e.frozen || e.could || e.byCPU() || e.wr < e.q.reach() && !e.leftDenied()
}

// land makes e take effect, after everything that must precede it.
func (w *World) land(e *elem) {
	if e.over() || e.during() {
		return
	}
	w.landOne(e)
	w.eachMate(e, func(x *elem) bool { return x.arrives() && w.with(x, e) }, w.land)
}

func (w *World) landOne(e *elem) {
	e.begins()
	w.landing = append(w.landing, e)
	if slices.ContainsFunc(w.landing, func(d *elem) bool { return d.frozen && e.barred > d.frozeAt }) {
		w.abandoned = true // e had not landed by then
	}
	w.missedBy(e)
	for all := sweep(&e.q.elems); all.next(); {
		p := all.e
		if p == e {
			break
		}
		if !p.over() && !p.during() && w.before(p, e) {
			w.land(p)
			all.again()
		}
	}
	switch e.kind {
	case elemSample:
		e.lands() // before anything else, so that it is not asked to sample again
		w.remove(e)
		w.seesAcked(e)
		w.sampleRest(e)
		w.recordSample(e, e.off, e.off+e.n)
	case elemWrite:
		w.fetch(e)
		w.beforeWrite(e.reg, e.off, e.n, e)
		e.lands()
		w.remove(e)
		w.place(e, e.data)
		w.traceLanding(e)
	case elemAtomic:
		w.fetch(e)
		w.beforeWrite(e.reg, e.off, e.n, e)
		e.lands()
		w.remove(e)
		if e.modifies() {
			w.seesAcked(e) // an Atomic Write reads nothing
		}
		w.finishAtomics(e.reg, e.off, e.n, e) // the Atomics that have read while these landed
		w.execAtomic(e)
		w.traceLanding(e)
	case elemFlush:
		e.lands()
		w.remove(e)
		w.flush(e)
	case elemClwb:
		e.lands()
		w.remove(e)
		e.q.buffer.writeBack(e.reg, e.off, e.n)
	}
	w.landing = w.landing[:len(w.landing)-1]
}

// missedBy drops frozen elements that can only land after e, and whose moment was before e can have landed.
func (w *World) missedBy(e *elem) {
	if e.barred == 0 || slices.ContainsFunc(w.landing, func(d *elem) bool { return d.frozen }) {
		return
	}
	for _, q := range w.qps {
		for all := sweep(&q.elems); all.next(); {
			if d := all.e; d.frozen && !d.over() && !d.during() && d.frozeAt < e.barred && (w.sees(d, e) || w.follows(d, e)) {
				w.discard(d)
				all.again()
			}
		}
	}
}

// place writes the data of e into memory.
func (w *World) place(e *elem, p []byte) {
	w.placing = e
	w.pokeBy(e.reg, e.off, p, !e.byCPU())
	w.placing = nil
}

// execAtomic performs the read-modify-write and keeps the old value for the response
// (and for a duplicate of the request).
func (w *World) execAtomic(e *elem) {
	wr := e.q.ent(e.wr)
	if wr.op == verbs.OpAtomicWrite {
		w.place(e, e.data)
		return
	}
	if !e.hasRead() {
		w.readWord(e)
		e.got = append(e.got, span{e.off, e.off + 8}) // a card that fetches before the write must find no other Atomic between the two
	}
	old := binary.LittleEndian.Uint64(e.data)
	now := old
	switch wr.op {
	case verbs.OpCompareSwap:
		if old != wr.compare {
			w.touch(e.reg.object(), Read)
			return // it writes nothing
		}
		now = wr.swap
	case verbs.OpFetchAdd:
		now = old + wr.add
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], now)
	w.place(e, b[:])
}

// beforeWrite is called when bytes of r are about to change: each pending element on
// them may have landed before. by is the element that changes them, or nil for a CPU.
func (w *World) beforeWrite(r *region, off, n int, by *elem) {
	w.findOut(r, off, n, true)
	w.finishAtomics(r, off, n, by)
	w.machine.beforeChange(r, off, n, by)
}

func (m *late) beforeChange(r *region, off, n int, by *elem) {
	w := m.w
	lost := by != nil && by.lost()                         // its moment is past: power has failed since
	if r.pm != nil && (lost || w.mayLosePower(r.h.node)) { // a unit persists as a whole, with one of the contents that it has held
		lo, hi, size := r.pm.span(r, off, n)
		off, n = lo*size, (hi-lo)*size
	}
	if !lost {
		w.responses(r, off, n)
	}
	if by == nil || by.byCPU() && !lost {
		w.refusedBefore(r, off, n)
	}
	w.landBefore(r, off, n, by)
	w.finishAtomics(r, off, n, by) // the Atomics that have read while others landed
	w.readBefore(r, off, n, by)
}

func (w *World) landBefore(r *region, off, n int, by *elem) {
	var passed []*elem
	var last *elem // a Read samples cells one by one, and each set of them in one order only
	from := 0
	for len(r.pend) > 0 {
		var can [32]*elem
		var cells [32]span
		c, at := can[:0], cells[:0] // a Read is listed once for each cell
		for _, e := range r.pend {
			if e == by || !e.wants(off, n) || !w.canBegin(e) || e.kind != elemSample && w.refused(e) || slices.Contains(passed, e) ||
				by != nil && (w.follows(e, by) || w.sees(e, by) || by.excludes(e)) {
				continue
			}
			if e.kind != elemSample {
				c, at = append(c, e), append(at, span{})
				continue
			}
			for x := range e.unsampled(off, n) {
				if (e != last || x.lo >= from) && !w.unreadable(e.reg, x.lo, x.hi-x.lo) {
					c, at = append(c, e), append(at, x)
				}
			}
		}
		i := 0
		if len(c) > 0 {
			i = w.choose(ChooseOrder, len(c)+1, func(i int) string {
				if i == 0 {
					return "nothing before"
				}
				return c[i-1].name() + " before"
			})
		}
		if i == 0 {
			for _, e := range append(c, passed...) {
				if e.frozen && (by == nil || !w.landsInPast(by) || by.since() > e.frozeAt) {
					w.discard(e)
				}
			}
			return
		}
		passed = w.passing(passed, c, i-1)
		last = nil
		if e := c[i-1]; e.kind == elemSample {
			w.samplePart(e, at[i-1].lo, at[i-1].hi)
			last, from = e, at[i-1].hi
		} else {
			w.land(e)
		}
	}
}

// landsInPast reports whether by lands at a past moment: it is frozen, or precedes a frozen element that is landing.
func (w *World) landsInPast(by *elem) bool {
	return by.frozen || slices.ContainsFunc(w.landing, func(d *elem) bool { return d.frozen })
}

// passing adds to passed the pieces before c[i] that are smaller than a cell and whose landing commutes with
// that of c[i]. They had their chance to land first, and each set of pieces is tried in one order only.
func (w *World) passing(passed, c []*elem, i int) []*elem {
	e := c[i]
	lo, hi := w.cells().Around(e.off, e.n)
	if e.kind != elemWrite || e.n == hi-lo || !w.free(e) {
		return passed
	}
	for _, x := range c[:i] {
		if x.kind == elemWrite && x.q == e.q && x.wr == e.wr && x.n < hi-lo && !x.overlaps(e.off, e.n) && w.free(x) {
			passed = append(passed, x)
		}
	}
	return passed
}

// wants reports whether a change of [off, off+n) matters to e: e would change some of
// these bytes, or has yet to sample them.
func (e *elem) wants(off, n int) bool {
	if !e.overlaps(off, n) {
		return false
	}
	if e.kind != elemSample {
		return e.changes()
	}
	for range e.unsampled(off, n) {
		return true
	}
	return false
}

// What the pieces that arrived with a piece show about it.
const (
	fateOpen = iota
	fateCame
	fateLost
)
