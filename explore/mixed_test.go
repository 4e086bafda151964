package explore_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// dice is a host that throws a die n times, and fails if all are six.
func dice(n int) *explore.Scenario {
	return &explore.Scenario{Name: "test/dice", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			sixes := 0
			for range max(n, 3) {
				if h.Rand(6) == 5 {
					sixes++
				}
			}
			if sixes == n {
				c.Fail(errors.New("all are six"))
			}
		}}}}, nil
	}}
}

// Mixed finds shallow violations at random, and otherwise agrees with an exhaustive
// search.
func TestMixed(t *testing.T) {
	sequential(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "search")
	for name, x := range map[string]struct {
		s        *explore.Scenario
		opt      explore.Options
		verdict  explore.Verdict
		strategy string
		sampled  uint64
		runs     uint64 // at most
	}{
		"shallow":              {dice(3), explore.Options{}, explore.Violated, explore.Random, 0, 2000},
		"right":                {dice(-1), explore.Options{}, explore.Verified, explore.Exhaustive, 2000, 1000},
		"deep":                 {dice(7), explore.Options{MaxRuns: 400_000}, explore.Violated, explore.Exhaustive, 2000, 300_000},
		"a limit":              {dice(7), explore.Options{MaxRuns: 100, Save: file}, explore.RanOut, explore.Exhaustive, 25, 75},
		"one run":              {dice(7), explore.Options{MaxRuns: 1}, explore.RanOut, explore.Exhaustive, 1, 1},
		"another class":        {dice(3), explore.Options{Seek: []string{"other"}}, explore.Violated, explore.Exhaustive, 2000, 1000},
		"another, and a limit": {dice(3), explore.Options{Seek: []string{"other"}, MaxRuns: 2000}, explore.Violated, explore.Exhaustive, 500, 1500},
	} {
		x.opt.Strategy, x.opt.Workers, x.opt.NoShrink = explore.Mixed, 1, true
		r, err := explore.Check(x.s, x.opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Verdict != x.verdict || r.Strategy != x.strategy || r.Sampled > x.sampled || x.strategy == explore.Exhaustive && r.Sampled == 0 || r.Runs > x.runs {
			t.Errorf("%s: %s by %s, %d runs after %d", name, r.Verdict, r.Strategy, r.Runs, r.Sampled)
		}
	}
	if _, err := explore.Check(dice(7), explore.Options{Strategy: explore.Mixed, Resume: file}); !errors.Is(err, explore.ErrOptions) {
		t.Error(err)
	}
	r, err := explore.Check(dice(7), explore.Options{Resume: file, Workers: 1, NoShrink: true})
	if err != nil || r.Verdict != explore.Violated || r.Resumed == 0 {
		t.Errorf("what it saved is not gone on with: %v, %v", r, err)
	}
}
