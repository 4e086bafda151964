package audit_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// partial has two hosts that it calls symmetric, and asks the code of one of them for more
// if it is unjust.
func partial(unjust bool) *explore.Scenario {
	return &explore.Scenario{Name: "test/partial", Build: func(c *explore.Case) (sim.Config, error) {
		cfg := sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			out := ""
			g := h.Gather([]host.Call{{To: "p1", Service: "s"}, {To: "p2", Service: "s"}}, verbs.Forever)
			for i, x := range g.Wait(1) {
				if !x.Pending() && (i == 0 || !unjust) {
					out = "preferred"
				}
			}
			c.Report(fingerprint.Print{}) // it does not contain out, which the audit must notice
			c.Outcome("the answer is " + out)
		}}}}
		for _, name := range []string{"p1", "p2"} {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Symmetric: true, Main: func(h host.Host, _ int) {
				l, _ := h.Listen("s")
				for {
					r, _ := l.Accept(verbs.Forever)
					r.Reply(nil)
				}
			}})
		}
		return cfg, nil
	}}
}

// A scenario that treats hosts differently that it calls symmetric loses outcomes, and
// nothing said so.
func TestAuditFindsHostsThatAreNotAlike(t *testing.T) {
	r, err := audit.Run(partial(true), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range r.Findings {
		found = found || f.Claim == audit.Symmetry
	}
	if !found {
		t.Errorf("nothing was found in %d tries: %v", r.Tried[audit.Symmetry], r.Findings)
	}
	audit.Test(t, partial(false), audit.Options{})
}

// An audit that is stopped says so: what it has not come to was not of no use.
func TestStoppedAudit(t *testing.T) {
	asked, last := 0, 1<<30
	opt := audit.Options{Explore: explore.Options{Workers: 1, Stop: func() bool { asked++; return asked > last }}}
	if _, err := explore.Check(partial(false), opt.Explore); err != nil {
		t.Fatal(err)
	}
	last, asked = asked+2, 0
	r, err := audit.Run(partial(false), opt)
	if err != nil || !r.Stopped || r.Result.Verdict != explore.Verified || r.Tried[audit.Symmetry] > 3 {
		t.Errorf("%+v %v", r, err)
	}
	if r := audit.Test(t, partial(false), audit.Options{}); r.Stopped {
		t.Errorf("%+v", r)
	}
	// The same at the last opportunity, in the second of the two searches in opposite orders.
	last, asked = 1<<30, 0
	if _, err := audit.Run(partial(false), opt); err != nil {
		t.Fatal(err)
	}
	last, asked = asked-1, 0
	if r, err := audit.Run(partial(false), opt); err != nil || !r.Stopped {
		t.Errorf("%+v %v", r, err)
	}
}

// inList is a scenario whose code sends requests to interchangeable hosts, one after the other. No host
// accepts them, so the enabled events do not depend on which hosts have received one.
func inList(visit func(h host.Host, names []string) iter.Seq[int]) *explore.Scenario {
	names := []string{"p1", "p2", "p3"}
	return &explore.Scenario{Name: "test/in-list", Build: func(c *explore.Case) (sim.Config, error) {
		cfg := sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			for i := range visit(h, names) {
				h.Gather([]host.Call{{To: names[i], Service: "s"}}, verbs.Forever)
				h.Sleep(0)
			}
		}}}}
		for _, name := range names {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Symmetric: true, Main: func(h host.Host, _ int) {
				_, _ = h.Listen("s")
				other, _ := h.Listen("nobody calls it")
				_, _ = other.Accept(verbs.Forever)
			}})
		}
		return cfg, nil
	}}
}

// Code that goes through interchangeable hosts in the order of a list was found only if an event could
// happen in one of two permuted runs alone, which took hundreds of runs of ncl/twice: most of what the search had left out showed
// nothing of the kind.
func TestAuditFindsHostsThatAreVisitedInTheOrderOfAList(t *testing.T) {
	r, err := audit.Run(inList(func(_ host.Host, names []string) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range names {
				if !yield(i) {
					return
				}
			}
		}
	}), audit.Options{Runs: 5})
	if err != nil || len(r.Findings) == 0 || r.Findings[0].Claim != audit.Symmetry || !strings.Contains(r.Findings[0].Why, "host.InAnyOrder") {
		t.Errorf("%v: %+v", err, r)
	}
	audit.Test(t, inList(host.InAnyOrder), audit.Options{})
}
