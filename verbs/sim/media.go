package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Media errors: bits of persistent memory flip, or parts of it become unreadable. Which
// bytes are hit is decided when they are read, like everything else about persistent memory.

// damageNames name the possible damage of a unit: the two flipped bits represent all bits.
var damageNames = [...]string{"fine", "lowest bit flipped", "highest bit flipped", "unreadable"}

// mediaErrors are the kinds of media errors that may show at one look.
type mediaErrors uint8

const (
	flips  mediaErrors = 1 << iota
	poison             // as a CPU meets it: whether a card finds memory unreadable is decided before it reads (poisoned)
)

// damage lets media errors of r's host show in the bytes that are read, if errors of these kinds
// are due. It reports whether a bit has flipped: the look then returns the content of memory.
//
// A line can be written back at any time, so no cache is certain to hide an error: where
// an error shows, the content of the caches was in memory before it.
func (w *World) damage(r *region, off, n int, kinds mediaErrors) (flipped bool) {
	b := r.h.bank
	if r.pm == nil || !b.due(kinds) {
		return false
	}
	w.touchAll() // the errors left to find are shared by all regions of the machine
	lo, hi, size := r.pm.span(r, off, n)
	for i := lo; i < hi; i++ {
		u := &r.pm.units[i]
		for !u.bad {
			var can [4]int
			c := append(can[:0], 0)
			if b.due(kinds & flips) {
				c = append(c, 1, 2)
			}
			if b.due(kinds & poison) {
				c = append(c, 3)
			}
			if len(c) == 1 {
				return flipped
			}
			k := c[w.choose(ChooseMedia, len(c), func(k int) string {
				return fmt.Sprintf("%s [%d,%d) %s", r.pm.name, i*size, i*size+size, damageNames[c[k]])
			})]
			if k == 0 {
				break
			}
			if k == 3 {
				b.poisons--
			} else {
				b.flips--
			}
			w.machine.cameBefore(r, i*size, size)
			if r.pm.sure(i, u.ver); k == 3 {
				w.spoil(r, i)
			} else {
				w.flip(r, i, size, k == 2)
				flipped = true
			}
		}
	}
	return flipped
}

// due reports whether an error of one of these kinds may still show.
func (b *bank) due(kinds mediaErrors) bool {
	return kinds&flips != 0 && b.flips > 0 || kinds&poison != 0 && b.poisons > 0
}

func (w *World) flip(r *region, i, size int, high bool) {
	d := append([]byte(nil), r.unit(i, size)...)
	at := 0
	if high {
		at = len(d) - 1
		d[at] ^= 0x80
	} else {
		d[at] ^= 1
	}
	w.change(r, i*size, d)
	if w.cur != nil {
		w.cur.wide.sees(w, r, i*size+at)
	}
	w.recordChange(r, i*size, d, true)
	w.trace(r.h, "flip", "a bit of persistent region %q at %d is found flipped", r.pm.name, i*size)
}

func (w *World) spoil(r *region, i int) {
	u := &r.pm.units[i]
	w.watched(r, i*w.unitBytes(), w.unitBytes())
	u.bad = true
	if !u.used {
		u.used = true
		r.pm.used = append(r.pm.used, i)
	}
	w.touch(r.object(), Write)
	w.trace(r.h, "poison", "persistent region %q is found unreadable at %d", r.pm.name, i*w.unitBytes())
}

// Damage makes part of a persistent region of the host unreadable, or flips a bit of it as it is in memory now.
func (h *Host) Damage(mem any, off, n int, unreadable bool) {
	r := mem.(*region)
	r.check(off, n)
	if r.pm == nil {
		return
	}
	w := h.w
	w.guard()
	if !w.preparing {
		w.cur.pauseDirty()
	}
	w.decided(r, off, n)
	lo, hi, size := r.pm.span(r, off, n)
	for i := lo; i < hi; i++ {
		w.machine.cameBefore(r, i*size, size)
		if r.pm.sure(i, r.pm.units[i].ver); unreadable {
			w.spoil(r, i)
		} else {
			w.flip(r, i, size, false)
			break
		}
	}
	w.cur.reach()
}

// media lets media errors show in a load, which may have begun to watch earlier, and
// raises the error for a load of unreadable memory. It reports whether a bit has flipped.
func (r *region) media(off, n int, since *wideLook) (flipped bool) {
	w := r.h.w
	w.decided(r, off, n)
	due := r.h.bank.poisons
	flipped = w.damage(r, off, n, since.meets())
	found := r.h.bank.poisons < due // by this load, so it cannot have seen the unit before
	if !found {
		w.mend(r, off, n)
	}
	if w.unreadable(r, off, n) && (found || !since.outlived(w)) {
		w.touch(r.object(), Read)
		w.cur.obs.seeUint(7)
		w.cur.looked = true
		w.cur.reach() // other requests for this memory are refused from now on
		panic(fmt.Errorf("sim: load [%d,%d) of persistent region %q: %w", off, off+n, r.pm.name, host.ErrMedia))
	}
	return flipped
}

// decided decides the content of the memory that a CPU is about to look at.
func (w *World) decided(r *region, off, n int) {
	w.findOut(r, off, n, false)
	w.responses(r, off, n) // responses write too
	w.mend(r, off, n)
}

func (w *World) unreadable(r *region, off, n int) bool {
	if r.pm == nil || len(r.pm.used) == 0 {
		return false
	}
	lo, hi, _ := r.pm.span(r, off, n)
	for i := lo; i < hi; i++ {
		if r.pm.units[i].bad {
			return true
		}
	}
	return false
}

// poisoned reports whether unreadable memory refuses request s.
func (w *World) poisoned(s *sqEntry) bool {
	if s.op != verbs.OpRead && !s.op.IsAtomic() || len(s.payload) == 0 {
		return false
	}
	for _, e := range s.payload {
		if w.refused(e) {
			return true
		}
	}
	return false
}

// passed keeps, of the elements behind n, which unreadable memory refuses, only those that have arrived
// by now. If these decisions overwrote that memory, n was not refused, and the run is abandoned.
func (m *late) passed(q *qp, n int) {
	w := m.w
	w.receivedBehind(q, n)
	r, unit, met := w.refusedAt(q.ent(n))
	if !met {
		w.abandoned = true
		return
	}
	for i := 0; i < len(q.elems); i++ {
		if e := q.elems[i]; e.responds() && e.wr == n {
			w.dropAfter(e)
		}
	}
	w.neverMended(q, n)
	w.waitedForMend(q, n, r, unit)
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.wr > n && e.changes() && !e.frozen && !e.could && !e.acked && w.canLand(e) {
			if e.responds() {
				w.freeze(e) // it was executed by now, or never will be
			} else {
				w.leaveOpen(e)
			}
			if e.over() {
				all.again()
			}
		}
	}
	w.notMendedYet(q, n, r, unit)
	m.settleRivals(q)
}

// receivedBehind decides which receives had completed by now for requests behind n. The others are flushed.
func (w *World) receivedBehind(q *qp, n int) {
	for i := n + 1; q.peer.receives() && i < q.reach(); i++ {
		s := q.ent(i)
		if s.flags&verbs.Fence != 0 || slices.ContainsFunc(q.ent(n).payload, func(e *elem) bool { return e.stalls(i) }) {
			return // it has not left
		}
		if !s.op.ConsumesRecv() || s.recv || s.came {
			continue
		}
		if slices.ContainsFunc(q.elems, func(e *elem) bool { return e.wr <= i && e.changes() && !w.canLand(e) }) ||
			w.choose(ChooseCutoff, 2, func(k int) string { return q.name() + "#" + itoa(i) + receivedNames[k] }) == 0 {
			return
		}
		w.placeTo(q, i)
	}
}

// waitedForMend drops the Atomics of q behind request n that overwrite the unit that refused n, or that
// wait for such a write: the write has not landed by now, and the Atomics will not be executed later.
func (w *World) waitedForMend(q *qp, n int, r *region, unit int) {
	mends := func(e *elem) bool { return e.wr > n && e.reg == r && e.mends(unit) }
	for all := sweep(&q.elems); all.next(); {
		x := all.e
		if x.kind == elemAtomic && !x.hasRead() && slices.ContainsFunc(q.elems, func(e *elem) bool { return mends(e) && (x == e || w.follows(x, e)) }) {
			w.dropAfter(x)
			w.discard(x)
			all.again()
		}
	}
}

// notMendedYet handles request n of q, which the given unit has just refused: elements
// that would have overwritten the unit had not landed by now, except those behind n.
// Those that landed by an earlier moment or never will did not land.
func (w *World) notMendedYet(q *qp, n int, r *region, unit int) {
	w.ticks++
	if w.barring == 0 {
		w.barring = w.ticks
	}
	for _, e := range r.pend {
		if e.mends(unit) && !(e.q == q && e.wr > n) {
			w.bar(e)
		}
	}
}

// bar makes e, and every element that lands after it, land later than now, or never.
func (w *World) bar(e *elem) {
	w.touchElem(e)
	e.barred = w.ticks
	for _, x := range e.q.elems {
		if !x.over() && w.follows(x, e) {
			x.barred = w.ticks
		}
	}
}

// refusedAt returns the unreadable unit that prevents the execution of s, or chooses one of several.
func (w *World) refusedAt(s *sqEntry) (r *region, unit int, ok bool) {
	type place struct {
		r    *region
		unit int
	}
	var can []place
	for _, e := range s.payload {
		for i := range w.unreadableFor(e) {
			can = append(can, place{e.reg, i})
		}
	}
	if len(can) == 0 {
		return nil, 0, false
	}
	at := can[w.choose(ChooseMedia, len(can), func(i int) string {
		return fmt.Sprintf("%s refuses unit %d", can[i].r.pm.name, can[i].unit)
	})]
	return at.r, at.unit, true
}

// neverMended drops elements that have read and would overwrite the memory of request n
// of q: had they written, n would have been executed.
func (w *World) neverMended(q *qp, n int) {
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.wr > n && e.hasRead() && w.wouldMend(e, q.ent(n)) {
			w.discard(e)
			all.again()
		}
	}
}

// refusedBefore decides which requests have failed by now because of unreadable memory
// that a CPU is about to overwrite.
func (w *World) refusedBefore(r *region, off, n int) {
	if w.unreadable(r, off, n) {
		w.refusedByNow(nil)
	}
}

// refusedByNow decides which requests to host h, or to any host if h is nil, have failed
// because of unreadable memory: from now on they would not.
func (w *World) refusedByNow(h *Host) {
	for _, q := range w.qps {
		if (h == nil || q.peer != nil && q.peer.h == h) && !(q.peer != nil && q.peer.completing) && q.failsOfMedia() {
			q.asks(takesPeer)
		}
	}
}

// unreadable returns the first request of q that unreadable memory will refuse, or -1.
func (q *qp) unreadable() int {
	for i := q.head; i < q.posted && q.canFail(); i++ {
		if q.w.poisoned(q.ent(i)) {
			return i
		}
	}
	return -1
}

// failsOfMedia reports whether q will fail because of unreadable memory. It has not
// failed while something of q is landing: a failure before that is a step of its own.
func (q *qp) failsOfMedia() bool {
	return q.unreadable() >= 0 && !q.completing && !slices.ContainsFunc(q.w.landing, func(d *elem) bool { return d.q == q })
}

// refusedByMedia reports whether e would read unreadable memory.
func (w *World) refusedByMedia(e *elem) bool {
	switch {
	case e.over() || e.reg == nil || e.reg.pm == nil || len(e.reg.pm.used) == 0:
		return false
	case e.kind == elemSample:
		for x := range e.unsampled(e.off, e.n) {
			if w.unreadable(e.reg, x.lo, x.hi-x.lo) {
				return true
			}
		}
		return false
	}
	return e.modifies() && !e.hasRead() && w.unreadable(e.reg, e.off, e.n) // an Atomic that has read only writes
}

// stuck reports whether an element that must land before e would read unreadable memory.
func (w *World) stuck(e *elem) bool {
	for _, p := range e.q.elems {
		if p == e {
			break
		}
		if w.refused(p) && w.follows(e, p) {
			return true
		}
	}
	return false
}

// refused reports whether e itself would read unreadable memory that is not mended before.
func (w *World) refused(e *elem) bool { return w.refusedByMedia(e) && !w.mended(e) }
