// Package sample has policies that make a simulated run at random: uniformly, or with priorities.
//
// The same seed and number of a run make the same run.
package sample

import (
	"math/rand/v2"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Policy is a sim.Policy for one run.
type Policy struct {
	rng   *rand.Rand
	prio  map[sim.Actor]uint64 // nil: no actor has a priority
	drops []int                // steps at which the running actor's priority falls
	step  int
}

const (
	pctDepth = 3
	pctSteps = 200
)

// Random picks events at random; a fault is one sixteenth as likely as others.
func Random(seed, run uint64) *Policy {
	return &Policy{rng: rand.New(rand.NewPCG(seed, run))}
}

// PCT picks events by priorities, like Burckhardt et al. (ASPLOS 2010). It finds a bug of depth d among n actors and
// k steps with probability at least 1/(n k^(d-1)).
func PCT(seed, run uint64) *Policy {
	s := Random(seed, run)
	s.prio = map[sim.Actor]uint64{}
	for range pctDepth {
		s.drops = append(s.drops, s.rng.IntN(pctSteps))
	}
	return s
}

// Pick implements sim.Policy.
func (s *Policy) Pick(evs []sim.Event) int {
	s.step++
	if s.prio == nil {
		return s.weighted(evs)
	}
	best := 0
	for i := range evs {
		if s.priority(&evs[i]) > s.priority(&evs[best]) {
			best = i
		}
	}
	for i, d := range s.drops {
		if d == s.step {
			s.prio[evs[best].Actor] = uint64(i)
		}
	}
	return best
}

// priority gives faults a place among the lower priorities, so that they strike
// somewhere in a run rather than at its beginning.
func (s *Policy) priority(e *sim.Event) uint64 {
	p, ok := s.prio[e.Actor]
	if !ok {
		p = s.rng.Uint64() | 1<<32
		if e.Fault {
			p >>= uint(s.rng.IntN(4))
		}
		s.prio[e.Actor] = p
	}
	if e.Fault && s.rng.IntN(16) != 0 {
		return 0
	}
	return p
}

// weighted picks a random event.
func (s *Policy) weighted(evs []sim.Event) int {
	total := 0
	for i := range evs {
		total += weight(&evs[i])
	}
	x := s.rng.IntN(total)
	for i := range evs {
		if x -= weight(&evs[i]); x < 0 {
			return i
		}
	}
	return 0
}

func weight(e *sim.Event) int {
	if e.Fault {
		return 1
	}
	return 16
}

// Choose implements sim.Policy.
func (s *Policy) Choose(_ sim.ChoiceKind, n int) int {
	return s.rng.IntN(n)
}
