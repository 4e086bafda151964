package splitfscheck_test

import (
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/splitfs/splitfscheck"
)

// The promises of package splitfs hold in every run of the scenarios that take a moment;
// `verbatim check splitfs` checks them all. A search that never met the hard cases would
// prove nothing, so those must be reached. The runs of the others begin well.
func TestScenariosAreVerified(t *testing.T) {
	quick := []string{"splitfs/lookalike", "splitfs/refused", "splitfs/limits", "splitfs/exact", "splitfs/damaged", "splitfs/reported", "splitfs/peer", "splitfs/peer-fails"}
	for _, s := range splitfscheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if !slices.Contains(quick, s.Name) || testing.Short() {
				explore.Test(t, s, explore.Options{Strategy: explore.Random, MaxRuns: 50})
				return
			}
			scenario.Verify(t, s)
		})
	}
}

// Files are on the real peers in the scenarios that request it, and in no others.
func TestPeersAreUsed(t *testing.T) {
	for _, s := range append(splitfscheck.Scenarios(), splitfscheck.DeepScenarios()...) {
		r, err := explore.Check(s, explore.Options{MaxRuns: 20})
		if err != nil {
			t.Fatal(err)
		}
		if used := r.Posts > 0; used != slices.Contains([]string{"splitfs/peer", "splitfs/peers", "splitfs/peer-fails"}, s.Name) {
			t.Errorf("%s: requests are posted: %v", s.Name, used)
		}
	}
}

// The rules by which the searches leave something out hold: what the checks remember is reported,
// and so is what the directory and the store hold.
func TestSearchRulesHold(t *testing.T) {
	for _, s := range splitfscheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r := audit.Test(t, s, audit.Options{Runs: 40, Explore: explore.Options{MaxTime: time.Millisecond}})
			t.Log(r.Tried)
		})
	}
}
