package ncl_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

func TestCreateRecordRecover(t *testing.T) {
	var l log
	w := newWorld(t, &l, 3, "strong", "none")
	if end, err := w.Run(first{}); end != sim.Finished {
		t.Fatal(end, err)
	}
	if len(l.acked) != lives*records {
		t.Errorf("%v are there, want %d; %v", l.acked, lives*records, l.ended)
	}
	t.Log(w.Steps(), "steps")
}

// No acknowledged write is lost, nothing panics, nothing waits forever.
func TestRandom(t *testing.T) {
	for _, tt := range []struct {
		peers           int
		profile, budget string
		runs            int
	}{
		{1, "strong", "crash(app)<=2", 500},
		{3, "strong", "crash(app)<=1, crash(peer*)<=1", 3000},
		{3, "strong", "crash(app)<=2, cut(app,peer*)<=1", 3000},
		{3, "strong", "crash(app)<=2, partition(app,peer*)<=3", 5000},
		{3, "strong", "crash(app)<=2, break(app,peer*)<=2", 3000},
		{3, "strong", "crash(app)<=2, revoke(peer*)<=1", 3000},
		{3, "strong", "crash(app)<=1, timeout(app)<=1, crash(peer*)<=1", 3000},
		{5, "strong", "crash(app)<=2, crash(peer*)<=2", 1000},
	} {
		t.Run(tt.budget, func(t *testing.T) {
			t.Parallel()
			searchAtRandom(t, tt.peers, tt.profile, tt.budget, tt.runs)
		})
	}
}

func searchAtRandom(t *testing.T, peers int, profile, budget string, runs int) {
	var l log
	w := newWorld(t, &l, peers, profile, budget)
	start, steps := time.Now(), 0
	endings := map[string]int{}
	for seed := range runs {
		end, err := w.Run(random{rand.New(rand.NewPCG(1, uint64(seed)))})
		if end != sim.Finished {
			t.Fatalf("seed %d: %v: %v", seed, end, err)
		}
		steps += w.Steps()
		endings[l.ending()]++
	}
	t.Logf("%d peers: %.0f runs/s, %d steps a run, %v", peers, float64(runs)/time.Since(start).Seconds(), steps/runs, endings)
}
