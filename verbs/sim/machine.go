package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// machine defines how operations in flight take effect. There are two, [late] and [eager]. They share the rules:
// which element must land before which, what a card refuses, which completions may come. They differ in when
// something happens, and in who learns it:
//
// - Eager: every arrival, placement and acknowledgement is a step of its own. So at any moment it is known
// what has happened.
// - Late: all of that happens unseen. Whether it has happened is a choice of the step that reaches a place
// where it shows.
//
// Each method is a question that the two answer differently. A method that only one of
// them needs belongs to that one.
type machine interface {
	stepQuestions
	memoryQuestions
	completionQuestions
	endQuestions
}

// stepQuestions are about the steps of a run.
type stepQuestions interface {
	// steps adds the events that cards cause by themselves. It reports whether time can
	// pass; idle says whether the tasks allow it.
	steps(idle bool) bool
	// stepwise reports whether each operation of a task is a step, each cell of a load or Read is looked at
	// in its own step, even an empty message arrives in a step, and a crash is tried before any of them.
	stepwise() bool
	// print adds to the print of a machine the state that only one of the two keeps.
	print(h *Host)
}

// memoryQuestions are about changes of memory.
type memoryQuestions interface {
	// arrived reports whether e has arrived as far as is known, so that it may land.
	arrived(e *elem) bool
	// accepted reports whether the responder's card certainly has e.
	accepted(e *elem) bool
	// mayHold reports whether [off, off+n) of r may hold more by now than memory shows.
	mayHold(r *region, off, n int) bool
	// landBefore decides what has landed on [off, off+n) of r by now.
	landBefore(r *region, off, n int)
	// cameBefore is landBefore for an error that is found there. It also decides which Atomics have read.
	cameBefore(r *region, off, n int)
	// beforeChange decides what precedes a change of [off, off+n) of r by element by, or by a CPU if by is nil.
	beforeChange(r *region, off, n int, by *elem)
	// forwards reports whether a load finds the contents of b, and not those of memory after b has drained.
	forwards(b *storeBuffer, r *region, off, n int) bool
	// respondsUnseen reports whether a step must decide which responses have arrived.
	respondsUnseen() bool
	// awaits reports whether a response can change r.
	awaits(r *region) bool
	// fetchesUnseen reports whether a step must decide what a card has fetched.
	fetchesUnseen() bool
}

// completionQuestions are about completions, and the failures of queue pairs that they report.
type completionQuestions interface {
	// has reports whether c may have a completion.
	has(c *cq) bool
	// next takes the next completion of c.
	next(c *cq) completion
	// keeps decides which completion is at the front of c, because a channel has reported
	// c. Only a poll, or the end of its queue pair, removes it.
	keeps(c *cq)
	// more reports whether another completion of c, which may have one, is available.
	more(c *cq) bool
	// decidesKept reports whether a completed receive in a CQ is one of the completions
	// of its queue pair that may come next. If not, the CQ is a plain queue.
	decidesKept() bool
	// receives reports whether q may receive the next request of its peer. came means
	// that the request certainly arrived.
	receives(q *qp, came bool) bool
	// received reports whether q, whose peer has a new connection, has received request i of the old one.
	received(q *qp, i int) bool
	// failsUnseen reports whether a queue pair may have failed, or a request been lost, without a step that shows it.
	failsUnseen() bool
}

// endQuestions are about stops of hosts, connections and access: what had happened by then.
type endQuestions interface {
	// cutoff decides how many requests of q had arrived when the responder stopped taking
	// those that hit accepts. awaits means that one of them may still be executed.
	cutoff(q *qp, hit func(*sqEntry) bool, nak verbs.Status, awaits bool)
	// denies decides the same when access flags change. It returns the first request that
	// has not been taken, and the elements that may have overtaken it.
	denies(q *qp, hit func(*sqEntry) bool) (first int, overtakers []*elem)
	// responderDied decides which Reads and Atomics of q had been executed.
	responderDied(q *qp)
	// passed drops the elements that had to wait for request n of q, which unreadable
	// memory refused, and decides the fate of those behind n.
	passed(q *qp, n int)
	// mayHaveRun reports whether Read e, whose response has no receiver, may have been
	// executed. q can have sent the requests before reach.
	mayHaveRun(e *elem, reach int) bool
	// stops decides the fate of e when its connection is replaced and no host was
	// notified of e. It reports whether e is gone.
	stops(e *elem) bool
	// settleRivals decides which frozen elements of q have landed.
	settleRivals(q *qp)
	// staysOpen reports whether it stays open if e, in flight to persistent memory,
	// landed before its machine crashed.
	staysOpen(e *elem) bool
	// losesPower leaves in r the contents that may be persistent.
	losesPower(r *region)
}

// newMachine returns the machine that w is configured for.
func newMachine(w *World) machine {
	if w.cfg.Eager {
		return &eager{w}
	}
	return &late{w}
}
