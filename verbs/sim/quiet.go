package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// A request that is not signaled makes no completion when it is acknowledged. If the last requests
// of a queue pair are acknowledged like that before its peer stops, nothing is outstanding and the
// queue pair never fails. A task that waits for its error, or for the receives that it would
// flush, waits forever.

// quiet reports whether all outstanding requests of q may have been acknowledged before its peer stopped,
// without a completion of the last one.
func (q *qp) quiet() bool {
	if q.buffer != nil || q.gone || q.refusedBy || !q.h.alive || !q.sends() || q.lastSignaled() == q.posted-1 || !q.lost() {
		return false
	}
	var buf [8]outcome
	_, whole := q.ways(buf[:0], true)
	return whole
}

// lastSignaled is the last outstanding request that makes a completion, or the one before all that are outstanding.
func (q *qp) lastSignaled() int {
	i := q.posted - 1
	for i >= q.head && !q.ent(i).signaled {
		i--
	}
	return i
}

var quietNames = [...]string{" fails", " was acknowledged without a completion"}

// quiets acknowledges all outstanding requests of q. Those that are signaled complete.
func (q *qp) quiets() {
	q.touchElems()
	if i := q.lastSignaled(); i >= q.head {
		q.completeTo(outcome{q: q, wr: i, status: verbs.StatusSuccess})
	}
	defer func(x bool) { q.completing = x }(q.completing)
	q.completing = true
	q.leftBy(outcome{q: q, wr: q.posted - 1, status: verbs.StatusSuccess})
	for i := q.head; i < q.posted; i++ {
		q.w.acknowledge(q, i)
	}
	q.head = q.posted
}
