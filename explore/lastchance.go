package explore

import "github.com/verbatim-rdma/verbatim/verbs/sim"

// LastChance describes when the fate of a run was sealed.
type LastChance struct {
	// Step is the last step after which the promise could still be kept: another run
	// shares the steps up to this one, continues differently and keeps it. It is -1 if
	// no such run was found.
	Step int
	// Tried is how many continuations were tried after each later step; all of them
	// broke the promise or did not finish. They are a sample: one that keeps it may
	// exist.
	Tried int
	// From is the first step from which continuations were tried: 0, or later if the
	// run is long and the search gave up before it found a step.
	From int
}

// maxSteps bounds the search for the last chance, in simulated steps.
const maxSteps = 300_000

// lastChance looks for the last step of the run of ds, steps long, after which it can
// still keep the promise. It goes backwards: a run that leaves ds late also leaves it
// after each earlier step.
func (c *Case) lastChance(ds []Decision, steps, tries int) *LastChance {
	out := &LastChance{Step: -1, Tried: tries, From: steps}
	for left := maxSteps; out.From > 0 && left > 0 && !c.dog.hung.Load(); {
		out.From--
		for seed := range tries {
			end, err := c.run(c.leave(ds, out.From, uint64(seed)))
			if left -= c.w.Steps(); err == nil && end == sim.Finished {
				out.Step = out.From
				return out
			}
		}
	}
	return out
}

// leave returns the policy that follows ds up to a step, and then takes the defaults or,
// with a seed, random options.
func (c *Case) leave(ds []Decision, after int, seed uint64) *leaving {
	g := newGuide(c.w, ds)
	g.limit = after + maxBeyond
	p := &leaving{guide: g, after: after}
	if seed > 0 {
		p.then = newSampler(Random, seed, uint64(after))
	}
	return p
}

// maxBeyond bounds the steps of a run after it has left another.
const maxBeyond = 2000

// leaving follows a guide for some steps and then another policy; nil takes the
// defaults.
type leaving struct {
	*guide
	after int
	then  sim.Policy
}

// Pick implements sim.Policy.
func (l *leaving) Pick(evs []sim.Event) int {
	if l.w.Steps() >= l.after {
		l.follow, l.raw = map[string][]string{}, l.then
	}
	return l.guide.Pick(evs)
}
