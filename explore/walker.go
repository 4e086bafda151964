package explore

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// walker is the policy of one worker: it goes to the state of a chain, tries the
// chain's next way, and continues from each new state with the first way of its chain.
type walker struct {
	s     *search
	c     *Case
	path  []move // to the chain's state
	picks int    // steps of this run so far
	// offered: the world was given the next step of the path, and has not reported that
	// it is impossible.
	offered bool
	cur     *chain // whose way is being tried; nil on the path
	step    move   // the current step so far
	given   []uint32
	inner   int
	order   []uint8
	share   float64 // see Edge
	tally   tally
	// lost: the run left its path. The code may recover the panic that reports it.
	lost bool
	// away: the run went on from a known state, see [walker.goOn]. strayed: it met a choice
	// since, so its last step does not count.
	away, strayed bool
}

// diverge aborts a run that differs from an earlier run with the same choices.
func (w *walker) diverge() {
	w.lost = true
	panic(ErrNotDeterministic)
}

// Next implements sim.KnowingPolicy: the steps to the chain's state are known.
func (w *walker) Next() (sim.Actor, bool) {
	if w.offered = false; w.picks >= len(w.path) {
		return 0, false
	}
	w.offered = true
	m := &w.path[w.picks]
	w.picks++
	w.begin(m.Actor, m.Inner)
	return m.Actor, true
}

func (w *walker) begin(a sim.Actor, given []uint32) {
	w.c.pulse.step(a)
	w.step.Actor, w.step.Inner = a, w.step.Inner[:0]
	w.given, w.inner, w.share = given, 0, 1
	if n := stopOf(given); n > 0 {
		w.c.w.StopAt(n)
		w.step.Inner, w.inner = append(w.step.Inner, given[0]), 1
	}
}

// stops marks the first of a step's choices as the seam at which it stops.
const stops = 1 << 31

// stopOf returns the seam at which a step with these choices stops, or 0.
func stopOf(inner []uint32) int {
	if len(inner) == 0 || inner[0]&stops == 0 {
		return 0
	}
	return int(inner[0] &^ stops)
}

// Pick implements sim.Policy.
func (w *walker) Pick(evs []sim.Event) int {
	w.c.pulse.think()
	if w.offered {
		w.diverge()
	}
	if w.strayed {
		return -1
	}
	w.picks++
	if w.picks > len(w.path)+1 || w.cur.At == noState {
		if !w.arrive(evs) {
			return -1
		}
	} else if w.c.w.Fingerprint(w.order) != w.s.states.row(w.cur.At).Print {
		w.diverge() // the path led elsewhere than the first time
	}
	a, given := w.cur.next()
	w.begin(a, given)
	for i := range evs {
		if evs[i].Actor == a {
			return i
		}
	}
	w.diverge()
	return -1
}

// Choose implements sim.Policy.
func (w *walker) Choose(k sim.ChoiceKind, n int) int {
	if w.away {
		w.strayed = true
		return 0
	}
	w.share /= float64(n)
	if w.inner < len(w.given) {
		v := w.given[w.inner]
		w.inner++
		if int(v) >= n {
			w.diverge()
		}
		w.step.Inner = append(w.step.Inner, v)
		return int(v)
	}
	w.tally.Choices[k]++
	first := 0
	for i := n - 1; i > 0; i-- {
		v := i
		if w.s.backwards {
			first, v = n-1, n-1-i
		}
		alt := append(append(make([]uint32, 0, len(w.step.Inner)+1), w.step.Inner...), uint32(v))
		w.cur.Alts = append(w.cur.Alts, alt)
	}
	w.step.Inner = append(w.step.Inner, uint32(first))
	return first
}

// lookAtLimit is the number of steps between checks of the time limit within a run: an
// endless run must not keep the search from stopping.
const lookAtLimit = 64

// arrive enters the state after the last step, and reports whether the run continues
// from there, with w.cur.
func (w *walker) arrive(evs []sim.Event) bool {
	rest, asleep, from := w.settle(w.c.w.Private() && !w.s.noPrivate)
	y := w.enter(from, asleep, evs)
	if y != nil && w.picks%lookAtLimit == 0 && w.s.limit.late() {
		w.s.push(y)
		w.s.runOut()
		y = nil
	}
	w.s.push(rest)
	w.cur = y
	return y != nil
}

// settle finishes the way that was tried. It returns the chain if part of it remains,
// the actors that now sleep, and where the step began. A step that finished the run is
// not private: what could be done before it cannot be done after it. (Where faults
// could still strike, their strike is another way of the step, so no verdict depends on
// this.)
func (w *walker) settle(private bool) (rest *chain, asleep []asleep, from stateID) {
	x := w.cur
	if x.At == noState {
		x.Todo = nil
		return nil, nil, noState
	}
	w.tally.Edges++
	w.tally.Steps[w.step.Actor.Kind()]++
	if stopOf(w.step.Inner) == 0 {
		for n := w.c.w.Seams(); n > 0; n-- {
			x.Alts = append(x.Alts, append([]uint32{stops | uint32(n)}, w.step.Inner...))
		}
	}
	if w.s.every {
		x.drop()
	} else {
		asleep = x.finish(w.c.w.Footprint(), private)
	}
	if x.ways() > 0 {
		rest = x
	}
	return rest, asleep, x.At
}

// enter enters a state. It returns the chain with which the run continues, or nil. At a
// known state with actors to wake, that is a chain of its own.
func (w *walker) enter(from stateID, set []asleep, evs []sim.Event) *chain {
	t := &w.s.states
	x := state{Print: w.c.w.Fingerprint(w.order), Parent: from}
	if from != noState {
		x.Via = t.moveID(w.step)
	}
	w.edge(from, x.Print)
	x.Order = t.orderID(w.order)
	canon := w.s.between(t.orders.at(x.Order), nil)
	names := make([]sim.Actor, 0, len(set))
	for i := range set {
		names = append(names, canon.actor(set[i].Actor))
	}
	x.Asleep = t.sleepID(names)
	id, known, wake, left := t.enter(x)
	if known {
		if len(wake) > 0 {
			return w.goOn(w.wake(id, wake, left, x.Order, set), x.Order)
		}
		return nil
	}
	w.note()
	y := &chain{At: id, Asleep: set}
	for i := range evs {
		if !sleeps(set, evs[i].Actor) {
			y.Todo = append(y.Todo, evs[i].Actor)
		}
	}
	if w.s.backwards {
		slices.Reverse(y.Todo)
	}
	if len(y.Todo) == 0 {
		return nil
	}
	return y
}

// note counts a new state.
func (w *walker) note() {
	w.tally.reach(w.c.w.Steps(), 1)
	w.tally.eager(w.c.w.EagerStates())
}

// run makes one run for a chain.
func (w *walker) run(x *chain) {
	w.path, w.picks, w.cur, w.offered = w.s.states.pathTo(x.At, w.path[:0]), 0, x, false
	w.away, w.strayed = false, false
	end, err := w.c.run(w)
	w.conclude(x, end, err)
}

// conclude records how the run for a chain ended.
func (w *walker) conclude(x *chain, end sim.End, err error) {
	if w.lost {
		panic(ErrNotDeterministic)
	}
	w.c.endRunIf(end == sim.Finished)
	switch {
	case w.strayed || w.away && err != nil:
		w.s.push(w.cur)
	case err == nil && x.At != noState && w.picks <= len(w.path):
		panic(ErrNotDeterministic) // the run finished on the path
	case err != nil:
		path := w.s.states.pathTo(w.cur.At, nil)
		if w.cur.At != noState {
			path = append(path, move{w.step.Actor, slices.Clone(w.step.Inner)})
		}
		if !w.s.fail(err, path) {
			rest, _, _ := w.settle(false) // as if it had been abandoned
			w.s.push(rest)
		}
	case end == sim.Finished:
		rest, asleep, from := w.settle(false)
		w.s.push(w.enter(from, asleep, nil))
		w.s.push(rest)
		if w.s.tree != nil {
			w.s.tree.Add(1)
		}
	case end == sim.Abandoned: // as if it had not looked: there is no such state
		rest, _, _ := w.settle(false)
		w.s.push(rest)
	}
}
