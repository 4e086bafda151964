package explore_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// numbered has three hosts that ask a service for the next number.
func numbered(change func(s *sim.Service, n *int)) *explore.Scenario {
	return &explore.Scenario{Name: "test/counted", Build: func(c *explore.Case) (sim.Config, error) {
		n, got := 0, [3]string{}
		c.OnReset(func() { got = [3]string{} })
		s := sim.Service{Host: "coord", Name: "counter",
			Apply: func(string, []byte) []byte { n++; return []byte{byte(n)} },
			Hash:  func() fingerprint.Print { return fingerprint.Print{}.Int(n) },
			Reset: func() { n = 0 }}
		if change != nil {
			change(&s, &n)
		}
		cfg := sim.Config{Profile: c.Profile, Services: []sim.Service{s}}
		for i := range got {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: fmt.Sprint("c", i), Main: func(h host.Host, _ int) {
				for range 2 {
					a, _ := h.Call("coord", "counter", nil, verbs.Forever)
					got[i] += fmt.Sprint(a)
					c.Report(fingerprint.Print{}.String(got[i]))
					c.Outcome(fmt.Sprint(got))
				}
			}})
		}
		return cfg, nil
	}}
}

// The search must notice a faulty service.
func TestServicesThatLie(t *testing.T) {
	if r, err := explore.Check(numbered(nil), explore.Options{}); err != nil || r.Verdict != explore.Verified || len(r.Outcomes) != 90 {
		t.Fatal(r, err)
	}
	var calls atomic.Int64
	for name, x := range map[string]struct {
		change func(*sim.Service, *int)
		want   error
	}{
		"a call that writes is said to read": {func(s *sim.Service, _ *int) {
			s.ReadOnly = func([]byte) bool { return true }
		}, explore.ErrReadOnly},
		"a run begins with what another left": {func(s *sim.Service, n *int) {
			s.Reset = func() {
				if *n > 5 {
					*n = 0
				}
			}
		}, explore.ErrNotDeterministic},
		"an answer is seldom another": {func(s *sim.Service, n *int) {
			apply := s.Apply
			s.Apply = func(from string, req []byte) []byte {
				if calls.Add(1)%200 == 0 {
					*n++
				}
				return apply(from, req)
			}
		}, explore.ErrNotDeterministic},
	} {
		for _, workers := range []int{1, 3} {
			r, err := explore.Check(numbered(x.change), explore.Options{Workers: workers})
			if err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, x.want) {
				t.Errorf("%s: %v %v %v", name, r, r.Reason, err)
			}
		}
	}
}

// A violation that depends on other runs, by a variable that is not reset, does not
// count.
func TestViolationThatRestsOnOtherRuns(t *testing.T) {
	s := &explore.Scenario{Name: "test/adds-up", Build: func(c *explore.Case) (sim.Config, error) {
		runs := 0
		cfg := sim.Config{Profile: c.Profile}
		for _, name := range []string{"a", "b", "c", "d"} {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Main: func(h host.Host, _ int) {
				c.History(fingerprint.Print{}.String(name))
				h.Sleep(time.Second)
				if runs++; runs > 90 {
					c.Fail(errTorn)
				}
			}})
		}
		return cfg, nil
	}}
	for _, strategy := range []string{explore.Exhaustive, explore.Random} {
		r, err := explore.Check(s, explore.Options{Workers: 1, Strategy: strategy})
		if err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, explore.ErrNotDeterministic) || r.Counterexample != nil {
			t.Errorf("%s: %v %v", strategy, r, err)
		}
	}
}

// Code that recovers panics also recovers those of the search, which notices
// nevertheless.
func TestCaughtDivergence(t *testing.T) {
	for _, odd := range []int{68, 95, 103} { // draws that a path repeats
		s := &explore.Scenario{Name: "test/catches", Build: func(c *explore.Case) (sim.Config, error) {
			draws := 0
			return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
				defer func() { _ = recover() }()
				for range 3 {
					n := 3
					if draws++; draws == odd {
						n = 2
					}
					h.Rand(n)
					h.Sleep(1)
				}
			}}}}, nil
		}}
		r, err := explore.Check(s, explore.Options{Workers: 1})
		if err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, explore.ErrNotDeterministic) {
			t.Errorf("%d: %v %v", odd, r, err)
		}
	}
}

// A daemon that reports to the checks is a mistake of the scenario, not a violation.
func TestDaemonThatReports(t *testing.T) {
	s := scenario("daemon", "", func(x *tiny) []sim.Node {
		return []sim.Node{
			{Name: "a", Main: func(h host.Host, _ int) { h.Sleep(time.Second) }},
			{Name: "b", Daemon: true, Main: func(host.Host, int) { x.say(1, "it") }},
		}
	})
	r, err := explore.Check(s, explore.Options{Workers: 1})
	if err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrDaemonReports) {
		t.Errorf("%v %v", r, err)
	}
}

// A replay reports decisions that did not apply: then a run that does not fail means
// little.
func TestReplayCountsWhatFindsNoPlace(t *testing.T) {
	r, err := explore.Check(losing(), explore.Options{Workers: 1})
	if err != nil || r.Counterexample == nil || len(r.Counterexample.Decisions) == 0 {
		t.Fatal(r, err)
	}
	ce := *r.Counterexample
	if rep, err := ce.Replay(losing()); err != nil || rep.Unmade != 0 || ce.Missing(rep) != "" {
		t.Errorf("%v %v", rep, err)
	}
	n := len(ce.Decisions)
	ce.Decisions = nil
	for _, d := range r.Counterexample.Decisions {
		ce.Decisions = append(ce.Decisions, explore.Decision{At: "renamed" + d.At, Take: d.Take})
	}
	rep, err := ce.Replay(losing())
	if !errors.Is(err, explore.ErrNotReproduced) || rep.Unmade != n || ce.Missing(rep) == "" {
		t.Errorf("%v %v", rep, err)
	}
}

// A sample of no runs is not clean.
func TestNoRunsAreNotClean(t *testing.T) {
	r, err := explore.Check(losing(), explore.Options{Strategy: explore.Random, MaxTime: 1})
	if err != nil || r.Verdict != explore.RanOut || r.Runs != 0 {
		t.Errorf("%v %v", r, err)
	}
}

// Code that ends its goroutine, as t.Fatal does, ends a worker too. The verdict must be
// unknown; it was that of earlier runs, or the program crashed.
func TestCodeThatEndsItsGoroutine(t *testing.T) {
	s := &explore.Scenario{Name: "test/exits", Build: func(c *explore.Case) (sim.Config, error) {
		cfg := sim.Config{Profile: c.Profile}
		steps := 0
		for _, name := range []string{"a", "b", "c", "d"} {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Main: func(h host.Host, _ int) {
				c.History(fingerprint.Print{}.String(name))
				h.Sleep(time.Second)
				if steps++; steps > 90 { // not in the runs that are made twice
					runtime.Goexit()
				}
			}})
		}
		return cfg, nil
	}}
	for _, opt := range []explore.Options{{Workers: 1}, {Workers: 3}, {Workers: 1, Strategy: explore.Random}, {Workers: 2, Strategy: explore.PCT}} {
		r, err := explore.Check(s, opt)
		if err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, explore.ErrExited) {
			t.Errorf("%s, %d workers: %v %v", opt.Strategy, opt.Workers, r, err)
		}
	}
}
