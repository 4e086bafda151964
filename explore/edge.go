package explore

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Edge is a step of a search from one state to the next: see [Options].Edges.
type Edge struct {
	From, To fingerprint.Print
	// Actor makes the step. Actors have the same numbers in all searches of a scenario.
	Actor sim.Actor
	// Share is the probability of this step if the actor chooses uniformly. The shares of all steps of
	// an actor from one state, with the same Seam, add up to 1.
	Share float64
	// Seam, if not 0, numbers the seam at which the step stopped, from 1 (see sim.World.Seams).
	Seam int
	path func() []string
}

// Path returns the names of the steps that lead to From, and of this step. It is valid only during the
// call of Options.Edges.
func (e *Edge) Path() []string { return e.path() }

// again reports whether the search has already made this step, which stopped at a seam. The search
// repeats such a step for each choice that follows the seam.
func (w *walker) again() bool {
	if stopOf(w.step.Inner) == 0 {
		return false
	}
	same := func(m move) bool { return m.Actor == w.step.Actor && slices.Equal(m.Inner, w.step.Inner) }
	if slices.ContainsFunc(w.cur.stopped, same) {
		return true
	}
	w.cur.stopped = append(w.cur.stopped, move{w.step.Actor, slices.Clone(w.step.Inner)})
	return false
}

// edge passes the last step, from a state to the state with fingerprint to, to Options.Edges.
func (w *walker) edge(from stateID, to fingerprint.Print) {
	if w.s.edges == nil || from == noState || w.again() {
		return
	}
	w.s.edges(&Edge{From: w.s.states.row(from).Print, To: to, Actor: w.step.Actor, Share: w.share, Seam: stopOf(w.step.Inner), path: func() []string {
		var out []string
		for _, m := range append(w.s.states.pathTo(from, nil), w.step) {
			name := w.c.w.ActorName(m.Actor)
			if len(m.Inner) > 0 {
				name += fmt.Sprint(m.Inner)
			}
			out = append(out, name)
		}
		return out
	}})
}
