package explore

import "github.com/verbatim-rdma/verbatim/verbs/sim"

// LastChance is what is known about when the fate of a run was sealed.
type LastChance struct {
	// Step is the last step after which the promise could still be kept: a run that
	// is the same up to and with this step, and goes on otherwise, was made, and
	// keeps it. It is -1 if no such run was found at all.
	Step int
	// Tried is how many ways to go on were tried after each later step, all of
	// which broke the promise, or came to no end. They are a sample: there may be
	// one that keeps it.
	Tried int
}

// lastChance looks for the last step of the run of ds, steps long, after which it
// can go on and keep the promise. It goes backwards: a run that leaves ds late also
// leaves it after each earlier step.
func (c *Case) lastChance(ds []Decision, steps, tries int) *LastChance {
	for k := steps - 1; k >= 0 && !c.dog.hung.Load(); k-- {
		for seed := range tries {
			g := newGuide(c.w, ds)
			g.follow = orEmpty(g.follow)
			g.limit = steps + maxBeyond
			p := &leaving{guide: g, after: k}
			if seed > 0 {
				p.then = newSampler(Random, uint64(seed), uint64(k))
			}
			if end, err := c.run(p); err == nil && end == sim.Finished {
				return &LastChance{Step: k, Tried: tries}
			}
		}
	}
	return &LastChance{Step: -1, Tried: tries}
}

// maxBeyond bounds how many steps a run goes on after it has left another.
const maxBeyond = 2000

// leaving follows a guide for some steps and another policy from then on; nil takes
// the defaults.
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
