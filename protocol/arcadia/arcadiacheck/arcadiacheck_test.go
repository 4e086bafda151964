package arcadiacheck_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
)

var (
	runs = flag.Uint64("histories", 300, "random runs of each scenario of histories")
	seed = flag.Uint64("seed", 1, "their seed")
)

// The promises hold in every run of the scenarios that take a second or two, and in the first runs of the others.
// `verbatim check arcadia` checks all: a step of CI, which also fails where a condition is never met.
func TestScenariosAreVerified(t *testing.T) {
	longer := []string{"arcadia/local", "arcadia/sizes", "arcadia/holes", "arcadia/frequency", "arcadia/group",
		"arcadia/replicated-power", "arcadia/quorum", "arcadia/remote-only", "arcadia/partition", "arcadia/repair-and-loss",
		"arcadia/repair-diverged", "arcadia/repair-damaged", "arcadia/wrapped", "arcadia/concurrent", "arcadia/cleanup-begun", "arcadia/cleanup-replaced",
		"arcadia/media-replicated", "arcadia/repair", "arcadia/cleanup-diverged", "arcadia/fence", "arcadia/replicated",
		"arcadia/frequency-remote", "arcadia/persisted", "arcadia/alone", "arcadia/write-quorum", "arcadia/clean-and-append",
		"arcadia/timeout", "arcadia/stray-replicated", "arcadia/recovery", "arcadia/cleanup-replicated", "arcadia/backup"}
	for _, s := range arcadiacheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if slices.Contains(longer, s.Name) {
				explore.Test(t, s, explore.Options{Strategy: explore.Random, MaxRuns: 50})
				return
			}
			scenario.Verify(t, s)
		})
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

// Random histories of replicated logs keep the promises. -histories makes more of them.
func TestHistories(t *testing.T) {
	for _, s := range arcadiacheck.DeepScenarios() {
		if !strings.HasPrefix(s.Name, "arcadia/history") {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			r, err := explore.Check(s, explore.Options{Strategy: explore.Random, MaxRuns: *runs, Seed: *seed, NoShrink: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Clean {
				t.Errorf("%v: %v; again: verbatim check %s --strategy random --seed %d", r.Verdict, r.Reason, s.Name, *seed)
				if x := r.Counterexample; x != nil {
					t.Errorf("%s: %s", x.Class, x.Message)
				}
			}
		})
	}
}
