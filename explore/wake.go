package explore

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// wake makes a chain of actors that have slept at a known state, for a visitor for whom
// set sleeps and whose hosts stand in order. wake and left use the names of the
// canonical order; the chain uses those of the state as it was first reached.
func (w *walker) wake(id stateID, wake, left []sim.Actor, order uint32, set []asleep) *chain {
	t := &w.s.states
	known := t.orders.at(t.row(id).Order)
	y := &chain{At: id}
	out := w.s.between(nil, known)
	for _, a := range wake {
		y.Todo = append(y.Todo, out.actor(a))
	}
	// Sleeping actors and their uses have the visitor's names. If the hosts stand in
	// another order here, the chain drops them and tries more than it must.
	if canon := w.s.between(known, nil); order == t.row(id).Order {
		for i := range set {
			if slices.Contains(left, canon.actor(set[i].Actor)) {
				y.Asleep = append(y.Asleep, set[i])
			}
		}
	}
	return y
}

// goOn returns the chain of a known state with which the run continues, or nil. The run
// reached the state by another path than the first run, but the possible steps there are
// the same. So it can continue if its hosts have the same names, and no run needs to return
// to the state. Two things need the first path: choices, because it determines the numbers
// of their options (two waiting messages, say, are numbered in the order in which they were
// sent), and the replay of a violation. So a step that makes a choice or fails is left to a
// run that follows the first path.
func (w *walker) goOn(y *chain, order uint32) *chain {
	if order != w.s.states.row(y.At).Order {
		w.s.push(y)
		return nil
	}
	w.away = true
	return y
}
