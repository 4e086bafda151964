package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// A request that is not signaled makes no completion when it is acknowledged. If that happens to
// the last requests of a queue pair before its peer stops, the queue pair has nothing outstanding and never
// fails: whoever waits for its error, or for the receives that it would flush, waits on. Requests
// before a signaled one need no step of their own: its completion acknowledges them.

// quiet reports whether all that q has outstanding may have been acknowledged, though its peer has stopped, and no
// completion says so.
func (q *qp) quiet() bool {
	if q.buffer != nil || q.gone || q.refusedBy || !q.h.alive || !q.sends() || q.head == q.posted || !q.lost() {
		return false
	}
	for i := q.head; i < q.posted; i++ {
		if q.ent(i).signaled {
			return false
		}
	}
	var buf [8]outcome
	_, whole := q.ways(buf[:0], true)
	return whole
}

var quietNames = [...]string{" fails", " was acknowledged without a completion"}

// quiets acknowledges all that q has outstanding.
func (q *qp) quiets() {
	q.touchElems()
	defer func(x bool) { q.completing = x }(q.completing)
	q.completing = true
	o := outcome{q: q, wr: q.posted - 1, status: verbs.StatusSuccess}
	q.leftBy(o)
	for i := q.head; i < q.posted; i++ {
		q.w.acknowledge(q, i)
	}
	q.head = q.posted
}
