package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// A request that is not signaled makes no completion when it is acknowledged. The acknowledgement shows
//
//   - when its queue pair goes to ERR: the request is not flushed (settle);
//   - when code looks where the response of a Read or Atomic lands (respond);
//   - when its peer stops: if nothing is outstanding then, the queue pair never fails, and a task that waits
//     for its error, or for the receives that it would flush, waits forever.
//
// In eager mode each acknowledgement is a step. In late mode the first two cases are choices of
// the step in which they show. The third is an event, but only where nothing else can happen: all
// that remains are failures, receives that may never complete, tasks that wait for those, timers
// and faults. Until then no code knows whether a queue pair is quiet or has not failed yet, and
// memory may hold the same in both cases: data that arrived before the peer stopped lands in both.

// enabledQuiet adds the events of quiet queue pairs, if certainly nothing else can happen.
func (w *World) enabledQuiet() {
	for i := range w.events {
		if ev := &w.events[i]; ev.task != nil && !ev.task.goesOnWith(mayNotCome) || ev.task == nil && !ev.qp.quiet() && !w.vain(ev) {
			return
		}
	}
	for i := range w.events {
		ev := &w.events[i]
		ev.quiet = ev.task == nil && ev.qp.quiet()
	}
	for _, q := range w.qps {
		if q.quiet() && !q.failsUnheard() {
			w.events = append(w.events, Event{Actor: q.failActor(), a: q.h.node.idx, qp: q, quiet: true})
		}
	}
}

// mayNotCome reports whether o is a failure or a receive that may never complete.
func mayNotCome(o outcome) bool {
	return mayVanish(o) || !o.recv && !o.kept && o.status == verbs.StatusRetryExcErr && o.q.quiet()
}

// quiet reports whether all outstanding requests of q may have been acknowledged before
// its peer stopped, without a completion of the last one.
func (q *qp) quiet() bool {
	if q.buffer != nil || q.gone || q.refusedBy || !q.h.alive || !q.sends() || q.lastSignaled() == q.outstanding()-1 || !q.lost() {
		return false
	}
	var buf [8]outcome
	_, to := q.ways(buf[:0], true)
	return to == q.outstanding()
}

// quietTo returns the end of the requests of q that may be acknowledged by now without any completion.
func (q *qp) quietTo() int {
	if q.buffer != nil || q.gone || q.misfitted || !q.sends() {
		return q.head
	}
	var buf [8]outcome
	_, to := q.ways(buf[:0], false)
	return to
}

// quietWays appends one outcome for each request from i to before end: all requests up
// to it were acknowledged without a completion.
func (q *qp) quietWays(o []outcome, i, end int) []outcome {
	for ; i < end; i++ {
		o = append(o, outcome{q: q, wr: i, status: verbs.StatusSuccess, quiet: true})
	}
	return o
}

// lastSignaled returns the last outstanding request that makes a completion, or the one before all outstanding ones.
func (q *qp) lastSignaled() int {
	i := q.outstanding() - 1
	for i >= q.head && !q.ent(i).signaled {
		i--
	}
	return i
}

var quietNames = [...]string{" fails", " was acknowledged without a completion"}

// quiets acknowledges the requests of q up to i. Those that are signaled complete.
func (q *qp) quiets(i int) {
	q.touchElems()
	if last := q.lastSignaled(); last >= q.head && last < i {
		q.completeTo(outcome{q: q, wr: last, status: verbs.StatusSuccess})
	}
	defer func(x bool) { q.completing = x }(q.completing)
	q.completing = true
	for ; q.head <= i; q.head++ {
		q.w.acknowledge(q, q.head)
	}
}
