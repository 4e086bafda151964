package raftrcheck_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/raftr/raftrcheck"
)

// The promises hold in every run of the scenario that takes least; `verbatim check raftr` checks all: a step of
// CI, which also fails where a condition is never met.
func TestScenariosAreVerified(t *testing.T) {
	scenario.Verify(t, explore.Named(raftrcheck.Scenarios(), "raftr/replaced"))
}

// The others take too long for a test; their first runs must be right.
func TestLongerScenariosBegin(t *testing.T) {
	for _, s := range slices.Concat(raftrcheck.Scenarios(), raftrcheck.DeepScenarios()) {
		r, err := explore.Check(s, explore.Options{MaxRuns: 300, Strategy: explore.Random})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.Clean {
			t.Errorf("%s: %v: %v %+v", s.Name, r.Verdict, r.Reason, r.Counterexample)
		}
	}
}

// Without bounded clocks a lease is no promise: the checker must see the stale read.
func TestALeaseNeedsBoundedClocks(t *testing.T) {
	s := explore.Named(raftrcheck.DeepScenarios(), "raftr/lease-race")
	r, err := explore.Check(s, explore.Options{Timers: "free", Strategy: explore.PCT, MaxRuns: 20000, NoShrink: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != explore.Violated || r.Counterexample.Class != scenario.NotLinearizable {
		t.Errorf("%v: %v %+v", r.Verdict, r.Reason, r.Counterexample)
	}
}
