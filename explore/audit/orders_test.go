package audit_test

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// shared is a scenario whose hosts share a variable of Go, which no footprint shows, unless they do not.
func shared(variable bool) *explore.Scenario {
	return &explore.Scenario{Name: "test/shared", Build: func(c *explore.Case) (sim.Config, error) {
		k := kit.New(c)
		x := 0
		c.OnReset(func() { x = 0 })
		return k.World(
			k.Host("a", func(h host.Host) error {
				if variable {
					x = 1
				}
				return nil
			}),
			k.Host("b", func(h host.Host) error {
				c.History(fingerprint.Print{}.Int(x))
				return nil
			})), nil
	}}
}

func TestAuditCountsTheStatesOfEveryOrder(t *testing.T) {
	counted := func(r *audit.Report) (n int) {
		for _, f := range r.Findings {
			if f.Claim == audit.Commute && strings.Contains(f.Why, "with every order") {
				n++
			}
		}
		return n
	}
	r, err := audit.Run(shared(true), audit.Options{Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if counted(r) != 1 {
		t.Errorf("a variable that hosts share: %v", r.Findings)
	}
	if r := audit.Test(t, shared(false), audit.Options{Runs: 1}); r.Tried[audit.Commute] < 5 {
		t.Errorf("the search of %d states was compared, %d expected", r.Tried[audit.Commute], 5)
	}
}
