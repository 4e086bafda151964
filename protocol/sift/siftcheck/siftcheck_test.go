package siftcheck_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcheck"
)

// The promises hold in every run of the scenarios that take a second, and in the first runs of the others.
// `verbatim check sift` checks all: a step of CI, which also fails where a condition is never met.
func TestScenariosAreVerified(t *testing.T) {
	longer := []string{"sift/memory", "sift/election", "sift/behind", "sift/outsider", "sift/replaced", "sift/lease",
		"sift/tasks", "sift/rejoin-beside", "sift/rejoin-again", "sift/memnode-twice", "sift/ec-crash", "sift/ec-full",
		"sift/kv", "sift/kv-node", "sift/kv-log", "sift/kv-beside",
		"sift/coord", "sift/kv-behind", "sift/backup", "sift/list", "sift/stolen", "sift/kv-rejoin", "sift/reconnected-direct",
		"sift/circular", "sift/direct", "sift/confirmed"}
	for _, s := range siftcheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if slices.Contains(longer, s.Name) {
				explore.Test(t, s, explore.Options{Strategy: explore.Random, MaxRuns: 50})
				return
			}
			scenario.Verify(t, s)
		})
	}
}

// Without bounded clocks a lease is no promise: the checker must see the stale read.
func TestALeaseNeedsBoundedClocks(t *testing.T) {
	s := explore.Named(siftcheck.Scenarios(), "sift/lease")
	r, err := explore.Check(s, explore.Options{Timers: "free", Strategy: explore.Mixed, NoShrink: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != explore.Violated || r.Counterexample.Class != scenario.NotLinearizable {
		t.Errorf("%v: %v %+v", r.Verdict, r.Reason, r.Counterexample)
	}
}

// The deep scenarios take too long for a test; their first runs must be right.
func TestDeepScenariosBegin(t *testing.T) {
	for _, s := range siftcheck.DeepScenarios() {
		r, err := explore.Check(s, explore.Options{MaxRuns: 500})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.RanOut {
			t.Errorf("%s: %v: %v %+v", s.Name, r.Verdict, r.Reason, r.Counterexample)
		}
	}
}
