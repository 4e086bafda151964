package explore

import (
	"maps"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// odometer enumerates every sequence of choices: it recognises no state and omits no
// order. It is the yardstick of the soundness tests, so it takes no shortcut of the
// searches that it measures, such as [sim.KnowingPolicy].
type odometer struct {
	w      *sim.World
	at     int
	wheels []wheel
	seams  int // behind the wheel of the last step's seams ([sim.World.Seams]); 0: there is none
}

// wheel is one choice: pick out of of options.
type wheel struct{ pick, of int }

func (o *odometer) next(n int) int {
	if o.at == len(o.wheels) {
		o.wheels = append(o.wheels, wheel{of: n})
	}
	x := &o.wheels[o.at]
	if x.of != n {
		panic(ErrNotDeterministic)
	}
	o.at++
	return x.pick
}

// Pick implements sim.Policy.
func (o *odometer) Pick(evs []sim.Event) int {
	o.settle()
	i := o.next(len(evs))
	if o.at == len(o.wheels) {
		o.wheels = append(o.wheels, wheel{of: 1}) // until the step has been made
	}
	o.w.StopAt(o.next(o.wheels[o.at].of))
	o.seams = o.at
	return i
}

// settle notes at how many seams the last step can stop.
func (o *odometer) settle() {
	if o.seams == 0 {
		return
	}
	if x := &o.wheels[o.seams-1]; x.pick == 0 {
		x.of = max(x.of, 1+o.w.Seams()) // of all ways in which it goes
	}
}

// Choose implements sim.Policy.
func (o *odometer) Choose(_ sim.ChoiceKind, n int) int { return o.next(n) }

// advance goes to the next sequence; false after the last.
func (o *odometer) advance() bool {
	o.settle()
	o.at, o.seams = 0, 0
	for i := len(o.wheels) - 1; i >= 0; i-- {
		if x := &o.wheels[i]; x.pick+1 < x.of {
			x.pick++
			o.wheels = o.wheels[:i+1]
			return true
		}
	}
	return false
}

// Naive runs everything that can happen, one run for each sequence of choices, until
// all are done or maxRuns is reached. With eager, each arrival, placement and
// acknowledgement is a separate step. Violations do not stop it; they are outcomes
// called "violation: class". The error is about the scenario or the options, or a
// [HangError].
func Naive(s *Scenario, opt Options, eager bool, maxRuns uint64) (outcomes []string, runs uint64, done bool, err error) {
	opt.Eager = eager
	var n struct { // the named results belong to the caller, also while a step hangs
		outcomes []string
		runs     uint64
		done     bool
		err      error
	}
	hang := With(s, opt, func(c *Case) {
		n.err = guard(func() {
			for o := (&odometer{w: c.w}); n.runs < maxRuns && !n.done && !c.dog.hung.Load(); n.done = !o.advance() {
				n.runs++
				end, err := c.run(o)
				if err != nil {
					c.outcomes["violation: "+ClassOf(err)] = true
				}
				c.endRunIf(end == sim.Finished)
			}
		})
		n.outcomes = slices.Sorted(maps.Keys(c.outcomes))
	})
	if hang != nil {
		return nil, 0, false, hang
	}
	return n.outcomes, n.runs, n.done, n.err
}
