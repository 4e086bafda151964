package sim

import (
	"github.com/verbatim-rdma/verbatim/verbs"
)

// CPUs are x86-TSO (Owens, Sarkar, Sewell, TPHOLs 2009): a store of a task waits in the task's buffer, in order,
// and drains at any later moment. The task sees its own stores at once; others see them when they have drained.
//
// DRAM that only the storing task can reach needs no buffer: nobody could notice. In
// persistent memory the next life can see how far the stores had got.

// storeBuffer is the store buffer of a task. Flushes of cache lines pass through it like stores.
type storeBuffer struct {
	t *task
	// queue holds the waiting stores, as pending elements like those of a queue pair, so that a
	// store that is never observed costs nothing (land.go). It is created when it is first needed.
	queue *qp
	// flushing holds the lines whose write-back a fence awaits.
	flushing []clwbRec
}

func (b *storeBuffer) empty() bool { return b.queue == nil || len(b.queue.elems) == 0 }

// opened returns the buffer's queue, and creates it if there is none yet.
func (b *storeBuffer) opened() *qp {
	if b.queue == nil {
		w := b.t.w
		q := w.pools.qps.get()
		*q = qp{sq: q.sq, elems: q.elems[:0], rq: q.rq[:0], w: w, h: b.t.h, state: verbs.StateInit, buffer: b,
			limit: unlimited, cutAt: unlimited, unacked: unlimited}
		w.qps = append(w.qps, q)
		b.queue = q
	}
	return b.queue
}

// put adds a store, or the flush of some lines.
func (b *storeBuffer) put(kind elemKind, r *region, off, n int, data []byte) {
	w, q := b.t.w, b.opened()
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
	b.t.reach()
}

// store adds a store of p, cut like a message.
func (b *storeBuffer) store(r *region, off int, p []byte) {
	w := b.t.w
	for done := 0; done < len(p); {
		n := min(w.cut(off+done, done, len(p)), len(p)-done)
		b.put(elemWrite, r, off+done, n, p[done:done+n])
		done += n
	}
}

// drain lands everything in the buffer.
func (b *storeBuffer) drain() {
	for !b.empty() {
		b.t.w.land(b.queue.elems[0])
	}
}

// forward serves a load by the task itself. It returns false if the load must look at
// memory: the buffer holds no store to these bytes, or that store has drained by now.
func (b *storeBuffer) forward(r *region, off int, p []byte) bool {
	last, whole := b.holds(r, off, p)
	if last == nil {
		return false
	}
	w := b.t.w
	if whole && w.machine.forwards(b, r, off, len(p)) {
		w.touch(r.object(), Read)
		return true
	}
	w.land(last) // with everything before it; a load of more bytes than were stored waits for the drain
	return false
}

// holds copies the buffered bytes of [off, off+len(p)) into p. It returns the newest
// store there, and whether the buffer holds all of the bytes.
func (b *storeBuffer) holds(r *region, off int, p []byte) (last *elem, whole bool) {
	if b.empty() {
		return nil, false
	}
	have := 0
	for i := range p {
		found := false
		for _, e := range b.queue.elems {
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

// rivals reports whether others change bytes of r, or a media error shows or may show
// there, so that a load may find something other than the content of the buffer.
func (b *storeBuffer) rivals(r *region, off, n int) bool {
	w := b.t.w
	if x := r.h.bank; r.pm != nil && (x.flips+x.poisons > 0 || w.unreadable(r, off, n)) {
		return true
	}
	if w.responding(r, off, n) {
		return true
	}
	for _, e := range r.pend {
		if e.q != b.queue && e.changes() && e.overlaps(off, n) && w.canLand(e) {
			return true
		}
	}
	return false
}

// flush starts the write-back of lines once the stores before it have drained.
func (b *storeBuffer) flush(r *region, off, n int) {
	if !b.t.w.preparing {
		b.put(elemClwb, r, off, n, nil)
		return
	}
	b.writeBack(r, off, n)
}

// writeBack notes which version of each unit is on its way to memory.
func (b *storeBuffer) writeBack(r *region, off, n int) {
	lo, hi, _ := r.pm.span(r, off, n)
	for i := lo; i < hi; i++ {
		if u := &r.pm.units[i]; len(u.list) > 0 && !u.open {
			b.flushing = append(b.flushing, clwbRec{r, i, u.ver})
		}
	}
}

// persist completes the write-back: the lines are in memory.
func (b *storeBuffer) persist() {
	for _, f := range b.flushing {
		f.r.pm.sure(f.unit, f.ver)
		b.t.w.touch(f.r.object(), Write)
	}
	b.flushing = b.flushing[:0]
}

// byCPU reports whether e waits in a store buffer. All other elements belong to a card.
func (e *elem) byCPU() bool { return e.q.buffer != nil }

// drain lands everything that t has stored. It takes effect at once.
func (t *task) drain() {
	switch {
	case t.w.dying():
		return
	case t.sb.empty():
		t.passes() // others may have landed its stores
		return
	}
	t.pauseDirty()
	t.sb.drain()
}

// drainShared is drain and pauseShared in one. Others see a buffered store when they
// look, whether it has drained or not, so one pause is enough.
func (t *task) drainShared() {
	if !t.sb.empty() {
		t.drain()
	} else {
		t.pauseShared()
	}
}

// fence waits until t's stores have drained and its lines are back in memory.
func (t *task) fence() {
	if t.w.dying() {
		return
	}
	t.drain()
	if len(t.sb.flushing) == 0 {
		t.passes()
		return
	}
	// A power failure may strike before that, while more than one content is possible.
	t.pauseDirty()
	t.sb.persist()
	t.reach()
}
