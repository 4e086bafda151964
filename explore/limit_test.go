package explore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// star is a host that calls many others, and violates its promise if the last is
// unreachable.
func star(others int, daemons bool, faults string) *explore.Scenario {
	return &explore.Scenario{Name: "test/star", Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		last := fmt.Sprint("h", others-1)
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget}
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			if _, err := h.Call(last, "s", nil, verbs.Forever); err != nil {
				c.Fail(err)
			}
		}})
		for i := range others {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: fmt.Sprint("h", i), Daemon: daemons || i == others-1, Main: func(h host.Host, _ int) {
				if l, _ := h.Listen("s"); i == others-1 {
					r, _ := l.Accept(verbs.Forever)
					r.Reply(nil)
				}
			}})
		}
		return cfg, nil
	}}
}

// Beyond 64 events per state the search silently dropped some: the decisive cut was
// never tried, and the verdict was verified.
func TestStatesWithManyEvents(t *testing.T) {
	for name, s := range map[string]*explore.Scenario{
		"cut among 12 hosts":                 star(11, false, "cut(*,*)<=1"),
		"partition of one host from 11 more": star(11, true, "partition(*,*)<=1"),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := explore.Check(s, explore.Options{MaxRuns: 200000})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Violated || !strings.Contains(r.Counterexample.Message, host.ErrUnreachable.Error()) {
				t.Errorf("%v after %d runs", r.Verdict, r.Runs)
			}
		})
	}
}

// A run that reaches a limit of the simulator says nothing about the code.
func TestLimitsAreUnknown(t *testing.T) {
	for what, f := range map[string]func(c *explore.Case, h host.Host){
		"widgets":             func(c *explore.Case, _ host.Host) { c.Fail(&sim.LimitError{What: "widgets", Max: 3}) },
		"options of a choice": func(_ *explore.Case, h host.Host) { h.Rand(1 << 33) },
	} {
		s := &explore.Scenario{Name: "test/limit", Build: func(c *explore.Case) (sim.Config, error) {
			return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) { f(c, h) }}}}, nil
		}}
		r, err := explore.Check(s, explore.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrLimit) || !strings.Contains(r.Reason.Error(), what) {
			t.Errorf("%s: %v: %v", what, r.Verdict, r.Reason)
		}
	}
}

// Only the first 32 Reads in flight at a crash of the responder could still execute.
func TestManyReadsOfADyingResponder(t *testing.T) {
	text := "a: " + strings.Repeat("read b 0 0 quiet; ", 39) + "read b 0 1; call b; poll b | b: hear a"
	r, err := explore.Check(rigScenario(text, "crash(b)<=1", false, 7), explore.Options{MaxRuns: 200000})
	if err != nil {
		t.Fatal(err)
	}
	want := "a: unreachable Read=0 b:"
	found := false
	for _, o := range r.Outcomes {
		found = found || strings.HasPrefix(o, want)
	}
	if r.Verdict != explore.Verified || !found {
		t.Errorf("%v; the outcomes are %q, without %q", r.Verdict, r.Outcomes, want)
	}
}

// A Wait that has some answers from an earlier one returns when enough of the rest are
// there.
func TestGatherWaitsAgain(t *testing.T) {
	s := &explore.Scenario{Name: "test/gather", Build: func(c *explore.Case) (sim.Config, error) {
		cfg := sim.Config{Profile: c.Profile}
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			g := h.Gather([]host.Call{{To: "b", Service: "s"}, {To: "c", Service: "s"}, {To: "mute", Service: "s"}}, verbs.Forever)
			for need := 1; need <= 2; need++ {
				n := 0
				for _, x := range g.Wait(need) {
					if !x.Pending() {
						n++
					}
				}
				if n < need {
					c.Fail(fmt.Errorf("Wait(%d) returned %d answers", need, n))
				}
			}
		}})
		for _, name := range []string{"b", "c", "mute"} {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
				l, _ := h.Listen("s")
				r, _ := l.Accept(verbs.Forever)
				if name != "mute" {
					r.Reply(nil)
				}
				_, _ = l.Accept(verbs.Forever)
			}})
		}
		return cfg, nil
	}}
	if r, err := explore.Check(s, explore.Options{}); err != nil || r.Verdict != explore.Verified {
		t.Error(r, err)
	}
}
