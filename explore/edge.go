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
	// Share is the part of the actor's steps from From that this one stands for: if at each choice all
	// options count alike, the shares of all its steps, with one Seam, add up to 1.
	Share float64
	// Seam, if not 0, is the report to the checks at which the step was cut short, from 1.
	Seam int
	path func() []string
}

// Path names the steps by which the search came to From, and this one. Call it before the
// function that got the edge returns.
func (e *Edge) Path() []string { return e.path() }

// again reports whether the step has stopped at this seam, after these choices, before. It does so for
// each of the choices that come after the seam.
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

// edge reports the step that was made last, from a state to the one with print to.
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
