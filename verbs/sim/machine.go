package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// machine is a way in which operations under way take effect. There are two, [late] and [eager]. They
// share the rules: what must land before what, what a card refuses, which completions may come. They
// differ in when something happens, and in who learns it:
//
// - Eager: every arrival, placement and acknowledgement is a step of its own. So at any moment it
// is known what has happened.
// - Late: all of that happens unseen. Whether it has happened is a choice of the step that reaches
// a place where it shows.
//
// Each method is a question that the two answer differently. What only one of them does is a
// method of that one.
type machine interface {
	stepQuestions
	memoryQuestions
	completionQuestions
	endQuestions
}

// stepQuestions are about the steps of a run.
type stepQuestions interface {
	// steps adds what cards can do by themselves to the events. It reports whether time can pass;
	// idle says whether it can as far as tasks are concerned.
	steps(idle bool) bool
	// stepwise reports whether each operation of a task is a step, each cell of a load or a Read is
	// looked at in its own step, even a message of no bytes arrives in one, and a crash is tried
	// before any of them.
	stepwise() bool
	// print adds to the print of a machine what only one of the two keeps.
	print(h *Host)
}

// memoryQuestions are about what comes to memory.
type memoryQuestions interface {
	// arrived reports whether e has arrived as far as is known, so that it may land.
	arrived(e *elem) bool
	// accepted reports whether the responder's card certainly has e.
	accepted(e *elem) bool
	// mayHold reports whether [off, off+n) of r may hold more by now than what is in memory.
	mayHold(r *region, off, n int) bool
	// landBefore decides what has landed on [off, off+n) of r by now.
	landBefore(r *region, off, n int)
	// cameBefore decides the same for an error that is found there, and which Atomics have read.
	cameBefore(r *region, off, n int)
	// beforeChange decides what precedes a change of [off, off+n) of r by element by, or by a CPU if by
	// is nil.
	beforeChange(r *region, off, n int, by *elem)
	// forwards reports whether a load finds what b holds, and not what is in memory once that has
	// drained.
	forwards(b *storeBuffer, r *region, off, n int) bool
	// respondsUnseen reports whether it must be decided which responses have arrived.
	respondsUnseen() bool
	// awaits reports whether a response can change r.
	awaits(r *region) bool
	// fetchesUnseen reports whether it must be decided what a card has fetched.
	fetchesUnseen() bool
}

// completionQuestions are about completions, and the failures of queue pairs that they report.
type completionQuestions interface {
	// has reports whether c may have a completion.
	has(c *cq) bool
	// next takes the next completion of c.
	next(c *cq) completion
	// keeps returns the completion at the front of c, which a channel has reported. Only a poll or the end of
	// its queue pair removes it.
	keeps(c *cq)
	// more reports whether another completion of c, which may have one, is available.
	more(c *cq) bool
	// decidesKept reports whether a completed receive that is in a CQ is one of the completions of
	// its queue pair that may come next. If not, the CQ is a plain queue.
	decidesKept() bool
	// receives reports whether q may receive the next request of its peer; came means that it
	// certainly arrived.
	receives(q *qp, came bool) bool
	// received reports whether q, whose peer has a new connection, has received request i of the old one.
	received(q *qp, i int) bool
	// failsUnseen reports whether a queue pair may have failed, or a request been lost, without a
	// step that says so.
	failsUnseen() bool
}

// endQuestions are about the ends of hosts, connections and access: what had happened by then.
type endQuestions interface {
	// cutoff decides how many requests of q had arrived when the responder stopped taking those that
	// hit; awaits means that one of them may still be executed.
	cutoff(q *qp, hit func(*sqEntry) bool, nak verbs.Status, awaits bool)
	// denies decides the same when access flags change: the first request that has not been taken,
	// and what may have overtaken it.
	denies(q *qp, hit func(*sqEntry) bool) (first int, overtakers []*elem)
	// responderDied decides which Reads and Atomics of q had been executed.
	responderDied(q *qp)
	// passed drops what had to wait for request n of q, whose memory is not readable, and decides
	// what is behind it.
	passed(q *qp, n int)
	// mayHaveRun reports whether Read e, whose response has no receiver, may have been executed; q can
	// have sent what is before reach.
	mayHaveRun(e *elem, reach int) bool
	// stops decides the fate of e, which no host was notified of, when its connection is replaced.
	// It reports whether e is gone.
	stops(e *elem) bool
	// settleRivals decides which frozen elements of q have landed.
	settleRivals(q *qp)
	// staysOpen reports whether it stays open if e, on its way to persistent memory, landed before its
	// machine crashed.
	staysOpen(e *elem) bool
	// losesPower leaves in r what may be persistent.
	losesPower(r *region)
}

// newMachine is the machine that w is configured for.
func newMachine(w *World) machine {
	if w.cfg.Eager {
		return &eager{w}
	}
	return &late{w}
}
