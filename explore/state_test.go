package explore

import (
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A search keeps every state, so the size of a state bounds it.
func TestStateIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(state{}); n > 32 {
		t.Errorf("a state takes %d bytes, where 32 did", n)
	}
}

func newStates() *states {
	s := &states{}
	s.init(false)
	return s
}

// States are distinguished by all bits of their fingerprints, and are found again
// however much the table has grown.
func TestStatesAreKnownByTheWholePrint(t *testing.T) {
	s := newStates()
	var all []fingerprint.Print
	for i := range uint64(3000) {
		all = append(all, fingerprint.Print{A: 64 * i, B: 7}, fingerprint.Print{A: 7, B: i}, fingerprint.Print{A: i << 32, B: i << 40})
	}
	ids := map[fingerprint.Print]stateID{}
	for _, p := range all {
		id, known, _, _ := s.enter(state{Print: p, Parent: noState})
		if _, met := ids[p]; met != known {
			t.Fatalf("%v: known is %v", p, known)
		}
		ids[p] = id
	}
	for _, p := range all {
		if id, known, _, _ := s.enter(state{Print: p, Parent: noState}); !known || id != ids[p] {
			t.Fatalf("%v is state %d, and is found as %d (%v)", p, ids[p], id, known)
		}
	}
	if s.len() != uint64(len(ids)) {
		t.Errorf("%d states of %d fingerprints", s.len(), len(ids))
	}
}

// At a state sleep the actors that slept for all its visitors: each visit wakes those
// that slept until then and do not for this visitor, and none twice.
func TestVisitorsWakeWhoSleepsNoLonger(t *testing.T) {
	s := newStates()
	for i, x := range []struct{ asleep, wake, left []sim.Actor }{
		{[]sim.Actor{1, 2, 3, 4}, nil, nil},
		{[]sim.Actor{2, 3, 4, 5}, []sim.Actor{1}, []sim.Actor{2, 3, 4}},
		{[]sim.Actor{1, 4}, []sim.Actor{2, 3}, []sim.Actor{4}},
		{[]sim.Actor{2, 4}, nil, []sim.Actor{4}},
		{nil, []sim.Actor{4}, nil},
		{nil, nil, nil},
	} {
		_, known, wake, left := s.enter(state{Parent: noState, Asleep: s.sleepID(slices.Clone(x.asleep))})
		if known != (i > 0) || !slices.Equal(wake, x.wake) {
			t.Errorf("visit %d: %v wake, %v sleep on; want %v, %v", i, wake, left, x.wake, x.left)
		}
		if r := s.row(0); i > 0 && !slices.Equal(s.sleeps.at(r.Asleep), x.left) {
			t.Errorf("visit %d: %v sleep from now on, want %v", i, s.sleeps.at(r.Asleep), x.left)
		}
	}
}

// taskOf is the first task of a host.
func taskOf(host int) sim.Actor { return 1 | sim.Actor(host)<<8 }

// Three hosts in another order are renamed by where they stand, and not the other way
// round: with two there is no difference.
func TestHostsAreRenamedByWhereTheyStand(t *testing.T) {
	s := &search{symmetric: []int{1, 2, 3}, identity: renaming{0, 1, 2, 3}}
	order := []uint8{1, 2, 0} // host 2 stands first, then 3, then 1
	for canonical, host := range map[int]int{0: 0, 1: 2, 2: 3, 3: 1} {
		if got := s.between(order, nil).actor(taskOf(host)); got != taskOf(canonical) {
			t.Errorf("host %d is called %d, want %d", host, got.Node(), canonical)
		}
		if got := s.between(nil, order).actor(taskOf(canonical)); got != taskOf(host) {
			t.Errorf("what is called %d is host %d, want %d", canonical, got.Node(), host)
		}
	}
}

// A woken actor has the name that it has where the state was first reached. Actors that
// sleep on there are left out if the visitor's hosts stand in another order, since
// their names differ.
func TestWhoWakesHasTheNamesOfTheState(t *testing.T) {
	s := &search{symmetric: []int{1, 2, 3}, identity: renaming{0, 1, 2, 3}}
	s.states.init(false)
	order := s.states.orderID([]uint8{1, 2, 0})
	id, _, _, _ := s.states.enter(state{Parent: noState, Order: order})
	w := &walker{s: s}
	set := []asleep{{Actor: taskOf(2)}, {Actor: taskOf(3)}, {Actor: taskOf(0)}}
	for _, x := range []struct {
		order uint32
		sleep []sim.Actor
	}{
		{0, nil},
		{order, []sim.Actor{taskOf(3), taskOf(0)}}, // host 3 is called 2 there
	} {
		y := w.wake(id, []sim.Actor{taskOf(1), taskOf(3)}, []sim.Actor{taskOf(0), taskOf(2)}, x.order, set)
		var sleep []sim.Actor
		for _, a := range y.Asleep {
			sleep = append(sleep, a.Actor)
		}
		if want := []sim.Actor{taskOf(2), taskOf(1)}; y.At != id || !slices.Equal(y.Todo, want) || !slices.Equal(sleep, x.sleep) {
			t.Errorf("visited in order %d: %v wake, want %v; %v sleep, want %v", x.order, y.Todo, want, sleep, x.sleep)
		}
	}
}

// A run goes on from a known state only if its hosts have the names under which the state was first reached, since
// the chain's actors have those. Otherwise the chain is left to a run that comes the first way.
func TestARunGoesOnWhereItsHostsHaveTheNamesOfTheState(t *testing.T) {
	s := &search{symmetric: []int{1, 2, 3}, identity: renaming{0, 1, 2, 3}}
	s.states.init(false)
	order := s.states.orderID([]uint8{1, 2, 0})
	id, _, _, _ := s.states.enter(state{Parent: noState, Order: order})
	y := &chain{At: id, Todo: []sim.Actor{taskOf(1)}}
	w := &walker{s: s}
	if got := w.goOn(y, 0); got != nil || w.away || len(s.stack) != 1 || s.stack[0] != y {
		t.Errorf("with other names the run goes on with %+v, and leaves %d chains", got, len(s.stack))
	}
	if got := w.goOn(y, order); got != y || !w.away || len(s.stack) != 1 {
		t.Errorf("with the same names the run goes on with %+v, away: %v", got, w.away)
	}
}

// visitor is a run that comes to the initial state as if it were known, and as if the actor had slept there.
type visitor struct{ *walker }

func (v visitor) Pick(evs []sim.Event) int {
	if v.cur != nil {
		return v.walker.Pick(evs)
	}
	v.enter(noState, []asleep{{Actor: evs[0].Actor}}, evs)
	v.cur = v.enter(noState, nil, evs)
	v.picks = 2 // it is no longer on a path
	v.begin(v.cur.next())
	return 0
}

// Next shadows that of the walker, which knows the steps to a state.
func (v visitor) Next() (sim.Actor, bool) { return 0, false }

// The options of a choice are numbered by the way to the state: two messages that wait, say, in the order in which
// they were sent. So a run that came another way makes no choice, and leaves its last step to another run.
func TestAChoiceIsLeftToARunThatCameTheFirstWay(t *testing.T) {
	leavesItsStep(t, sim.Stopped, func(_ *Case, h host.Host) { h.Rand(2); h.Sleep(time.Second) })
}

// Nor does it report a violation: the path to it is the one on which the state was first reached, and how many steps
// that has, say, is no part of the state.
func TestAViolationIsLeftToARunThatCameTheFirstWay(t *testing.T) {
	leavesItsStep(t, sim.Violated, func(c *Case, _ host.Host) { c.Fail(errors.New("wrong")) })
}

// leavesItsStep checks that a run that came another way to the state in which a host begins leaves its step.
func leavesItsStep(t *testing.T, want sim.End, main func(*Case, host.Host)) {
	t.Helper()
	s := &Scenario{Name: "test/away", Build: func(c *Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) { main(c, h) }}}}, nil
	}}
	if err := With(s, Options{}, func(c *Case) {
		w := &walker{s: newSearch(c, nil), c: c, tally: tally{Steps: map[string]uint64{}}}
		end, _, err := c.Run(visitor{w})
		if end != want {
			t.Errorf("the run ends with %v, %v; want %v", end, err, want)
		}
		w.conclude(w.cur, end, err)
		if len(w.s.stack) != 1 || w.s.stack[0] != w.cur || w.cur.ways() != 1 || w.s.states.len() != 1 || w.tally.Edges != 0 || w.s.failed != nil {
			t.Errorf("it leaves %d chains, the last %+v, has entered %d states, counts %d edges, and reports %v",
				len(w.s.stack), w.cur, w.s.states.len(), w.tally.Edges, w.s.failed)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// atOnce stops a run before its first step.
type atOnce struct{}

func (atOnce) Pick([]sim.Event) int           { return -1 }
func (atOnce) Choose(sim.ChoiceKind, int) int { return 0 }

// A visitor for whom no actor sleeps wakes the one that slept for the first: it is
// tried, and alone.
func TestVisitorsTryWhoWakes(t *testing.T) {
	main := func(h host.Host, _ int) { h.Sleep(time.Second) }
	s := &Scenario{Name: "test/visits", Build: func(c *Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: main}, {Name: "b", Main: main}}}, nil
	}}
	if err := With(s, Options{}, func(c *Case) {
		if _, _, err := c.Run(atOnce{}); err != nil {
			t.Error(err)
		}
		w := &walker{s: newSearch(c, nil), c: c}
		evs := c.w.Events()
		if first := w.enter(noState, []asleep{{Actor: taskOf(0)}}, evs); first == nil || !slices.Equal(first.Todo, []sim.Actor{taskOf(1)}) {
			t.Errorf("the first visitor tries %+v", first)
		}
		if again := w.enter(noState, nil, evs); again == nil || !w.away || !slices.Equal(again.Todo, []sim.Actor{taskOf(0)}) {
			t.Errorf("the second visitor goes on with %+v, away: %v", again, w.away)
		}
		if again := w.enter(noState, nil, evs); again != nil || len(w.s.stack) != 0 {
			t.Errorf("the third visitor goes on with %+v, and leaves %d chains", again, len(w.s.stack))
		}
	}); err != nil {
		t.Fatal(err)
	}
}
