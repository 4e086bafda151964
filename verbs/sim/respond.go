package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Responses of Reads and Atomics reach the requester's memory before a poll of the completion. In eager mode
// that is the step of an acknowledgement. In late mode completions are decided when they are polled, and their
// responses land then, unless a step reaches the memory before: a CPU or a card reads or changes it, or a card
// fetches from it. Which requests have completed by then is a choice; their completions wait in the CQ.

// responses decides which requests of r's own host with responses for [off, off+n) have completed.
func (w *World) responses(r *region, off, n int) {
	if !r.awaits || !w.machine.respondsUnseen() {
		return
	}
	for _, q := range w.qps {
		for q.h == r.h {
			brings := q.brings(r, off, n)
			if brings < 0 {
				break
			}
			q.touchElems()
			if w.cur != nil {
				w.cur.looked = true
			}
			if !q.respond(false, brings) {
				break
			}
		}
	}
}

// brings returns the first request of q that has not completed and has a response for [off, off+n) of r, or -1.
func (q *qp) brings(r *region, off, n int) int {
	if q.head == q.posted || q.gone || q.buffer != nil || q.completing || !q.h.alive || !q.sends() {
		return -1
	}
	if slices.ContainsFunc(q.w.landing, func(e *elem) bool { return e.q == q && e.responds() }) {
		return -1 // a request that is executing now has no response yet
	}
	for i := q.head; i < q.posted; i++ {
		s := q.ent(i)
		if s.op != verbs.OpRead && !s.op.IsAtomic() || s.local != verbs.StatusSuccess {
			continue
		}
		for _, d := range s.dst {
			if d.r == r && d.off < off+n && off < d.off+d.n {
				return i
			}
		}
	}
	return -1
}

// awaitsResponse reports whether a Read or Atomic of q has not completed.
func (q *qp) awaitsResponse() bool {
	for i := q.head; i < q.posted; i++ {
		if s := q.ent(i); s.op == verbs.OpRead || s.op.IsAtomic() {
			return true
		}
	}
	return false
}

// respond decides whether one more request of q has succeeded, if it can have: one that makes a completion,
// or request brings itself. If the run is over, the request has certainly finished in one way or another.
func (q *qp) respond(over bool, brings int) bool {
	w := q.w
	var buf [8]outcome
	o, to := q.ways(buf[:0], false)
	o = q.quietWays(o, brings, min(to, brings+1))
	o = slices.DeleteFunc(o, func(x outcome) bool { // a request that is landing has not been acknowledged
		return slices.ContainsFunc(w.landing, func(e *elem) bool { return e.q == q && e.wr <= x.wr })
	})
	none := 0
	if !over {
		o = slices.DeleteFunc(o, func(x outcome) bool { return x.status != verbs.StatusSuccess })
		none = 1
	}
	if len(o) == 0 {
		return false
	}
	i := w.choose(ChooseCompletion, len(o)+none, func(i int) string {
		if i < none {
			return q.name() + " has completed no more"
		}
		return o[i-none].name()
	})
	if i < none {
		return false
	}
	q.decide(o[i-none])
	return true
}

// awaited reports whether a response for r is in flight.
func (r *region) awaited() bool { return r.h.w.responding(r, 0, len(r.data)) }

// responding reports whether a response for [off, off+n) of r is in flight.
func (w *World) responding(r *region, off, n int) bool {
	return r.awaits && w.machine.respondsUnseen() && slices.ContainsFunc(w.qps, func(q *qp) bool { return q.h == r.h && q.brings(r, off, n) >= 0 })
}

// passedOn decides which responses arrived in time to be sent on, or to reach memory that survives, because h dies.
func (w *World) passedOn(h *Host) {
	for _, r := range h.lasting() {
		if r.h == h {
			w.responses(r, 0, len(r.data))
		}
	}
	for _, q := range w.qps {
		if q.h != h || q.gone || !slices.ContainsFunc(q.elems, func(e *elem) bool { return e.src != nil && e.src.awaits }) {
			continue
		}
		for _, e := range slices.Clone(q.elems) {
			if e.src != nil {
				w.responses(e.src, e.srcOff, e.n)
			}
		}
	}
}

// sourced prepares the fetches for elements that may land on [off, off+n) of r, and for elements that leave
// before those: it decides what has landed in source memory to which responses or other elements are in flight.
func (w *World) sourced(r *region, off, n int) {
	var from [32]*elem
	f := from[:0]
	for _, e := range r.pend {
		if !e.overlaps(off, n) || !w.canLand(e) {
			continue
		}
		for _, p := range e.q.elems {
			if p.src != nil && (p.src.awaits || len(p.src.pend) > 0) && (p == e || w.leavesBefore(p, e)) && !slices.Contains(f, p) {
				f = append(f, p)
			}
		}
	}
	for _, e := range f {
		w.beforeFetch(e)
	}
}

// takeSources is like fetch, but decides nothing: sourced has done so.
func (w *World) takeSources(e *elem) {
	for p := w.unfetched(e); p != nil; p = w.unfetched(e) {
		w.takeSource(p)
	}
}
