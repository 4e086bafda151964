package programs

import (
	"maps"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// successors are the states to which each step of a search has led. A search continues from one of the
// states with a fingerprint, and in the opposite order often from another one. If its steps lead
// elsewhere, the fingerprint omits something.
type successors map[step]map[fingerprint.Print]bool

// step is one that an actor makes from a state, up to a seam or to its end.
type step struct {
	from  fingerprint.Print
	actor sim.Actor
	seam  int
}

func (x successors) add(e *explore.Edge) {
	s := step{e.From, e.Actor, e.Seam}
	if x[s] == nil {
		x[s] = map[fingerprint.Print]bool{}
	}
	x[s][e.To] = true
}

// differ counts the steps that only one of two searches made, or that led to different states.
func (x successors) differ(y successors) (n int) {
	for s, to := range x { //lint:ordered they are counted
		if !maps.Equal(to, y[s]) {
			n++
		}
	}
	for s := range y { //lint:ordered they are counted
		if x[s] == nil {
			n++
		}
	}
	return n
}
