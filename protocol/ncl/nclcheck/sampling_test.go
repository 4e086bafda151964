package nclcheck_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

// The exhaustive search, with its symmetry, has reached whatever sampling sees, which
// merges and omits nothing. Without symmetry the search is too large for a comparison.
func TestExhaustiveSearchReachesWhatSamplingSees(t *testing.T) {
	s := nclcheck.Scenarios()[0]
	all, err := explore.Check(s, explore.Options{Faults: "crash(app)<=1"})
	if err != nil || all.Verdict != explore.Verified {
		t.Fatal(all, err)
	}
	for _, strategy := range []string{explore.Random, explore.PCT} {
		some, err := explore.Check(s, explore.Options{Faults: "crash(app)<=1", Strategy: strategy, MaxRuns: 20_000})
		if err != nil || some.Verdict != explore.Clean {
			t.Fatal(some, err)
		}
		if len(some.Outcomes) < 3 {
			t.Errorf("%s saw only %d outcomes", strategy, len(some.Outcomes))
		}
		for _, o := range some.Outcomes {
			if !slices.Contains(all.Outcomes, o) {
				t.Errorf("%s saw %s, and the exhaustive search did not", strategy, o)
			}
		}
		t.Logf("%s saw %d of %d outcomes", strategy, len(some.Outcomes), len(all.Outcomes))
	}
}
