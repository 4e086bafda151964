package programs

import (
	"math/rand/v2"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The size of a program is estimated before the comparison, so which programs are omitted does not
// depend on what a search finds.

// probes is how many runs an estimate takes.
const probes = 12

// probe makes a random run and multiplies the numbers of options along it: the mean of this
// product over all runs is the number of runs (Knuth 1975). Options that are tried less often
// have a larger weight.
type probe struct {
	r    *rand.Rand
	runs float64
}

func (p *probe) next(n int) int {
	p.runs *= float64(n)
	return p.r.IntN(n)
}

// rarity is the number of steps for each fault: a run that stops early is a poor estimate of the
// number of runs.
const rarity = 12

// Pick implements sim.Policy. It tries few faults, with a larger weight.
func (p *probe) Pick(evs []sim.Event) int {
	var of [2][]int // steps and faults, by their places
	for i := range evs {
		at := 0
		if evs[i].Fault {
			at = 1
		}
		of[at] = append(of[at], i)
	}
	if len(of[0]) == 0 || len(of[1]) == 0 {
		return p.next(len(evs))
	}
	if p.r.IntN(rarity) == 0 {
		p.runs *= rarity
		return of[1][p.next(len(of[1]))]
	}
	p.runs *= rarity / (rarity - 1.)
	return of[0][p.next(len(of[0]))]
}

// Choose implements sim.Policy.
func (p *probe) Choose(_ sim.ChoiceKind, n int) int { return p.next(n) }

// estimate is about how many runs the naive search of the eager machine has.
func estimate(s *explore.Scenario) (runs float64, err error) {
	err = explore.With(s, explore.Options{Eager: true}, func(c *explore.Case) {
		for i := range uint64(probes) {
			p := &probe{r: rand.New(rand.NewPCG(i, 1975)), runs: 1}
			_, _, _ = c.Run(p) // a run that fails counts like any other
			runs += p.runs / probes
		}
	})
	return runs, err
}
