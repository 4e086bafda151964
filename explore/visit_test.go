package explore_test

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

var visited = []string{"b1", "b2", "b3", "b4"}

// visiting is a scenario in which a goes through n hosts that answer calls with one of values numbers.
func visiting(n, values int, symmetric bool, faults string, f func(h host.Host, names []string) string) *explore.Scenario {
	return &explore.Scenario{Name: "test/visiting", Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			out := f(h, visited[:n])
			h.Sleep(0) // a state, before anything tells what it has seen
			c.Report(fingerprint.Print{}.String(out))
			c.Outcome(out)
		}}}}
		for _, name := range visited[:n] {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Symmetric: symmetric, Again: func(int, bool) bool { return false },
				Main: func(h host.Host, _ int) {
					l, _ := h.Listen("s")
					value := byte(h.Rand(values))
					for {
						r, err := l.Accept(verbs.Forever)
						if err != nil {
							return
						}
						r.Reply([]byte{value})
					}
				}})
		}
		return cfg, nil
	}}
}

// compareVisits compares the outcomes of searches with those of one that takes no host for another.
func compareVisits(t *testing.T, s *explore.Scenario) (truth []string) {
	t.Helper()
	for i, o := range []explore.Options{{NoSymmetry: true}, {}, {EveryOrder: true}, {Backwards: true}, {Eager: true}} {
		r, err := explore.Check(s, o)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatalf("%v: %v %v", err, r.Verdict, r.Counterexample)
		}
		if i == 0 {
			truth = r.Outcomes
		} else if d := cmp.Diff(truth, r.Outcomes); d != "" {
			t.Errorf("search %d: %s", i, d)
		}
	}
	return truth
}

func TestVisitsComeInEveryOrder(t *testing.T) {
	order := func(h host.Host, names []string) string {
		var out []string
		for i := range host.InAnyOrder(h, names) {
			out = append(out, names[i])
		}
		return strings.Join(out, " ") // names them, which no real code may
	}
	for symmetric, want := range map[bool]int{false: 1, true: 6} {
		r, err := explore.Check(visiting(3, 1, symmetric, "", order), explore.Options{NoSymmetry: true})
		if err != nil || len(r.Outcomes) != want {
			t.Errorf("called symmetric %v: %v %q, want %d", symmetric, err, r.Outcomes, want)
		}
	}
}

// Code that goes through symmetric hosts in the order of a list loses outcomes: the search takes the state
// in which the first has said 0, and the second 1, for the one in which it is the other way round. In any order
// none is lost.
func TestVisitsInAnyOrderLoseNoOutcome(t *testing.T) {
	code := func(visit func(h host.Host, names []string) iter.Seq[int]) func(host.Host, []string) string {
		return func(h host.Host, names []string) string {
			answers := h.Gather([]host.Call{{To: names[0], Service: "s"}, {To: names[1], Service: "s"}}, verbs.Forever).Wait(2)
			h.Sleep(0)
			out := "" // what they said, in the order of the visits, and without their names
			for i := range visit(h, names) {
				if b, err := h.Call(names[i], "s", nil, verbs.Forever); err != nil || b[0] != answers[i].Body[0] {
					out += "-"
				} else {
					out += fmt.Sprint(b[0])
				}
			}
			return out
		}
	}
	inTurn := visiting(2, 2, true, "", code(func(_ host.Host, names []string) iter.Seq[int] {
		return func(yield func(int) bool) { _ = yield(0) && yield(1) }
	}))
	for noSymmetry, want := range map[bool]int{false: 3, true: 4} {
		if r, err := explore.Check(inTurn, explore.Options{NoSymmetry: noSymmetry}); err != nil || len(r.Outcomes) != want {
			t.Errorf("without symmetry %v: %v %q", noSymmetry, err, r.Outcomes)
		}
	}
	got := compareVisits(t, visiting(2, 2, true, "", code(host.InAnyOrder)))
	if want := []string{"00", "01", "10", "11"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What is seen of one host while another is visited is a relation of the two.
func TestVisitsThatSeeOfAnother(t *testing.T) {
	got := compareVisits(t, visiting(3, 3, true, "", func(h host.Host, names []string) string {
		var calls []host.Call
		for _, name := range names {
			calls = append(calls, host.Call{To: name, Service: "s"})
		}
		g := h.Gather(calls, verbs.Forever)
		sees, known, n := make([]int, len(names)), make([]bool, len(names)), 0
		for i := range host.InAnyOrder(h, names) {
			var arrived []int
			n++
			for j, x := range g.Wait(n) {
				if !x.Pending() && !known[j] {
					known[j] = true
					arrived = append(arrived, j)
				}
			}
			if sees[i] = -1; len(arrived) == 1 { // none of several: that would be one that the list prefers
				sees[i] = arrived[0]
			}
		}
		answers, out := g.Wait(len(names)), []string{}
		for i, j := range sees {
			if j >= 0 {
				out = append(out, fmt.Sprintf("%d sees %d", answers[i].Body[0], answers[j].Body[0]))
			}
		}
		sort.Strings(out)
		return strings.Join(out, " ")
	}))
	for _, want := range []string{"0 sees 1 1 sees 2 2 sees 0", "0 sees 2 1 sees 0 2 sees 1"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// A visit that breaks off remembers where: a host that was visited last is not as those before it.
func TestVisitsThatBreakOff(t *testing.T) {
	got := compareVisits(t, visiting(3, 2, true, "", func(h host.Host, names []string) string {
		var calls []host.Call
		for _, name := range names {
			calls = append(calls, host.Call{To: name, Service: "s"})
		}
		answers := h.Gather(calls, verbs.Forever).Wait(len(names))
		n, sum, last := 0, byte(0), byte(9)
		for i := range host.InAnyOrder(h, names) {
			last = answers[i].Body[0]
			sum += last
			if n++; n == 2 {
				break
			}
		}
		return fmt.Sprintf("the last says %d of %d", last, sum)
	}))
	if want := []string{"the last says 0 of 0", "the last says 0 of 1", "the last says 1 of 1", "the last says 1 of 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// sayings asks hosts, and returns what each has said.
func sayings(h host.Host, names []string) (said []byte) {
	var calls []host.Call
	for _, name := range names {
		calls = append(calls, host.Call{To: name, Service: "s"})
	}
	for _, x := range h.Gather(calls, verbs.Forever).Wait(len(calls)) {
		said = append(said, x.Body[0])
	}
	return said
}

// A visit within another is a relation of two hosts as well.
func TestVisitsWithinVisits(t *testing.T) {
	got := compareVisits(t, visiting(4, 4, true, "", func(h host.Host, names []string) string {
		said := sayings(h, names)
		var low, high []int
		for i, b := range said {
			if b < 2 {
				low = append(low, i)
			} else {
				high = append(high, i)
			}
		}
		called := func(at []int) (out []string) {
			for _, i := range at {
				out = append(out, names[i])
			}
			return out
		}
		var pairs []string
		taken := map[int]bool{}
		for i := range host.InAnyOrder(h, called(low)) {
			for j := range host.InAnyOrder(h, called(high)) {
				if !taken[j] {
					taken[j] = true
					pairs = append(pairs, fmt.Sprintf("%d-%d", said[low[i]], said[high[j]]))
				}
				break
			}
		}
		sort.Strings(pairs)
		return strings.Join(pairs, " ")
	}))
	for _, want := range []string{"0-2 1-3", "0-3 1-2"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// What is made in a visit has a number that follows from the order of the visits, and may be kept as the
// visited host's.
func TestVisitsThatMakeSomething(t *testing.T) {
	s := visiting(2, 1, true, "", func(h host.Host, names []string) string {
		_, _ = h.Call("c", "go", nil, verbs.Forever)
		h.Sleep(0)
		g, number := make([]host.Gather, len(names)), make([]byte, len(names))
		for i := range host.InAnyOrder(h, names) {
			g[i] = h.Gather([]host.Call{{To: "c", Service: "number"}}, verbs.Forever)
			h.Sleep(0)
		}
		for i := range host.InAnyOrder(h, names) {
			number[i] = g[i].Wait(1)[0].Body[0]
		}
		return fmt.Sprint("the first has ", number[slices.Index(sayings(h, names), 0)])
	})
	build := s.Build
	s.Build = func(c *explore.Case) (sim.Config, error) {
		cfg, err := build(c)
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "c", Daemon: true, Main: func(h host.Host, _ int) {
			ready, _ := h.Listen("ready")
			start, _ := h.Listen("go")
			number, _ := h.Listen("number")
			for i, l := range []host.Listener{ready, ready, start, number, number} {
				r, _ := l.Accept(verbs.Forever)
				r.Reply([]byte{byte(i)})
			}
			_, _ = ready.Accept(verbs.Forever)
		}})
		for i := range cfg.Nodes {
			if n := &cfg.Nodes[i]; n.Symmetric {
				n.Main = func(h host.Host, _ int) {
					l, _ := h.Listen("s")
					value, _ := h.Call("c", "ready", nil, verbs.Forever)
					for {
						r, _ := l.Accept(verbs.Forever)
						r.Reply(value)
					}
				}
			}
		}
		return cfg, err
	}
	if got, want := compareVisits(t, s), []string{"the first has 3", "the first has 4"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What was seen between Visit and End without Next was forgotten, in all searches.
func TestVisitsOfNobodyForgetNothing(t *testing.T) {
	got := compareVisits(t, visiting(2, 1, true, "", func(h host.Host, names []string) string {
		v := h.Visit(names)
		r := h.Rand(2)
		h.Sleep(0)
		v.End()
		return fmt.Sprint(r)
	}))
	if want := []string{"0", "1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestVisitsThatCross(t *testing.T) {
	r, err := explore.Check(visiting(2, 1, true, "", func(h host.Host, names []string) string {
		v, u := h.Visit(names), h.Visit(names)
		v.Next()
		u.Next()
		v.Next()
		return ""
	}), explore.Options{})
	if err != nil || r.Verdict != explore.Unknown || r.Reason == nil || !strings.Contains(r.Reason.Error(), "a visit within it has ended") {
		t.Errorf("%v: %v, %v", err, r.Verdict, r.Reason)
	}
}
