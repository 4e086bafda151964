package explore_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// counting has runs of n steps and more, in which every state is new. With one host
// each is reached in one way only.
func counting(n int, hosts ...string) *explore.Scenario {
	return &explore.Scenario{Name: "small/counting", Build: func(c *explore.Case) (sim.Config, error) {
		seen := uint64(0)
		c.OnReset(func() { seen = 0 })
		count := func(h host.Host, _ int) {
			for range n {
				seen++
				c.History(fingerprint.Print{}.Uint(seen))
				h.Sleep(time.Second)
			}
		}
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget, MaxSteps: 8 * n}
		for _, name := range hosts {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Main: count})
		}
		return cfg, nil
	}}
}

// A search stops in time although its first run would not, and the rest of that run is
// not lost.
func TestLimitsEndARun(t *testing.T) {
	asked := 0
	for name, opt := range map[string]explore.Options{
		"time": {MaxTime: 50 * time.Millisecond},
		"stop": {Stop: func() bool { asked++; return asked > 5 }, Workers: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := explore.Check(counting(1<<40, "a", "b"), opt)
			if err != nil || r.Verdict != explore.RanOut {
				t.Fatalf("%+v %v", r, err)
			}
		})
	}
}

// A search that was stopped in the middle of a run, or with several jobs taken by a
// worker, resumes there.
func TestStoppedSearchResumes(t *testing.T) {
	sequential(t)
	for _, s := range []*explore.Scenario{counting(1000, "a", "b"), counting(1000, "a"), flagBeforeData()} {
		asked, stops := 0, 0
		whole, err := explore.Check(s, explore.Options{Workers: 1, EveryOrder: true, Stop: func() bool { asked++; return false }})
		if err != nil || whole.Verdict != explore.Verified {
			t.Fatalf("%+v %v", whole, err)
		}
		each := asked/9 + 1
		asked = 0
		opt := explore.Options{Workers: 1, EveryOrder: true, Save: filepath.Join(t.TempDir(), "s"), Stop: func() bool {
			asked++ // the first question comes before the first run, and the third in the middle of it
			return asked == 3 || asked%each == 0
		}}
		r, err := explore.Check(s, opt)
		for ; err == nil && r.Verdict == explore.RanOut; stops++ {
			opt.Resume = opt.Save
			r, err = explore.Check(s, opt)
		}
		if err != nil {
			t.Fatal(err)
		}
		if stops == 0 {
			t.Errorf("%s was never stopped", s.Name)
		}
		if r.Verdict != explore.Verified || r.States != whole.States {
			t.Errorf("%s: %v with %d states, want %d", s.Name, r.Verdict, r.States, whole.States)
		}
	}
}
