package explore

import "github.com/verbatim-rdma/verbatim/verbs/sim"

// chain is what is left to do at one state: the actors to try there, one after the other,
// and of the one that is being tried the choices that have yet to be made otherwise. One
// run tries one way of one actor. What an actor's step uses is known only then, so the
// next actor waits for it: it will sleep after the steps that commute with its own.
type chain struct {
	At     stateID // the initial state's chain has noState, and one way: to begin
	Todo   []sim.Actor
	Asleep []asleep // at the state
	Tried  []asleep // of this chain, before Todo[0]
	// Of Todo[0]: the choices to make otherwise, what the ways that were tried use, and
	// whether somebody could notice one of them.
	Alts   [][]uint32
	Foot   footprint
	Public bool
}

// ways is how many ways are known to be left.
func (c *chain) ways() int { return len(c.Todo) + len(c.Alts) }

// next is the way to try next: an actor, and the choices that are given.
func (c *chain) next() (sim.Actor, []uint32) {
	if n := len(c.Alts); n > 0 {
		inner := c.Alts[n-1]
		c.Alts = c.Alts[:n-1]
		return c.Todo[0], inner
	}
	return c.Todo[0], nil
}

// finish notes a way that was tried, and returns who sleeps after it. Private is what
// [sim.World.Private] said of it.
//
// A step that is private in all its ways is enough: nothing more is tried at the state (an
// ample set of one step; Clarke, Grumberg, Minea, Peled, STTT 1999). It commutes with
// whatever others do until its actor goes on, nothing that others do disables it, and the
// checks do not see it, so what could be done before it can be done after it, to the same
// end. A step of a crash that could come before it may still come after it (see
// [sim.World.Private]). No cycle of such steps puts others off for ever, because there are no
// cycles: each step of a task extends what the task has observed, a restart counts the life,
// and a fault is paid for. A task that takes private steps without end meets the limit on
// steps, and then the verdict is unknown.
func (c *chain) finish(uses []sim.Access, private bool) []asleep {
	way := footprintOf(uses)
	out := after(nil, c.Asleep, &way)
	out = after(out, c.Tried, &way)
	if len(c.Todo) == 1 && len(c.Alts) == 0 {
		c.Todo = nil
		return out // nobody needs to know
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

// drop is finish for a search that leaves nothing out.
func (c *chain) drop() {
	if len(c.Alts) == 0 {
		c.Todo = c.Todo[1:]
	}
}
