package audit

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A sleep set omits the second order of two steps that use nothing in common. Both orders lead to the same state, so
// sleep sets omit steps and never a state. So a search with sleep sets alone must find as many states as one that
// tries every order. A missing state shows that the footprint of some step is incomplete, even if no outcome is lost
// here. Unlike the sampled pairs of steps, this covers the whole scenario, if it is small enough.

// everyState checks that a search with sleep sets alone finds the given number of states, which every order has found.
func everyState(s *explore.Scenario, o explore.Options, states uint64, r *Report) error {
	o.EveryOrder, o.Backwards, o.Edges = false, false, nil
	o.NoPrivate = true
	found, err := explore.Check(s, o)
	if o.Stop != nil && o.Stop() {
		r.Stopped = true
	}
	if err != nil || !found.Exhausted || r.Stopped {
		return err
	}
	r.Tried[Commute] += int(states)
	if found.States != states {
		r.add(&Finding{Claim: Commute, Why: fmt.Sprintf("the search finds %d states if it omits the second order of such steps, and %d with every order", found.States, states)})
	}
	return nil
}
