package audit

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A sleep set omits the second order of two steps that use nothing in common. It leads to the state to which the
// first order has led, so sleep sets omit steps and never a state: with them, a search without any other omission
// must find as many states as one that tries every order. A state that is missing shows that some step uses what its
// footprint omits, even if no outcome is lost here. Unlike the sampled pairs of steps, this covers the whole
// scenario, if that is small enough.

// everyState compares the search with sleep sets alone to one that tried every order and found so many states.
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
