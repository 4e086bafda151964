package sim

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// A write mends memory that was found unreadable. In late mode such a write may be in
// flight, so that a request that reads there fails or succeeds.

// mend decides what has landed on unreadable memory since it was found.
func (w *World) mend(r *region, off, n int) {
	if !w.unreadable(r, off, n) {
		return
	}
	lo, hi, size := r.pm.span(r, off, n)
	for i := lo; i < hi; i++ {
		if r.pm.units[i].bad {
			w.machine.landBefore(r, i*size, size)
		}
	}
}

// mends reports whether e overwrites all of unit i of its region when it lands. A
// CompareSwap that has read another value writes nothing.
func (e *elem) mends(i int) bool {
	return e.changes() && whole(e.reg, i, e.q.w.unitBytes(), e.off, e.n) && !(e.hasRead() && e.readsOther())
}

// readsOther reports whether e, which has read, is a CompareSwap that found another value.
func (e *elem) readsOther() bool {
	s := e.q.ent(e.wr)
	return s.op == verbs.OpCompareSwap && binary.LittleEndian.Uint64(e.data) != s.compare
}

// mended reports whether elements before e on its queue pair overwrite all of e's unreadable units.
func (w *World) mended(e *elem) bool {
	lo, hi, _ := e.reg.pm.span(e.reg, e.off, e.n)
	for i := lo; i < hi; i++ {
		ok := !e.reg.pm.units[i].bad
		for _, p := range e.reg.pend {
			ok = ok || p.mends(i) && w.before(p, e)
		}
		if !ok {
			return false
		}
	}
	return true
}

// mendable reports whether others may have overwritten the memory that refuses s.
func (w *World) mendable(s *sqEntry) bool {
	for _, e := range s.payload {
		for i := range w.unreadableFor(e) {
			if len(w.menders(e, i)) == 0 && !w.mendingResponse(e.reg, i) {
				return false
			}
		}
	}
	return true
}

// wouldMend reports whether e overwrites some of the memory that refuses s.
func (w *World) wouldMend(e *elem, s *sqEntry) bool {
	for _, x := range s.payload {
		for i := range w.unreadableFor(x) {
			if e.reg == x.reg && e.mends(i) {
				return true
			}
		}
	}
	return false
}

// mendedFirst returns the first request of q that meets unreadable memory, if others may
// have mended that memory, or -1.
func (q *qp) mendedFirst() int {
	for i := q.head; i < q.posted && q.canFail(); i++ {
		if s := q.ent(i); q.w.poisoned(s) && q.w.mendable(s) {
			return i
		} else if s.nak != verbs.StatusSuccess || s.local != verbs.StatusSuccess {
			break
		}
	}
	return -1
}

// mendFor lands writes of others on the memory that would refuse s, because s was executed.
func (w *World) mendFor(s *sqEntry) {
	for _, e := range s.payload {
		for i := range w.unreadableFor(e) {
			c := w.menders(e, i)
			k := w.choose(ChooseOrder, len(c)+boolInt(w.mendingResponse(e.reg, i)), func(i int) string {
				if i == len(c) {
					return "a response before"
				}
				return c[i].name() + " before"
			})
			if k < len(c) {
				w.land(c[k])
				continue
			}
			size := w.unitBytes()
			w.responses(e.reg, i*size, size)
			w.abandoned = w.abandoned || e.reg.pm.units[i].bad
		}
	}
}

// mendingResponse reports whether a response in flight overwrites all of unit i of r.
func (w *World) mendingResponse(r *region, i int) bool {
	size := w.unitBytes()
	return slices.ContainsFunc(w.qps, func(q *qp) bool {
		if q.h != r.h || q.brings(r, i*size, size) < 0 {
			return false
		}
		for n := q.head; n < q.posted; n++ {
			if slices.ContainsFunc(q.ent(n).dst, func(d sge) bool { return d.r == r && whole(r, i, size, d.off, d.n) }) {
				return true
			}
		}
		return false
	})
}

// unreadableFor yields the unreadable units that prevent the execution of e.
func (w *World) unreadableFor(e *elem) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !w.refused(e) {
			return
		}
		lo, hi, size := e.reg.pm.span(e.reg, e.off, e.n)
		for i := lo; i < hi; i++ {
			if e.reg.pm.units[i].bad && (e.kind != elemSample || e.wants(i*size, size)) && !yield(i) {
				return
			}
		}
	}
}

// menders lists the elements that may, but need not, overwrite all of unit i before e is executed.
func (w *World) menders(e *elem, i int) []*elem {
	var c []*elem
	for _, p := range e.reg.pend {
		if p != e && p.mends(i) && !w.follows(p, e) && w.canLand(p) {
			c = append(c, p)
		}
	}
	return c
}
