package sim

import (
	"github.com/verbatim-rdma/verbatim/verbs"
)

// CPUs are x86-TSO (Owens, Sarkar, Sewell, TPHOLs 2009): what a task stores waits
// in a buffer of its own, in order, and drains at any later moment. The task sees
// its own stores at once; others see them when they have drained. A buffer is
// kept as a queue of pending elements, like that of a queue pair, so that a store
// that nobody looks at costs nothing (land.go).
//
// DRAM that only the storing task can reach needs no buffer: nobody could tell. Of
// persistent memory the next life can tell how far the stores had got.

// storeBuffer is t's buffer, made when it is first needed.
func (t *task) storeBuffer() *qp {
	if t.sb == nil {
		w := t.w
		q := w.pools.qps.get()
		*q = qp{sq: q.sq, elems: q.elems[:0], rq: q.rq[:0], w: w, h: t.h, state: verbs.StateInit, cpu: t,
			limit: unlimited, cutAt: unlimited, unacked: unlimited}
		w.qps = append(w.qps, q)
		t.sb = q
	}
	return t.sb
}

// buffer puts a store, or the flush of some lines, into t's buffer.
func (t *task) buffer(kind elemKind, r *region, off, n int, data []byte) {
	w, q := t.w, t.storeBuffer()
	w.ticks++
	e := w.pools.elems.get()
	*e = elem{got: e.got[:0], at: w.ticks, q: q, wr: q.posted, kind: kind, reg: r, off: off, n: n, came: true}
	if data != nil {
		e.data = w.bytes(n)
		copy(e.data, data)
	}
	q.posted++
	q.elems = append(q.elems, e)
	r.pend = append(r.pend, e)
	w.touch(r.object(), Add)
	t.reach()
}

// shared reports whether others than the running task can reach r.
func (r *region) shared() bool { return r.lent > 0 || r.h.live > 1 }

// store puts p into the buffer, cut as a message is.
func (t *task) store(r *region, off int, p []byte) {
	w := t.w
	for done := 0; done < len(p); {
		n := min(w.cells().Cut(off+done, done, len(p)), len(p)-done)
		t.buffer(elemWrite, r, off+done, n, p[done:done+n])
		done += n
	}
}

// drain lands all that waits in t's buffer. It takes effect at once.
func (t *task) drain() {
	if t.sb == nil || len(t.sb.elems) == 0 || t.w.dying() {
		return
	}
	t.pauseDirty()
	for len(t.sb.elems) > 0 {
		t.w.land(t.sb.elems[0])
	}
}

// forward answers a load from t's own buffer. It reports false if memory is to be
// looked at: nothing of t's is on the way there, or it has drained by now.
func (t *task) forward(r *region, off int, p []byte) bool {
	last, whole := t.own(r, off, p)
	if last == nil {
		return false
	}
	w := t.w
	if whole && (w.cfg.Eager || !t.rivals(r, off, len(p)) ||
		w.choose(ChooseLanding, 2, func(i int) string { return drainNames[i] }) == 0) {
		w.touch(r.object(), Read)
		return true
	}
	w.land(last) // with all before it; a load of more than was stored waits for that
	return false
}

var drainNames = [...]string{"own store", "own store drained"}

// own copies what t's buffer holds of [off, off+len(p)) into p. It returns the
// newest store there, and whether the buffer holds all of the bytes.
func (t *task) own(r *region, off int, p []byte) (last *elem, whole bool) {
	if t.sb == nil {
		return nil, false
	}
	have := 0
	for i := range p {
		found := false
		for _, e := range t.sb.elems {
			if e.reg == r && e.kind == elemWrite && e.overlaps(off+i, 1) {
				p[i], found = e.data[off+i-e.off], true
				if last == nil || e.wr > last.wr {
					last = e
				}
			}
		}
		have += boolInt(found)
	}
	return last, have == len(p)
}

// rivals reports whether others change bytes of r, or a media error may or has, so that a
// load may find something else than t's own store.
func (t *task) rivals(r *region, off, n int) bool {
	if x := r.h.node; r.pm != nil && (x.flips+x.poisons > 0 || t.w.unreadable(r, off, n)) {
		return true
	}
	if t.w.responding(r, off, n) {
		return true
	}
	for _, e := range r.pend {
		if e.q != t.sb && e.changes() && e.overlaps(off, n) && t.w.canLand(e) {
			return true
		}
	}
	return false
}
