package explore

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Sleep sets (Godefroid, LNCS 1032, 1996, chapter 5): which steps need not be tried.
//
// Two steps whose footprints do not conflict commute: in either order they lead to the
// same state, and neither enables, disables or changes the other. So if actor a was
// tried at a state and then b, a need not be tried again after b: the result is that of
// b after a. a sleeps there until a step conflicts with its own. Sleep sets omit edges
// of the graph of states and never a state. A table of states needs one more rule: at a
// known state, a visitor for whom fewer actors sleep must try those that slept there
// and do not sleep for the visitor (Godefroid, 5.3; [states.enter]). So a state stores
// the set of actors that slept for all its visitors.
//
// Why no state is lost. Let a visitor arrive at state s, let w be a sequence of steps
// from s to a state q, and let no step that can be moved to the front of w belong to an
// actor that sleeps for the visitor. Then q is found, by induction on the length of w.
// Each step that can be moved to the front is eventually tried at s, since it does not
// sleep for this visitor. They are tried in chains, one for each visitor who woke an
// actor. Take the last chain that contains some of them, and v, the first of them
// there. An actor that sleeps after v slept for all visitors up to that one, or was
// tried in that chain before v; neither can be moved to the front of w, so nothing that
// can be moved to the front of the rest of w sleeps after v. (A step that v enabled
// does not sleep: a sleeping one was possible before v.) The rest of w is shorter. At
// the initial state no actor sleeps.
//
// The premise, that steps without a conflict commute, is checked by [Audit] on any
// scenario, and by mutants that omit a use.

// asleep is an actor that need not be tried, with the uses of its step.
type asleep struct {
	Actor sim.Actor
	Foot  footprint
}

// footprint is the set of objects that a step uses, in any of its continuations.
type footprint struct {
	Uses []sim.Access
	// bits has a bit for each object, so that most pairs without a common object are
	// distinguished at once. A step whose order to any other matters has all bits.
	Bits uint64
}

// footprintOf returns the objects that a step used, without a copy.
func footprintOf(uses []sim.Access) footprint {
	f := footprint{Uses: uses}
	for _, u := range uses {
		f.Bits |= bitOf(u)
	}
	return f
}

// add adds the uses of one way in which the step went.
func (f *footprint) add(uses []sim.Access) {
	for _, u := range uses {
		if !slices.Contains(f.Uses, u) {
			f.Uses = append(f.Uses, u)
			f.Bits |= bitOf(u)
		}
	}
}

func bitOf(u sim.Access) uint64 {
	if u.Everything() {
		return everything
	}
	return 1 << (uint64(u.Obj) * 0x9e3779b97f4a7c15 >> 58)
}

const everything = ^uint64(0)

// conflicts reports whether the order of two steps may matter.
func (f *footprint) conflicts(g *footprint) bool {
	if f.Bits&g.Bits == 0 {
		return false
	}
	if f.Bits == everything || g.Bits == everything {
		return true
	}
	for _, x := range f.Uses {
		if g.Bits&bitOf(x) == 0 {
			continue
		}
		for _, y := range g.Uses {
			if x.Conflicts(y) {
				return true
			}
		}
	}
	return false
}

// after appends those of before that still sleep after a step.
func after(out, before []asleep, step *footprint) []asleep {
	for i := range before {
		if !before[i].Foot.conflicts(step) {
			out = append(out, before[i])
		}
	}
	return out
}

// sleeps reports whether an actor is among those that sleep.
func sleeps(set []asleep, a sim.Actor) bool {
	return slices.ContainsFunc(set, func(x asleep) bool { return x.Actor == a })
}

// renaming maps hosts to hosts; nil is the identity.
type renaming []uint8

// between maps the hosts of a state to those of an equal one in which the
// interchangeable hosts are in another order. A nil order is that of the scenario.
func (s *search) between(from, to []uint8) renaming {
	if slices.Equal(from, to) {
		return nil
	}
	r := slices.Clone(s.identity)
	for i, at := range s.symmetric {
		a, b := at, at
		if from != nil {
			a = s.symmetric[from[i]]
		}
		if to != nil {
			b = s.symmetric[to[i]]
		}
		r[a] = uint8(b)
	}
	return r
}

func (r renaming) actor(a sim.Actor) sim.Actor {
	if r == nil {
		return a
	}
	return a.Rename(r)
}
