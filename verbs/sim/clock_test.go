package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/faults"
)

// clockWorld returns a world of hosts that have timers and nothing else.
func clockWorld(timers faults.Timers, hosts, tasks int) (*World, []*task) {
	w := &World{cfg: Config{Timers: timers}}
	for i := range hosts {
		h := &Host{w: w, node: &node{w: w, idx: i}}
		for j := range tasks {
			w.tasks = append(w.tasks, &task{w: w, h: h, ord: j, alive: true})
		}
	}
	return w, w.tasks
}

// The regime allows everything that clocks within the ratio do. The test makes a run of such clocks, tick by
// tick, and asks before every timer that fires. With ratio 1, and on one host, the regime allows nothing else.
func TestSkewAllowsWhatClocksDo(t *testing.T) {
	asked := 0
	for _, ratio := range []int64{1, 2, 3} {
		rapid.Check(t, func(t *rapid.T) {
			w, tasks := clockWorld(faults.Timers{Regime: faults.Skew, Num: ratio, Den: 1}, 2, 3)
			var clocks [2]time.Duration
			due := map[*task]time.Duration{}
			n := 0
			draw := func(lo, hi int64) int64 { n++; return rapid.Int64Range(lo, hi).Draw(t, fmt.Sprint(n)) }
			var since [2]time.Duration // looks at the clocks
			for range 40 {
				for i := range clocks {
					h := tasks[3*i].h
					if draw(0, 3) > 0 {
						continue
					}
					lo, hi := h.passed()
					if d := int64(clocks[i] - since[i]); d < lo || d > hi {
						t.Fatalf("%v have passed on clock %d, and only %v to %v are allowed", d, i, lo, hi)
					} else {
						asked++
						h.passes(d)
					}
					since[i] = clocks[i]
				}
				for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, fmt.Sprint("order", n)) {
					x := tasks[i]
					at, set := due[x]
					switch {
					case set && at == clocks[x.h.node.idx]:
						asked++
						if !w.canFire(x) {
							t.Fatalf("timer %d fires at %v on the clocks %v, and may not", i, at, clocks)
						}
						w.fire(x)
						delete(due, x)
					case !set && draw(0, 2) == 0:
						d := time.Duration(draw(1, 6))
						x.op = x.h.within(op{kind: opSleep}, d)
						x.arm()
						due[x] = clocks[x.h.node.idx] + d
					case set && draw(0, 9) == 0:
						x.disarm()
						delete(due, x)
					}
				}
				for h := range clocks {
					step := time.Duration(draw(1, ratio))
					for x, at := range due {
						if x.h.node.idx == h {
							step = min(step, max(at-clocks[h], 1))
						}
					}
					clocks[h] += step
				}
			}
		})
	}
	if asked < 1000 {
		t.Errorf("%d timers fired: that compares too little", asked)
	}
}

// told is a policy that answers every choice with the option that the test sets.
type told struct{ option int }

func (told) Pick([]Event) int                  { return 0 }
func (p *told) Choose(_ ChoiceKind, _ int) int { return p.option }

// The timer of a Gather runs from its calls, whether or not a task waits. A later wait finds
// it expired exactly when the clocks allow that. Otherwise the timer fires at its age.
func TestTimersOfGathersAllowWhatClocksDo(t *testing.T) {
	asked, waits := 0, [2]int{}
	for _, ratio := range []int64{1, 2} {
		rapid.Check(t, func(t *rapid.T) {
			w, tasks := clockWorld(faults.Timers{Regime: faults.Skew, Num: ratio, Den: 1}, 2, 3)
			policy := &told{}
			w.pol = policy
			var clocks [2]time.Duration
			due := map[*gather]time.Duration{}
			of := map[*task]*gather{}
			n := 0
			draw := func(lo, hi int64) int64 { n++; return rapid.Int64Range(lo, hi).Draw(t, fmt.Sprint(n)) }
			for range draw(1, 40) {
				w.steps++
				for i, x := range tasks {
					g, now := of[x], clocks[x.h.node.idx]
					w.cur = x
					switch {
					case g == nil && draw(0, 2) == 0: // calls
						g = &gather{h: x.h, ord: i + int(draw(0, 1))*8, timed: true, span: time.Duration(draw(1, 8)), began: w.steps}
						if of[x] = g; !slices.Contains(x.h.gaths, g) {
							x.h.gaths = append(x.h.gaths, g)
						}
						due[g] = now + g.span
						g.age()
					case g != nil && x.op.armed && due[g] == now:
						asked++
						if !w.canFire(x) {
							t.Fatalf("the timer of task %d is due at %v (clocks %v), but cannot fire", i, now, clocks)
						}
						w.fire(x)
						x.op, of[x] = op{}, nil
					case g != nil && x.op.armed && draw(0, 3) == 0: // an answer arrives, but not the last
						x.disarm()
						x.op = op{}
					case g != nil && x.op.armed:
					case g != nil && draw(0, 2) == 0: // a wait
						over := now >= due[g]
						if policy.option = 0; over {
							policy.option = 1
						}
						x.op = op{kind: opGather, gather: g, timed: true, span: g.span}
						x.arm()
						if x.op.fired != over || x.op.armed == over {
							t.Fatalf("a wait at %v for a timer due at %v: fired %v, armed %v", now, due[g], x.op.fired, x.op.armed)
						}
						if waits[0]++; over {
							waits[1]++
							g.forget()
							x.op, of[x] = op{}, nil
						}
					case g != nil && draw(0, 9) == 0:
						g.forget()
						of[x] = nil
					}
				}
				for h := range clocks {
					step := time.Duration(draw(1, ratio))
					for _, x := range tasks {
						if x.h.node.idx == h && x.op.armed {
							step = min(step, max(due[of[x]]-clocks[h], 1))
						}
					}
					clocks[h] += step
				}
			}
		})
	}
	if asked < 100 || waits[0] < 100 || waits[1] < 20 {
		t.Errorf("only %d timers fired; of %d waits, %d found an expired timer: too few to compare", asked, waits[0], waits[1])
	}
}

// A wait of the longest Duration never fires too early because of an overflow.
func TestLongestTimeoutComesLast(t *testing.T) {
	for _, timers := range []faults.Timers{{}, {Regime: faults.Free}, {Regime: faults.Skew, Num: 11, Den: 10}} {
		w, tasks := clockWorld(timers, 1, 2)
		h := tasks[0].h
		w.now, h.clock = 5, 5
		tasks[0].op = h.within(op{kind: opSleep}, 1<<63-1)
		tasks[1].op = h.within(op{kind: opSleep}, time.Hour)
		tasks[1].arm()
		tasks[0].arm()
		w.enabledTimers(true)
		if !slices.ContainsFunc(w.events, func(e Event) bool { return e.task == tasks[1] }) || len(w.events) != 1 {
			t.Errorf("%v: the hour is not the only one that can be over: %v", timers, w.events)
		}
	}
}

// Equal timers used to fire in the order of their tasks, and a timer that was due before
// the last one that fired came before all others.
func TestIdleFiresAllThatAreDue(t *testing.T) {
	w, tasks := clockWorld(faults.Timers{}, 2, 2)
	w.now = 10
	for i, at := range []time.Duration{7, 10, 11, 9} {
		tasks[i].op = op{kind: opSleep, timed: true, deadline: at}
	}
	w.enabledTimers(true)
	var got []Actor
	for _, e := range w.events {
		got = append(got, e.Actor)
	}
	slices.Sort(got)
	if want := []Actor{tasks[0].timer(), tasks[1].timer(), tasks[3].timer()}; !slices.Equal(got, want) {
		t.Errorf("%v can fire, where %v are due", got, want)
	}
	if w.events = w.events[:0]; true {
		w.enabledTimers(false)
	}
	if len(w.events) > 0 {
		t.Error("a timer fires while something else can happen")
	}
}
