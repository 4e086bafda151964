package sim

import (
	"encoding/binary"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// An Atomic reads a word and then writes it. Between the two, the card admits no other Atomic
// of its own, but it admits a Write and, without ATOMIC_GLOB, a CPU. So an Atomic may have
// read although it is still pending. Then got is not empty, and data holds the old value.

// modifies reports whether e is an Atomic that reads before it writes.
func (e *elem) modifies() bool {
	return e.kind == elemAtomic && e.q.ent(e.wr).op != verbs.OpAtomicWrite
}

func (e *elem) hasRead() bool { return e.kind == elemAtomic && len(e.got) > 0 }

// excludes reports whether x cannot land between the read and the write of e, which has read.
func (e *elem) excludes(x *elem) bool {
	return e.hasRead() && (x.kind == elemAtomic || x.byCPU() && x.q.w.cfg.Profile.AtomicGlob)
}

// separates reports whether by, or a CPU if by is nil, can come between the two halves of an Atomic.
func (w *World) separates(by *elem) bool {
	if by == nil || by.byCPU() {
		return !w.cfg.Profile.AtomicGlob
	}
	return by.kind != elemAtomic
}

// shuts reports whether x cannot land between the two halves of Atomic e.
func (e *elem) shuts(x *elem) bool {
	return x != e && x.reg == e.reg && x.overlaps(e.off, e.n) &&
		(x.kind == elemAtomic || x.byCPU() && x.q.w.cfg.Profile.AtomicGlob)
}

// brings reports whether e shuts x, or an element that must land before x.
func (w *World) brings(x, e *elem) bool {
	if e.shuts(x) {
		return true
	}
	for _, y := range x.q.elems {
		if !y.over() && e.shuts(y) && w.follows(x, y) {
			return true
		}
	}
	return false
}

// tooLate reports whether Atomic e, which is landing, can no longer read: something that
// could not come between its two halves lands before it writes.
func (w *World) tooLate(e *elem) bool {
	for i := len(w.landing) - 1; i >= 0 && w.landing[i] != e; i-- {
		if w.brings(w.landing[i], e) {
			return true
		}
	}
	return false
}

// overlooks reports whether an element that Atomic e must find is landing, and is not in memory yet.
func (w *World) overlooks(e *elem) bool {
	return slices.ContainsFunc(w.landing, func(x *elem) bool { return w.sees(e, x) })
}

// finishAtomics makes the Atomics that have read also write, if by must not come between.
func (w *World) finishAtomics(r *region, off, n int, by *elem) {
	if w.separates(by) {
		return
	}
	for all := sweep(&r.pend); all.next(); {
		if e := all.e; e.hasRead() && !e.during() && e.overlaps(off, n) {
			w.land(e)
			all.again()
		}
	}
}

// readBefore decides, for each pending Atomic on bytes that by is about to change, whether it has already read them.
func (w *World) readBefore(r *region, off, n int, by *elem) {
	if w.separates(by) {
		w.readEarlier(r, off, n, by)
	}
}

// readEarlier is like readBefore, for a change that may come between the two halves of an Atomic.
func (w *World) readEarlier(r *region, off, n int, by *elem) {
	for all := sweep(&r.pend); all.next() && !r.whole; {
		e := all.e
		if e == by || e.over() || e.stage == reading || e.frozen && (by == nil || by.since() > e.frozeAt) || e.hasRead() || !e.modifies() || !e.overlaps(off, n) ||
			!w.canLand(e) && !(e.during() && w.free(e) && !w.tooLate(e)) || by != nil && (w.follows(e, by) || w.sees(e, by)) || w.overlooks(e) {
			continue
		}
		if w.choose(ChooseOrder, 2, func(i int) string { return e.name() + readNames[i] }) == 1 {
			w.readAtomic(e)
			all.again()
		}
	}
}

var readNames = [...]string{" not read yet", " has read"}

// readAtomic performs the first half of an Atomic.
func (w *World) readAtomic(e *elem) {
	if !e.during() {
		// Elements that land first must see that e is about to read.
		e.begins()
		w.landing = append(w.landing, e)
		defer func() {
			w.landing = w.landing[:len(w.landing)-1]
			e.pauses()
		}()
	}
	w.landEarlier(e)
	w.seesAcked(e)
	e.goes(reading)
	w.beforeWrite(e.reg, e.off, e.n, e) // a newer element may have changed only other bytes of the word
	e.goes(landing)
	w.touch(e.reg.object(), Read)
	w.readWord(e)
	e.got = append(e.got, span{e.off, e.off + 8})
}

// readWord reads the old value for Atomic e. Like a look of a Read, it shows what
// persistent memory kept, and media errors.
func (w *World) readWord(e *elem) {
	w.findOut(e.reg, e.off, 8, false)
	e.goes(reading)
	defer func(x bool) { e.reg.whole = x }(e.reg.whole)
	e.reg.whole = true // no other Atomic may have read without having written: Atomics come one after the other
	w.damage(e.reg, e.off, 8, flips)
	e.goes(landing)
	e.data = w.bytes(8)
	binary.LittleEndian.PutUint64(e.data, e.reg.word(e.off))
}

// landEarlier lands the elements that must be in memory before e samples some of it.
func (w *World) landEarlier(e *elem) {
	for all := sweep(&e.q.elems); all.next(); {
		if p := all.e; p != e && !p.over() && !p.during() && w.before(p, e) {
			w.land(p)
			all.again()
		}
	}
}

// loadLocked performs the load of a locked instruction. Load and store are one step, so
// everything before the store comes before the load. Without ATOMIC_GLOB that may include the
// first half of an Atomic. It may include a card's fetch, and the landings that the fetch shows.
func (r *region) loadLocked(off int) uint64 {
	w := r.h.w
	w.cur.pause()
	r.check(off, 8)
	r.fetchesBefore(off, 8)
	w.beforeWrite(r, off, 8, nil)
	r.whole = w.cfg.Profile.AtomicGlob
	var b [8]byte
	r.look(off, b[:])
	r.whole = false
	return binary.LittleEndian.Uint64(b[:])
}
