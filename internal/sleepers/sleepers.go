// Package sleepers decides which waiters of a completion channel sleep, and which are woken.
//
// A completion of a CQ need not wake all that wait: it wakes those that wait for several
// CQs including this one, and one of those that wait for this CQ alone. The latter all
// wait for the same thing. A woken waiter looks for itself, and when it leaves, for
// whatever reason, it wakes the next one that waits for the same CQ, since there may be
// more than it has taken. So no completion finds everybody asleep: of those that wait for
// a CQ alone, one has been awake since its last completion, and has either left, and woken
// the next, or found the CQ empty.
package sleepers

import (
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Room holds the waits that sleep on a channel. Its owner's lock guards it. The zero value
// is empty.
type Room struct {
	asleep []*Sleeper
	idle   []*Sleeper // of earlier waits, because a wait must not allocate
}

// Sleeper is a wait that sleeps.
type Sleeper struct {
	// C receives when it must look again, and Timer.C when its time is over.
	C     chan struct{}
	Timer *time.Timer
	any   bool
	of    []verbs.CQ  // what it waits for, if not for any
	alone [1]verbs.CQ // of, for one
}

// Join begins a wait for completions of one CQ.
func (r *Room) Join(q verbs.CQ) *Sleeper {
	w := r.join()
	w.alone[0] = q
	w.of = w.alone[:]
	return w
}

// JoinAll begins a wait for completions of all of cqs.
func (r *Room) JoinAll(cqs []verbs.CQ) *Sleeper {
	w := r.join()
	w.of = cqs
	return w
}

// JoinAny begins a wait for completions of any CQ.
func (r *Room) JoinAny() *Sleeper {
	w := r.join()
	w.any = true
	return w
}

func (r *Room) join() *Sleeper {
	var w *Sleeper
	if n := len(r.idle); n > 0 {
		w, r.idle = r.idle[n-1], r.idle[:n-1]
	} else {
		w = &Sleeper{C: make(chan struct{}, 1), Timer: time.NewTimer(time.Hour)}
		w.Timer.Stop()
	}
	r.asleep = append(r.asleep, w)
	return w
}

// Leave ends a wait, whether it has found something or not.
func (r *Room) Leave(w *Sleeper) {
	i := slices.Index(r.asleep, w)
	r.asleep = slices.Delete(r.asleep, i, i+1)
	if w.single() {
		r.wakeOne(w.of[0])
	}
	w.Timer.Stop()
	select {
	case <-w.C:
	default:
	}
	w.any, w.of, w.alone[0] = false, nil, nil
	r.idle = append(r.idle, w)
}

// Wake is called when q may have a completion.
func (r *Room) Wake(q verbs.CQ) {
	for _, w := range r.asleep {
		if w.any || !w.single() && slices.Contains(w.of, q) {
			w.wake()
		}
	}
	r.wakeOne(q)
}

// wakeOne wakes the first that waits for q alone.
func (r *Room) wakeOne(q verbs.CQ) {
	for _, w := range r.asleep {
		if w.single() && w.of[0] == q {
			w.wake()
			return
		}
	}
}

// WakeAll is called when the channel, a CQ or the device is destroyed or closed.
func (r *Room) WakeAll() {
	for _, w := range r.asleep {
		w.wake()
	}
}

// Len returns how many sleep.
func (r *Room) Len() int { return len(r.asleep) }

// single reports whether it waits for one CQ, and for nothing else. Waits for one that were
// begun by JoinAll count as well: what they wait for is the same.
func (w *Sleeper) single() bool { return !w.any && len(w.of) == 1 }

func (w *Sleeper) wake() {
	select {
	case w.C <- struct{}{}:
	default: // it is awake already
	}
}
