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

var visited = []string{"b1", "b2", "b3"}

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

// compareVisits compares the outcomes of the search with those of one that takes no host for another.
func compareVisits(t *testing.T, s *explore.Scenario) []string {
	t.Helper()
	var all [2][]string
	for i, o := range []explore.Options{{}, {NoSymmetry: true}} {
		r, err := explore.Check(s, o)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatalf("%v: %v", err, r)
		}
		all[i] = r.Outcomes
	}
	if d := cmp.Diff(all[1], all[0]); d != "" {
		t.Errorf("without symmetry, and with it: %s", d)
	}
	return all[1]
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
			sees[i], n = -1, n+1
			for j, x := range g.Wait(n) {
				if !x.Pending() && !known[j] {
					known[j], sees[i] = true, j
				}
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
