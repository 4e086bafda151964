package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// forgetful is a scenario whose first life makes a choice, on which the second life depends. If the report omits
// the choice, crashes after different choices lead to states with the same fingerprint, and the search continues
// from only one of them.
func forgetful(whole bool) *explore.Scenario {
	return &explore.Scenario{Name: "test/forgetful", Faults: "crash(a)<=1", Build: func(c *explore.Case) (sim.Config, error) {
		way := 0
		c.OnReset(func() { way = 0 })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{{Name: "a", Again: func(life int, _ bool) bool { return life == 0 },
			Main: func(h host.Host, life int) {
				if life > 0 {
					c.History(fingerprint.Print{}.Int(10 + h.Rand(1+way)))
					return
				}
				way = h.Rand(3)
				p := fingerprint.Print{}.Int(1)
				if whole {
					p = p.Int(way)
				}
				c.History(p)
				h.Sleep(time.Second)
			}}}}, nil
	}}
}

// If a scenario's fingerprint omitted something, the audit noticed it only if two sampled runs happened to reach
// the same state.
func TestAuditSearchesBothWays(t *testing.T) {
	r, err := audit.Run(forgetful(false), audit.Options{Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) == 0 || r.Findings[0].Claim != audit.Twins || len(r.Findings[0].Steps) != 1 {
		t.Errorf("%v", r.Findings)
	}
	if r := audit.Test(t, forgetful(true), audit.Options{Runs: 1}); r.Tried[audit.Twins] < 5 {
		t.Errorf("only %d steps of both searches were compared", r.Tried[audit.Twins])
	}
}

// The search repeats a step that stops at a seam for each choice after the seam. The audit added up the shares of the
// repetitions, so it took steps for complete before all options were tried, and reported differences that do not exist.
func TestStepsThatStopAtASeamCountOnce(t *testing.T) {
	s := &explore.Scenario{Name: "test/share", Build: func(c *explore.Case) (sim.Config, error) {
		k := kit.New(c)
		m := kit.Memory[string](k)
		return k.World(k.Host("a", func(h host.Host) error {
			h.Go("u", func() {})
			x := h.Rand(2)
			h.Go("t", func() {})
			*m = fmt.Sprint(x, h.Rand(12))
			k.Outcome(*m)
			k.History()
			return nil
		})), nil
	}}
	for runs := range 10 { // the error depends on where the first search reaches its limit
		audit.Test(t, s, audit.Options{Runs: 1 + runs})
	}
}
