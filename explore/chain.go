package explore

import "github.com/verbatim-rdma/verbatim/verbs/sim"

// chain is the remaining work at one state: the actors to try there, one after another,
// and the untried choices of the current one. One run tries one way of one actor. Only
// then is it known what the actor's step uses, so the next actor waits for it: it will
// sleep after the steps that commute with its own.
type chain struct {
	At     stateID // the initial state's chain has noState, and one way: to begin
	Todo   []sim.Actor
	Asleep []asleep // at the state
	Tried  []asleep // the initial state's chain has noState, and one way: to begin
	// Of Todo[0]: the alternative choices, the uses of the ways already tried, and
	// whether another actor could observe one of them.
	Alts   [][]uint32
	Foot   footprint
	Public bool

	stopped []move // for Options.Edges: steps that stopped at a seam
}

// ways returns the number of known remaining ways.
func (c *chain) ways() int { return len(c.Todo) + len(c.Alts) }

// next returns the next way to try: an actor, and its fixed choices.
func (c *chain) next() (sim.Actor, []uint32) {
	if n := len(c.Alts); n > 0 {
		inner := c.Alts[n-1]
		c.Alts = c.Alts[:n-1]
		return c.Todo[0], inner
	}
	return c.Todo[0], nil
}

// finish records a tried way, and returns the actors that sleep after it. Private is
// the result of [sim.World.Private].
//
// A step that is private in all its ways suffices: nothing else is tried at the state
// (an ample set of one step; Clarke, Grumberg, Minea, Peled, STTT 1999). It commutes
// with all steps of others until its actor goes on, nothing disables it, and the checks
// do not observe it, so whatever is possible before it is possible after it, with the
// same result. A crash that could precede it may still follow it (see
// [sim.World.Private]). No cycle of such steps delays others forever, because there
// are no cycles: each step of a task extends its history, a restart increments the
// life, and a fault is paid for. A task that takes private steps forever reaches the
// limit on steps, and then the verdict is unknown.
func (c *chain) finish(uses []sim.Access, private bool) []asleep {
	way := footprintOf(uses)
	out := after(nil, c.Asleep, &way)
	out = after(out, c.Tried, &way)
	if len(c.Todo) == 1 && len(c.Alts) == 0 {
		c.Todo = nil
		return out // not needed
	}
	c.Foot.add(uses)
	c.Public = c.Public || !private
	if len(c.Alts) > 0 {
		return out
	}
	if !c.Public {
		c.Todo = nil
		return out
	}
	c.Tried = append(c.Tried, asleep{c.Todo[0], c.Foot})
	c.Todo, c.Foot, c.Public = c.Todo[1:], footprint{}, false
	return out
}

// drop does the same as finish, in a search without reduction.
func (c *chain) drop() {
	if len(c.Alts) == 0 {
		c.Todo = c.Todo[1:]
	}
}
