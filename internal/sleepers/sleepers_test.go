package sleepers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// queue is a CQ of which only the number of completions counts.
type queue struct {
	verbs.CQ
	n int
}

// wait is a wait in progress, as a channel has them.
type wait struct {
	*Sleeper
	any  bool
	of   []*queue
	room int // for completions; none for those that only look
}

// ready is what the channels' waits look for.
func (w *wait) ready() bool {
	for _, q := range w.of {
		switch {
		case q.n > 0 && w.any:
			return true
		case q.n == 0 && !w.any:
			return false
		}
	}
	return !w.any
}

// take consumes what a wait consumes.
func (w *wait) take() {
	for _, q := range w.of {
		if w.room > 0 {
			q.n -= min(q.n, w.room)
		}
	}
}

func (w *wait) awake() bool { return len(w.C) > 0 }

// Whatever completes, and in whatever order those that are woken look, give up, or are
// joined by others: a wait that has what it waits for does not sleep forever. It is
// enough that somebody is awake who will wake it.
func TestNobodySleepsOverACompletion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var room Room
		queues := []*queue{{}, {}, {}}
		var waits []*wait
		leave := func(i int) {
			room.Leave(waits[i].Sleeper)
			waits = append(waits[:i:i], waits[i+1:]...)
		}
		// look is what a wait does when it is woken.
		look := func(i int) {
			w := waits[i]
			<-w.C
			if w.ready() {
				w.take()
				leave(i)
			}
		}
		awake := func() (of []int) {
			for i, w := range waits {
				if w.awake() {
					of = append(of, i)
				}
			}
			return of
		}
		join := func(w *wait) {
			if w.ready() { // it does not sleep at all
				w.take()
				return
			}
			switch {
			case w.any:
				w.Sleeper = room.JoinAny()
			case len(w.of) == 1:
				w.Sleeper = room.Join(w.of[0])
			default:
				w.Sleeper = room.JoinAll([]verbs.CQ{w.of[0], w.of[1]})
			}
			waits = append(waits, w)
		}
		t.Repeat(map[string]func(*rapid.T){
			"complete": func(t *rapid.T) {
				q := rapid.SampledFrom(queues).Draw(t, "queue")
				q.n++
				room.Wake(q)
			},
			"wait for one": func(t *rapid.T) {
				join(&wait{of: []*queue{rapid.SampledFrom(queues).Draw(t, "queue")}, room: rapid.IntRange(1, 3).Draw(t, "room")})
			},
			"gather": func(t *rapid.T) {
				i := rapid.IntRange(0, 2).Draw(t, "queue")
				join(&wait{of: []*queue{queues[i], queues[(i+1)%3]}, room: 1})
			},
			"wait for any": func(*rapid.T) { join(&wait{any: true, of: queues}) },
			"look": func(t *rapid.T) {
				if of := awake(); len(of) > 0 {
					look(rapid.SampledFrom(of).Draw(t, "who"))
				}
			},
			"time is over": func(t *rapid.T) {
				if len(waits) > 0 {
					leave(rapid.IntRange(0, len(waits)-1).Draw(t, "who"))
				}
			},
		})
		for of := awake(); len(of) > 0; of = awake() {
			look(of[0])
		}
		for _, w := range waits {
			if w.ready() {
				t.Fatalf("a wait sleeps over a completion: %+v", w)
			}
		}
		if room.Len() != len(waits) {
			t.Fatalf("%d sleep, want %d", room.Len(), len(waits))
		}
	})
}

// A completion wakes one of those that wait for its CQ, none that wait for another, and
// the one that leaves wakes the next.
func TestOneIsWoken(t *testing.T) {
	var room Room
	p, q := &queue{}, &queue{}
	var of []*Sleeper
	for range 3 {
		of = append(of, room.Join(p), room.Join(q))
	}
	both, any := room.JoinAll([]verbs.CQ{p, q}), room.JoinAny()
	woken := func(want ...*Sleeper) {
		t.Helper()
		n := 0
		for _, w := range room.asleep {
			n += len(w.C)
		}
		for _, w := range want {
			if len(w.C) != 1 {
				t.Error("one that should be awake sleeps")
			}
		}
		if n != len(want) {
			t.Errorf("%d are awake, want %d", n, len(want))
		}
	}
	room.Wake(q)
	room.Wake(q)
	woken(of[1], both, any)
	room.Leave(of[1])
	room.Leave(any)
	woken(of[3], both)
	room.WakeAll()
	woken(of[0], of[2], of[3], of[4], of[5], both)
}

// A room keeps nothing of a wait that is over but its timer and its channel.
func TestWaitsAllocateNothing(t *testing.T) {
	var room Room
	q := &queue{}
	cqs := []verbs.CQ{q, &queue{}}
	if n := testing.AllocsPerRun(100, func() {
		a, b, c := room.Join(q), room.JoinAll(cqs), room.JoinAny()
		room.Wake(q)
		for _, w := range [...]*Sleeper{a, b, c} {
			room.Leave(w)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, w := range room.idle {
		if w.any || w.of != nil || w.alone[0] != nil || len(w.C) > 0 {
			t.Errorf("%+v", w)
		}
	}
}
