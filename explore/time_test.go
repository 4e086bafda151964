package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// order is a scenario in which whoever wakes up is written down. It has a single list,
// so that its outcomes are orders.
func order(name, timers, faults string, build func(c *explore.Case, say func(string)) []sim.Node) *explore.Scenario {
	return &explore.Scenario{Name: "time/" + name, Timers: timers, Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		var said []string
		say := func(s string) {
			said = append(said, s)
			text := strings.Join(said, " ")
			h := uint64(14695981039346656037)
			for _, b := range []byte(text) {
				h = (h ^ uint64(b)) * 1099511628211
			}
			c.History(h)
			c.Outcome(text)
		}
		c.OnReset(func() { said = nil; c.Outcome("nothing") })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: build(c, say)}, nil
	}}
}

// sleepers are hosts that sleep, one after the other in time, and say their name.
func sleepers(say func(string), spans map[string][]int) []sim.Node {
	var out []sim.Node
	for _, name := range []string{"a", "b", "c"} {
		if spans[name] == nil {
			continue
		}
		out = append(out, sim.Node{Name: name, Main: func(h host.Host, _ int) {
			for i, ms := range spans[name] {
				h.Sleep(time.Duration(ms) * time.Millisecond)
				say(fmt.Sprint(name, i))
			}
		}})
	}
	return out
}

// same checks that the naive search, the search, and the search without reduction see
// exactly the outcomes want, or if it is nil the same ones.
func same(t *testing.T, s *explore.Scenario, want []string) {
	t.Helper()
	naive, runs, done, err := explore.Naive(s, explore.Options{}, true, 300_000)
	if err != nil || !done {
		t.Fatalf("naive: %v after %d runs, done %v", err, runs, done)
	}
	if want == nil {
		want = naive
	}
	slices.Sort(want)
	if d := cmp.Diff(want, naive); d != "" {
		t.Errorf("naive outcomes differ (-want +naive):\n%s", d)
	}
	for _, full := range []bool{true, false} {
		r, err := explore.Check(s, explore.Options{Workers: 1, NoReduction: full})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.Verified {
			t.Fatalf("verdict %s: %v %v", r.Verdict, r.Reason, r.Counterexample)
		}
		if d := cmp.Diff(want, r.Outcomes); d != "" {
			t.Errorf("outcomes differ with NoReduction=%v (-want +search):\n%s", full, d)
		}
	}
	t.Logf("naive %d runs, outcomes %q", runs, want)
}

// Equal timers fired in the order of their tasks only.
func TestEqualTimersFireInAnyOrder(t *testing.T) {
	same(t, order("equal", "idle", "", func(_ *explore.Case, say func(string)) []sim.Node {
		return sleepers(say, map[string][]int{"a": {5}, "b": {5}, "c": {7}})
	}), []string{"a0 b0 c0", "b0 a0 c0"})
	same(t, order("equal-on-one-host", "idle", "", func(_ *explore.Case, say func(string)) []sim.Node {
		return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			h.Go("t", func() { h.Sleep(5); say("t") })
			h.Sleep(5)
			say("m")
			h.Sleep(5)
		}}}
	}), []string{"m t", "t m"})
}

func TestTimersOfDifferentHostsAreFree(t *testing.T) {
	same(t, order("free", "free", "", func(_ *explore.Case, say func(string)) []sim.Node {
		return sleepers(say, map[string][]int{"a": {5, 5}, "b": {1000}})
	}), []string{"a0 a1 b0", "a0 b0 a1", "b0 a0 a1"})
}

// On one host 3 milliseconds do not end before 2 that began earlier; everything else may
// be, and the host may end before either.
func TestTimersOfOneHostKeepTheOrderOfTheirDeadlines(t *testing.T) {
	for _, timers := range []string{"free", "skew(1)", "skew(3)"} {
		same(t, order("one-host-"+timers, timers, "", func(_ *explore.Case, say func(string)) []sim.Node {
			return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
				h.Go("t", func() { h.Sleep(3); say("t3") })
				h.Sleep(2)
				say("m2")
				h.Sleep(2)
				say("m4")
				h.Sleep(8)
			}}}
		}), []string{"m2 m4", "m2 m4 t3", "m2 t3 m4"})
	}
}
