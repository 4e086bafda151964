package explore_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// The numbers of a search's space add up to its totals.
func TestSpaceAddsUp(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range smallScenarios() {
		for _, opt := range []explore.Options{{Workers: 2}, {Strategy: explore.Random, MaxRuns: 50, Workers: 2}} {
			r, err := explore.Check(s, opt)
			if err != nil {
				t.Fatal(err)
			}
			checkSpace(t, r)
			for _, x := range slices.Concat(r.Space.Steps, r.Space.Choices) {
				seen[r.Strategy+" "+x.Name] = true
			}
		}
	}
	for _, strategy := range []string{explore.Exhaustive, explore.Random} {
		for _, name := range []string{"task", "crash", "completion", "landing"} {
			if !seen[strategy+" "+name] {
				t.Errorf("no %s search counts a %s", strategy, name)
			}
		}
	}
}

// Steps beyond 16 bits are counted, also in a file.
func TestSpaceOfLongRuns(t *testing.T) {
	sequential(t)
	opt := explore.Options{Workers: 1, MaxRuns: 1, Save: filepath.Join(t.TempDir(), "s")}
	for range 2 {
		r, err := explore.Check(counting(40_000, "a", "b"), opt)
		if err != nil || r.MaxDepth < 1<<16 {
			t.Fatalf("depth %d: %v", r.MaxDepth, err)
		}
		checkSpace(t, r)
		opt.Resume, opt.MaxRuns = opt.Save, 2
	}
}

func checkSpace(t *testing.T, r *explore.Result) {
	t.Helper()
	sum := func(list []explore.Tally) (n uint64) {
		for _, x := range list {
			if x.Name == "" || x.Count == 0 {
				t.Errorf("%s: it counts %+v", r.Scenario, x)
			}
			n += x.Count
		}
		return n
	}
	var byDepth uint64
	for _, n := range r.Space.ByDepth {
		byDepth += n
	}
	all := r.Runs
	if r.Strategy == explore.Exhaustive {
		all = r.States
		if n := sum(r.Space.Steps); n != r.Edges {
			t.Errorf("%s: %d steps, and %d edges", r.Scenario, n, r.Edges)
		}
	}
	if byDepth != all || len(r.Space.ByDepth) != r.MaxDepth+1 {
		t.Errorf("%s: by depth there are %d of %d, to depth %d of %d", r.Scenario, byDepth, all, len(r.Space.ByDepth)-1, r.MaxDepth)
	}
	if n := sum(r.Space.Choices); n != r.Choices {
		t.Errorf("%s: %d choices by kind, and %d in all", r.Scenario, n, r.Choices)
	}
}
