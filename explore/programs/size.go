package programs

import (
	"math/rand/v2"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// How large a program is, is estimated before anything is compared: so what is left out
// does not depend on what a search finds.

// probes is how many runs an estimate takes.
const probes = 12

// probe makes a run at random and counts what it leaves aside: the product of the numbers
// of options is, in the mean over all runs, the number of runs (Knuth 1975).
type probe struct {
	r    *rand.Rand
	runs float64
}

func (p *probe) next(n int) int {
	p.runs *= float64(n)
	return p.r.IntN(n)
}

// Pick implements sim.Policy.
func (p *probe) Pick(evs []sim.Event) int { return p.next(len(evs)) }

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
