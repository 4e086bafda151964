package sample_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/sample"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// picks returns what a policy picks of four events; the last is a fault.
func picks(p *sample.Policy, n int) []int {
	evs := []sim.Event{{Actor: 1}, {Actor: 2}, {Actor: 3}, {Actor: 4, Fault: true}}
	var out []int
	for range n {
		out = append(out, p.Pick(evs), p.Choose(0, 5))
	}
	return out
}

func TestTheSameSeedAndRunMakeTheSameRun(t *testing.T) {
	for name, policy := range map[string]func(seed, run uint64) *sample.Policy{"random": sample.Random, "PCT": sample.PCT} {
		first := picks(policy(7, 3), 300)
		if !slices.Equal(first, picks(policy(7, 3), 300)) {
			t.Errorf("%s: the same seed and run make two runs", name)
		}
		if slices.Equal(first, picks(policy(7, 4), 300)) || slices.Equal(first, picks(policy(8, 3), 300)) {
			t.Errorf("%s: another seed or run makes the same run", name)
		}
	}
}

func TestFaultsAreRareInRandomRuns(t *testing.T) {
	const n = 49_000 // a fault is one in 49
	faults := 0
	for i, x := range picks(sample.Random(1, 1), n) {
		if i%2 == 0 && x == 3 {
			faults++
		}
	}
	if faults < 850 || faults > 1150 {
		t.Errorf("%d faults, and about 1000 of %d were expected", faults, n)
	}
}

// With PCT one actor runs until its priority falls.
func TestPCTLetsOneActorRun(t *testing.T) {
	longest := 0
	for run := range uint64(20) {
		var steps []int
		for i, x := range picks(sample.PCT(1, run), 200) {
			if i%2 == 0 && x != 3 {
				steps = append(steps, x)
			}
		}
		changes := 0
		for i := range steps[1:] {
			if steps[i] != steps[i+1] {
				changes++
			}
		}
		if changes > 3 {
			t.Errorf("run %d: the actor changes %d times", run, changes)
		}
		longest = max(longest, changes)
	}
	if longest == 0 {
		t.Error("no priority ever falls")
	}
}
