package sim

import (
	"iter"
	"slices"
)

// A Read samples each cell at its own moment. It samples a cell when the bytes are about
// to change, and the rest when it lands.

// unsampled yields the cells of [off, off+n) that Read e has yet to sample.
func (e *elem) unsampled(off, n int) iter.Seq[span] {
	return func(yield func(span) bool) {
		w := e.q.w
		for at, end := max(off, e.off), min(off+n, e.off+e.n); at < end; {
			c := span{at, end}
			if w.cfg.MaxPieces == 0 {
				c.hi = w.oneLook(at, end, true)
			}
			if !slices.ContainsFunc(e.got, func(g span) bool { return g.lo <= c.lo && c.hi <= g.hi }) && !yield(c) {
				return
			}
			at = c.hi
		}
	}
}

// samplePart makes a Read sample [lo, hi) now, before the bytes change.
func (w *World) samplePart(e *elem, lo, hi int) {
	w.landEarlier(e)
	if e.data == nil {
		e.data = w.bytes(e.n)
		clear(e.data) // the unsampled bytes are part of the state too
	}
	// While it samples, elements that land before it must not ask it to sample these bytes again.
	e.begins()
	w.landing = append(w.landing, e) // and it cannot find elements that follow it
	w.seesAcked(e)
	w.observe(e.reg, lo, e.data[lo-e.off:hi-e.off], true)
	w.landing = w.landing[:len(w.landing)-1]
	e.pauses()
	w.recordSample(e, lo, hi)
	e.got = append(e.got, span{lo, hi})
}

// sampleRest samples the bytes that a Read has not sampled yet.
func (w *World) sampleRest(e *elem) {
	if e.data == nil {
		e.data = w.bytes(e.n)
		w.observe(e.reg, e.off, e.data, true)
		return
	}
	sampled := e.data
	e.data = w.bytes(e.n)
	w.observe(e.reg, e.off, e.data, true)
	for _, g := range e.got {
		copy(e.data[g.lo-e.off:], sampled[g.lo-e.off:g.hi-e.off])
	}
}

// span is a range of offsets.
type span struct{ lo, hi int }
