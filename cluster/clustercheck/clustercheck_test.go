package clustercheck_test

import (
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster/clustercheck"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
)

// The scenarios that take a second are verified, and meet their conditions; the first runs of the others are
// right. `verbatim check cluster` checks all: a step of CI, which also fails where a condition is never met.
func TestScenariosAreVerified(t *testing.T) {
	longer := []string{"cluster/any-moment", "cluster/name-cut", "cluster/anew", "cluster/instances", "cluster/stopped", "cluster/handover"}
	for _, s := range clustercheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if slices.Contains(longer, s.Name) {
				explore.Test(t, s, explore.Options{Strategy: explore.Random, MaxRuns: 50})
				return
			}
			r, err := explore.Check(s, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Verified || !r.Exhausted {
				t.Fatalf("verdict %s: %v %+v", r.Verdict, r.Reason, r.Counterexample)
			}
			for _, c := range r.Sometimes {
				if !c.Met {
					t.Errorf("never met: %s", c.Name)
				}
			}
			t.Logf("%d runs, %d states in %v", r.Runs, r.States, r.Elapsed)
		})
	}
}

// The rules by which the searches leave something out hold in these scenarios.
func TestSearchRulesHold(t *testing.T) {
	for _, s := range clustercheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r := audit.Test(t, s, audit.Options{Runs: 25, Explore: explore.Options{MaxTime: time.Millisecond}})
			t.Log(r.Tried)
		})
	}
}
