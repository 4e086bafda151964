package explore

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Source-set DPOR with sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014):
// it makes one complete run for each equivalence class of executions, up to the
// order of independent steps, and remembers no states. It is what the exhaustive
// strategy is measured against, and it is better where tasks hardly share
// anything and states hardly ever meet again.

// ClassCount is what Classes found.
type ClassCount struct {
	Runs     uint64 // complete runs: one for each class
	Blocked  uint64 // runs that turned out to be redundant on the way
	Outcomes []string
	Done     bool // all classes were found
	Failed   error
}

// point is a state on the current path.
type point struct {
	actors []sim.Actor // enabled
	todo   []sim.Actor // the backtrack set
	sleep  []asleep    // no need to try these here
	alts   [][]uint16  // untried choices inside the current step
	ev     classEvent
}

// asleep is an actor whose step here leads to nothing new.
type asleep struct {
	actor sim.Actor
	foot  []sim.Access
}

// classEvent is a step of the current path.
type classEvent struct {
	actor  sim.Actor
	inner  []uint16
	foot   []sim.Access
	before []uint64 // the steps that happened before it, and itself
	timer  bool
}

type classSearch struct {
	c     *Case
	path  []point
	depth int // of the run so far
	fresh int // from here on the path is new
	known int // up to here it is that of earlier runs
	given int // position in the prescribed choices of the current step
	stuck bool
}

// Classes enumerates the classes of executions of a scenario without faults, at
// most maxRuns runs. Faults make other steps impossible, which this search does
// not account for; it refuses them. The error is about the scenario or the options,
// or a [HangError].
func Classes(s *Scenario, opt Options, maxRuns uint64) (*ClassCount, error) {
	profile, budget, err := opt.resolve(s)
	if err != nil {
		return nil, err
	}
	if len(budget) > 0 {
		return nil, fmt.Errorf("%w: classes are counted without faults, and the budget is %q", ErrOptions, budget)
	}
	r := &ClassCount{}
	var failed error
	if _, hang := watched(s, opt.StepTimeout, func(d *watchdog) { failed = r.count(d, s, profile, budget, opt.Strengthen, opt.timers(), maxRuns) }); hang != nil {
		return nil, hang
	}
	if failed != nil {
		return nil, failed
	}
	return r, nil
}

func (r *ClassCount) count(d *watchdog, s *Scenario, profile faults.Profile, budget faults.Budget, strengthen sim.Strengthen, timers faults.Timers, maxRuns uint64) error {
	c, err := newCase(d, s, profile, budget, strengthen, timers, false)
	if err != nil {
		return err
	}
	defer c.close()
	x := &classSearch{c: c}
	for r.Runs+r.Blocked < maxRuns && !d.hung.Load() {
		x.depth, x.known, x.stuck = 0, x.fresh, false
		end, err := c.run(x)
		x.finishStep()
		if err != nil {
			r.Failed = err
			break
		}
		if x.stuck {
			r.Blocked++
		} else {
			r.Runs++
			c.endRunIf(end == sim.Finished)
		}
		x.races()
		if !x.backtrack() {
			r.Done = true
			break
		}
	}
	r.Outcomes = sortedKeys(c.outcomes)
	return nil
}

// Next implements sim.KnowingPolicy.
func (x *classSearch) Next() (sim.Actor, bool) {
	if x.depth >= x.known {
		return 0, false
	}
	x.finishStep()
	x.depth++
	return x.path[x.depth-1].ev.actor, true
}

// Pick implements sim.Policy.
func (x *classSearch) Pick(evs []sim.Event) int {
	x.finishStep()
	if x.depth < len(x.path) {
		x.depth++
		return indexOf(evs, x.path[x.depth-1].ev.actor)
	}
	p := point{sleep: x.inherit()}
	pick := -1
	for i := range evs {
		p.actors = append(p.actors, evs[i].Actor)
		if pick < 0 && !p.sleeps(evs[i].Actor) {
			pick = i
		}
	}
	if pick < 0 {
		x.stuck = true
		return -1
	}
	p.todo = []sim.Actor{evs[pick].Actor}
	p.ev.actor = evs[pick].Actor
	x.path = append(x.path, p)
	x.depth++
	return pick
}

func indexOf(evs []sim.Event, a sim.Actor) int {
	return slices.IndexFunc(evs, func(e sim.Event) bool { return e.Actor == a })
}

func (p *point) sleeps(a sim.Actor) bool {
	return slices.ContainsFunc(p.sleep, func(s asleep) bool { return s.actor == a })
}

// Choose implements sim.Policy.
func (x *classSearch) Choose(_ sim.ChoiceKind, n int) int {
	p := &x.path[x.depth-1]
	if x.given < len(p.ev.inner) {
		x.given++
		return int(p.ev.inner[x.given-1])
	}
	for i := n - 1; i > 0; i-- {
		p.alts = append(p.alts, append(slices.Clone(p.ev.inner), uint16(i)))
	}
	p.ev.inner = append(p.ev.inner, 0)
	x.given++
	return 0
}

// finishStep notes what the last step used.
func (x *classSearch) finishStep() {
	if x.depth > x.fresh {
		p := &x.path[x.depth-1]
		p.ev.foot = slices.Clone(x.c.w.Footprint())
		p.ev.timer = slices.ContainsFunc(p.ev.foot, sim.Access.Timer)
		x.fresh = x.depth
	}
	x.given = 0
}

// inherit is the sleep set after the last step: those that it does not wake.
func (x *classSearch) inherit() []asleep {
	if x.depth == 0 {
		return nil
	}
	p := &x.path[x.depth-1]
	var out []asleep
	for _, s := range p.sleep {
		if s.actor != p.ev.actor && !dependent(s.foot, p.ev.foot) {
			out = append(out, s)
		}
	}
	return out
}

func dependent(a, b []sim.Access) bool {
	for _, x := range a {
		if conflicts(x, b) {
			return true
		}
	}
	return false
}

// races orders the new steps of the path by happens-before and makes sure that each of
// their races is also run the other way round. The steps before them are those of earlier
// runs, and so are their races.
func (x *classSearch) races() {
	for j := x.known; j < len(x.path); j++ {
		e := &x.path[j].ev
		hb := make([]uint64, j/64+1)
		for i := j - 1; i >= 0; i-- {
			o := &x.path[i].ev
			if hb[i/64]>>(i%64)&1 == 1 {
				continue
			}
			same := o.actor == e.actor
			if !same && !e.timer && !dependent(o.foot, e.foot) {
				continue
			}
			if !same && !e.timer {
				e.before = hb
				x.reverse(i, j)
			}
			for k, w := range o.before {
				hb[k] |= w
			}
		}
		hb[j/64] |= 1 << (j % 64)
		e.before = hb
	}
}

// reverse makes the state before step i try something that leads to step j
// before step i, unless it does already.
func (x *classSearch) reverse(i, j int) {
	p := &x.path[i]
	var first []sim.Actor
	var seq []int
	for k := i + 1; k <= j; k++ {
		e := &x.path[k].ev
		if k < j && e.before[i/64]>>(i%64)&1 == 1 {
			continue
		}
		initial := true
		for _, m := range seq {
			o := &x.path[m].ev
			if o.actor == e.actor || e.before[m/64]>>(m%64)&1 == 1 || k == j && dependent(o.foot, e.foot) {
				initial = false
				break
			}
		}
		seq = append(seq, k)
		if initial && slices.Contains(p.actors, e.actor) {
			first = append(first, e.actor)
		}
	}
	for _, a := range first {
		if slices.Contains(p.todo, a) {
			return
		}
	}
	if len(first) > 0 {
		p.todo = append(p.todo, first[0])
	}
}

// backtrack goes to the deepest state with something left to try.
func (x *classSearch) backtrack() bool {
	for len(x.path) > 0 {
		p := &x.path[len(x.path)-1]
		if n := len(p.alts); n > 0 {
			p.ev.inner = p.alts[n-1]
			p.alts = p.alts[:n-1]
			x.fresh = len(x.path) - 1
			return true
		}
		p.sleep = append(p.sleep, asleep{p.ev.actor, p.ev.foot})
		for _, a := range p.todo {
			if !p.sleeps(a) {
				p.ev = classEvent{actor: a}
				x.fresh = len(x.path) - 1
				return true
			}
		}
		x.path = x.path[:len(x.path)-1]
	}
	return false
}
