package arcadiacheck_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
)

// The promises hold in every run of the scenarios that take seconds; `verbatim check arcadia` checks all.
func TestScenariosAreVerified(t *testing.T) {
	longer := []string{"arcadia/local", "arcadia/holes", "arcadia/frequency", "arcadia/group",
		"arcadia/replicated-power", "arcadia/quorum", "arcadia/remote-only", "arcadia/partition"}
	for _, s := range arcadiacheck.Scenarios() {
		if !slices.Contains(longer, s.Name) {
			t.Run(s.Name, func(t *testing.T) { scenario.Verify(t, s) })
		}
	}
}

// The deep scenarios take too long for a test; their first runs must be right.
func TestDeepScenariosBegin(t *testing.T) {
	for _, s := range arcadiacheck.DeepScenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r, err := explore.Check(s, explore.Options{MaxRuns: 500})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.RanOut {
				t.Errorf("%v: %v %+v", r.Verdict, r.Reason, r.Counterexample)
			}
		})
	}
}
