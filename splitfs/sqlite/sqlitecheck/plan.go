package sqlitecheck

import (
	"math/rand/v2"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// plan is the policy of a run: its crashes, and a generator for the other choices.
type plan struct {
	w *sim.World
	// crash and again are the steps of the application's crashes, again counted
	// from the first; 0: none. peer crashes at step peerAt.
	crash, again int
	power        [2]bool // whether each crash is a power failure
	peer, peerAt int
	rng          *rand.Rand
	after        *rand.Rand // from the first crash on
	step, struck int
	second       bool  // the first life is over
	points       []int // the steps of the first life in which it can crash
}

// newPlan returns the plan for a crash at a step; 0: no crash. steps is the length of the
// workload.
func newPlan(w *sim.World, cfg *Config, at, steps int) *plan {
	seed := cfg.Seed
	p := &plan{w: w, crash: at, rng: rand.New(rand.NewPCG(seed, 0)), after: rand.New(rand.NewPCG(seed, uint64(at)+1))}
	if at > 0 {
		if p.after.IntN(2) == 0 {
			p.again = 1 + p.after.IntN(300)
		}
		switch {
		case cfg.Log == Arcadia:
			p.power = [2]bool{p.after.IntN(2) == 0, p.after.IntN(2) == 0}
		case p.after.IntN(3) == 0:
			p.peer, p.peerAt = 1+p.after.IntN(peers), 1+p.after.IntN(steps)
		}
	}
	return p
}

// Pick implements sim.Policy: it picks the first event, except for the planned crashes.
func (p *plan) Pick(events []sim.Event) int {
	p.step++
	for i := range events {
		e := &events[i]
		switch node := e.Actor.Node(); {
		case e.Actor.Restart() && node > 0:
			return i // a peer restarts at once, with empty memory
		case !e.Fault:
		case p.peer > 0 && node == p.peer && p.step >= p.peerAt:
			p.peer = -p.peer
			return i
		case node == 0 && p.power[min(p.struck, 1)] != (e.Actor.Kind() == faults.Power.String()): // not the planned kind of crash
		case node == 0 && p.crash == 0:
			if life, _, ok := events[0].Actor.Task(); !p.second && ok && events[0].Actor.Node() == 0 {
				p.second = life > 0
			}
			if !p.second {
				p.points = append(p.points, p.step)
			}
		case node == 0 && p.dies():
			p.struck++
			p.rng = p.after
			return i
		}
	}
	return 0
}

// dies reports whether the application crashes now.
func (p *plan) dies() bool {
	return p.struck == 0 && p.step >= p.crash || p.struck == 1 && p.again > 0 && p.step >= p.crash+p.again
}

// Choose implements sim.Policy.
func (p *plan) Choose(_ sim.ChoiceKind, n int) int { return p.rng.IntN(n) }
