package sim

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
)

// The effects of a crash or a power failure on persistent memory, and how a run decides them.

// arriving notes which elements in flight to h's persistent memory could have landed by
// now, before h's connections stop.
func (w *World) arriving(h *Host) {
	for _, r := range h.lasting() {
		for _, e := range r.pend {
			e.could = w.canLand(e)
		}
	}
}

// replaced reports whether another machine has taken h's name.
func (h *Host) replaced() bool { return h.bank != h.node.bank }

// lasting returns the memory that the next life of h's node finds when h has ended. If
// another machine has taken the name, no task looks at h's memory again.
func (h *Host) lasting() []*region {
	if h.replaced() {
		return nil
	}
	return h.bank.regions
}

// leavePMEM ends a life's use of its persistent memory. A power failure also empties the
// caches of data that earlier lives have stored, whether or not this life has opened it.
func (w *World) leavePMEM(h *Host, power bool) {
	for _, r := range h.bank.regions {
		switch {
		case h.replaced():
			r.drop()
			continue
		case r.h != h && !power:
			continue
		}
		r.mrs, r.lent, r.receives = 0, 0, false
		for len(r.srcs) > 0 {
			w.fetchOne(r.srcs[0])
		}
		switch {
		case !power:
			w.crashPMEM(r)
		case w.cfg.Profile.Domain == faults.Volatile:
			w.dropPending(r, func(*elem) bool { return true })
			clear(r.data)
			w.recordChange(r, 0, r.data, false)
			r.hash, r.pm = print{}, newPMEM(r.pm.name)
			w.touch(r.object(), Write)
		default:
			w.machine.losesPower(r)
		}
	}
}

func (w *World) dropPending(r *region, drop func(*elem) bool) {
	for all := sweep(&r.pend); all.next(); {
		if drop(all.e) {
			w.discard(all.e)
			all.again()
		}
	}
}

// crashPMEM handles a crash: the process is gone and the machine continues. Its last
// stores were made or not. Data that the card had accepted is in memory if the profile
// drains, and may land later if not. What an earlier power failure left open stays open.
func (w *World) crashPMEM(r *region) {
	drain := w.cfg.Profile.DrainOnRevoke
	// First land everything that is certainly in memory. Landing decides the fate of frozen elements,
	// so in one sweep the result would depend on the order of the list, which is not part of the state.
	for all := sweep(&r.pend); drain && all.next(); {
		e := all.e
		sure := w.machine.accepted(e) && (e.acked || e.arrives())
		mates := func() bool {
			return !e.byCPU() && !e.frozen && e.could && w.machine.staysOpen(e) && w.withMates(e) == fateCame
		}
		if e.changes() && !e.lost() && (sure || mates()) {
			w.land(e)
			all.again()
		}
	}
	for all := sweep(&r.pend); all.next(); {
		switch e := all.e; {
		case e.lost():
			continue
		case !e.changes() || !e.could, !w.machine.staysOpen(e),
			e.kind == elemAtomic && e.q.h.alive: // whether it was executed has been decided
			if e.kind == elemAtomic && !w.machine.staysOpen(e) {
				w.dropAfter(e)
			}
			w.discard(e)
		case (drain || e.byCPU() || e.kind == elemAtomic) && !e.frozen:
			if w.freeze(e); e.over() {
				all.again()
			}
			continue
		default:
			continue
		}
		all.again()
	}
	for _, q := range w.qps {
		if slices.ContainsFunc(q.elems, func(e *elem) bool { return e.reg == r }) {
			w.machine.settleRivals(q)
		}
	}
}

// losePower leaves in r the contents that may be persistent. Which one it is, is decided later.
func (w *World) losePower(r *region) {
	w.touch(r.object(), Write)
	w.ticks++
	adr := w.cfg.Profile.Domain == faults.ADR
	w.dropPending(r, func(e *elem) bool {
		return !e.could && !e.frozen || e.kind == elemSample || e.kind == elemClwb || e.kind == elemFlush && !adr
	})
	if adr {
		w.findOlder(r)
		w.settleDrained(r)
		w.splitLost(r)
	}
	_, _, size := r.pm.span(r, 0, 0)
	for _, e := range r.pend {
		w.fetchOne(e)
		if e.frozen && !adr {
			continue // elements that arrived with it share its fate: it was cut off before
		}
		if !e.frozen {
			e.frozen, e.frozeAt = true, w.ticks
		}
		if e.harm = torn; adr {
			e.harm = cached
		}
		if !adr || !e.changes() {
			continue
		}
		for i := e.off / size; i*size < e.off+e.n; i++ {
			if len(r.pm.units[i].list) == 0 {
				r.pm.push(r, i, size)
			}
		}
	}
	for _, i := range r.pm.used {
		r.pm.units[i].open = len(r.pm.units[i].list) > 0
	}
}

// findOlder decides what an earlier power failure left in the units to which elements
// were in flight when power failed again.
func (w *World) findOlder(r *region) {
	for all := sweep(&r.pend); all.next(); {
		if e := all.e; !e.lost() && e.changes() && w.leftOpen(r, e.off, e.n) {
			w.findOut(r, e.off, e.n, false)
			all.again()
		}
	}
}

// leftOpen reports whether it is undecided what a power failure left in [off, off+n).
func (w *World) leftOpen(r *region, off, n int) bool {
	lo, hi, _ := r.pm.span(r, off, n)
	return slices.ContainsFunc(r.pm.units[lo:hi], func(u punit) bool { return u.open })
}

// settleDrained decides the fate of Writes and Atomics that were cut off before power
// fails, where data that a card has written to memory is past the caches. They share their
// fate with elements that arrived with them, not with those that are being placed now.
func (w *World) settleDrained(r *region) {
	for all := sweep(&r.pend); !w.caching(true) && all.next(); {
		if e := all.e; e.frozen && !e.lost() && e.tells() {
			w.settleFrozen(r, e.off, e.n)
			all.again()
		}
	}
}

// splitLost cuts elements in flight at the borders of units, each of which persists on its own.
func (w *World) splitLost(r *region) {
	size := w.unitBytes()
	for _, e := range append([]*elem(nil), r.pend...) {
		if e.kind != elemWrite || e.off/size == (e.off+e.n-1)/size {
			continue
		}
		w.fetchOne(e)
		at := 0
		for i, x := range e.q.elems {
			if x == e {
				at = i
			}
		}
		var parts []*elem
		for lo := e.off; lo < e.off+e.n; {
			hi := min(lo&^(size-1)+size, e.off+e.n)
			x := w.pools.elems.get()
			*x = *e
			x.off, x.n, x.sub, x.data, x.got = lo, hi-lo, e.sub+len(parts), e.data[lo-e.off:hi-e.off], nil
			parts = append(parts, x)
			lo = hi
		}
		r.pend = append(without(r.pend, e), parts...)
		e.q.elems = append(e.q.elems[:at:at], append(parts, e.q.elems[at+1:]...)...)
	}
}

// findOut decides what persisted of [off, off+n) before it is read or, if write is set,
// overwritten. Units that are overwritten as a whole need no decision.
func (w *World) findOut(r *region, off, n int, write bool) {
	if r.pm == nil || len(r.pm.used) == 0 || n == 0 {
		return
	}
	lo, hi, size := r.pm.span(r, off, n)
	for i := lo; i < hi; i++ {
		u := &r.pm.units[i]
		if !u.open || w.finding {
			continue
		}
		if write && whole(r, i, size, off, n) && w.underway(r, i, size) == nil {
			continue
		}
		w.findUnit(r, i, size)
	}
}

// underway returns an element that was in flight to unit i when power failed, or nil.
func (w *World) underway(r *region, i, size int) *elem {
	for _, e := range r.pend {
		if e.lost() && e.changes() && e.overlaps(i*size, size) {
			return e
		}
	}
	return nil
}

// findUnit decides what unit i holds: one of its earlier contents, or an element that was in flight to it.
func (w *World) findUnit(r *region, i, size int) {
	u := &r.pm.units[i]
	w.finding = true
	defer func() { w.finding = false }()
	for {
		var opts []content
		for k := len(u.list) - 1; k >= 0; k-- {
			c := u.list[k]
			known := false
			for _, o := range opts {
				known = known || o.bad == c.bad && bytes.Equal(o.data, c.data)
			}
			if !known {
				opts = append(opts, c)
			}
		}
		var way []*elem
		for _, e := range r.pend {
			if e.lost() && e.changes() && e.overlaps(i*size, size) {
				way = append(way, e)
			}
		}
		k := w.choose(ChoosePersist, len(opts)+len(way), func(k int) string {
			if k < len(opts) {
				what := hexText(opts[k].data)
				if opts[k].bad {
					what = damageNames[3]
				}
				return fmt.Sprintf("%s [%d,%d) kept %s", r.pm.name, i*size, i*size+size, what)
			}
			return way[k-len(opts)].name() + " persisted"
		})
		if k >= len(opts) {
			last := way[k-len(opts)]
			w.land(last)
			u.list = u.list[max(0, len(u.list)-1):] // an older content could have been chosen earlier
			if len(u.list) == 0 {
				r.pm.push(r, i, size)
			}
			u.open = true
			continue
		}
		w.close(r, i, size, opts[k])
		return
	}
}

// close sets the content of unit i to c. An element in flight that is not there did not
// land, or landed in a cache that is lost.
func (w *World) close(r *region, i, size int, c content) {
	u := &r.pm.units[i]
	var missed []*elem
	for all := sweep(&r.pend); all.next(); {
		e := all.e
		if !e.lost() || !e.changes() || !e.overlaps(i*size, size) {
			continue
		}
		missed = append(missed, e)
		w.miss(e)
		all.again()
	}
	w.dropPending(r, func(f *elem) bool {
		return f.lost() && f.kind == elemFlush && f.persist && f.overlaps(i*size, size) && w.refutes(u, c, missed, f)
	})
	w.change(r, i*size, c.data)
	w.recordChange(r, i*size, c.data, true)
	u.list, u.open, u.bad = u.list[:0], false, c.bad
}

// miss drops e, which is not in memory: it did not land, or landed in a cache that is lost.
func (w *World) miss(e *elem) {
	if w.caching(!e.byCPU()) {
		w.recordDropped(e)
		w.remove(e)
		e.lands()
	} else {
		w.discard(e)
	}
}

// refutes reports whether Flush f cannot have executed if unit u held no more than c, and none of the elements in
// flight: it would have made persistent what was there when it was posted, and what preceded it on its queue pair.
func (w *World) refutes(u *punit, c content, missed []*elem, f *elem) bool {
	for _, x := range u.list {
		if x.ver > c.ver && (x.at < f.at || x.q == f.q && x.wr < f.wr) {
			return true
		}
	}
	for _, e := range missed {
		if w.before(e, f) {
			return true
		}
	}
	return false
}
