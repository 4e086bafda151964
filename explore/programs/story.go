package programs

import (
	"fmt"
	"math/rand/v2"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Story describes, step by step, a random run with a given outcome. It is nil if none of the
// tried runs has the outcome.
func (p *Program) Story(outcome string, eager bool, tries uint64) (steps []string, err error) {
	err = explore.With(p.Scenario(), explore.Options{Eager: eager}, func(c *explore.Case) {
		for seed := uint64(0); seed < tries && steps == nil; seed++ {
			s := &story{w: c.World(), r: rand.New(rand.NewPCG(seed, 1))}
			if _, got, _ := c.Run(s); got == outcome {
				t := sim.Tracer{}
				s.w.SetTracer(&t)
				s.r = rand.New(rand.NewPCG(seed, 1))
				s.steps = nil
				_, _, _ = c.Run(s)
				steps = s.with(t.Events)
				s.w.SetTracer(nil)
			}
		}
	})
	return steps, err
}

// story is the policy of a random run that records its steps.
type story struct {
	w     *sim.World
	r     *rand.Rand
	steps []string
}

// Pick implements sim.Policy.
func (s *story) Pick(evs []sim.Event) int {
	i := s.r.IntN(len(evs))
	if evs[i].Fault && s.r.IntN(4) > 0 {
		i = s.r.IntN(len(evs))
	}
	step := s.w.EventName(&evs[i]) + ", not"
	for j := range evs {
		if j != i {
			step += " " + s.w.EventName(&evs[j])
		}
	}
	s.steps = append(s.steps, step)
	return i
}

// Choose implements sim.Policy.
func (s *story) Choose(k sim.ChoiceKind, n int) int {
	i := s.r.IntN(n)
	if at := len(s.steps) - 1; at >= 0 {
		s.steps[at] += fmt.Sprintf("; %v %d of %d", k, i, n)
	}
	return i
}

// with adds the events of a trace to the steps.
func (s *story) with(events []sim.TraceEvent) []string {
	var out []string
	for i, step := range s.steps {
		out = append(out, step)
		for _, e := range events {
			if e.Step == i+1 {
				out = append(out, fmt.Sprintf("    %s.%d %s: %s", e.Host, e.Life, e.Kind, e.Text))
			}
		}
	}
	return out
}
