package explore

import "github.com/verbatim-rdma/verbatim/verbs/sim"

// chain is what is left to do at one state: the actors to try there, one after the other,
// and of the one that is being tried the choices that have yet to be made otherwise. One
// run tries one way of one actor. What an actor's step uses is known only then, so the
// next actor waits for it: it will sleep after the steps that commute with its own.
type chain struct {
	at     stateID // the initial state's chain has noState, and one way: to begin
	todo   []sim.Actor
	asleep []asleep // at the state
	tried  []asleep // of this chain, before todo[0]
	// Of todo[0]: the choices to make otherwise, what the ways that were tried use, and
	// whether somebody could notice one of them.
	alts   [][]uint32
	foot   footprint
	public bool
}

// first is the chain with which a search begins.
func first() *chain { return &chain{at: noState, todo: []sim.Actor{0}} }

// ways is how many ways are known to be left.
func (c *chain) ways() int { return len(c.todo) + len(c.alts) }

// next is the way to try next: an actor, and the choices that are given.
func (c *chain) next() (sim.Actor, []uint32) {
	if n := len(c.alts); n > 0 {
		inner := c.alts[n-1]
		c.alts = c.alts[:n-1]
		return c.todo[0], inner
	}
	return c.todo[0], nil
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
	out := after(nil, c.asleep, &way)
	out = after(out, c.tried, &way)
	if len(c.todo) == 1 && len(c.alts) == 0 {
		c.todo = nil
		return out // nobody needs to know
	}
	c.foot.add(uses)
	c.public = c.public || !private
	if len(c.alts) > 0 {
		return out
	}
	if !c.public {
		c.todo = nil
		return out
	}
	c.tried = append(c.tried, asleep{c.todo[0], c.foot})
	c.todo, c.foot, c.public = c.todo[1:], footprint{}, false
	return out
}

// drop is finish for a search that leaves nothing out.
func (c *chain) drop() {
	if len(c.alts) == 0 {
		c.todo = c.todo[1:]
	}
}
