package explore

import (
	"math/bits"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The state graph of an exhaustive search.
//
// A state is known by its fingerprint, so that a run which comes to a known state
// can stop there. At each state only some of the enabled events are tried first;
// each state remembers in its future what can still happen after it. If
// something in the future of the state that an event leads to conflicts with that
// event, the other order matters, and the state before it must try the other
// actor as well. This is dynamic partial-order reduction (Flanagan and Godefroid,
// POPL 2005) for a graph instead of a tree: as in stateful DPOR (Yang, Chen,
// Gopalakrishnan, Kirby, SPIN 2008) a known state stands for all that was found
// after it, and what is found later is told to everybody who came to it.

// stateID indexes graph.states.
type stateID int32

// state is one node of the graph. Memory bounds a search, so its fields are in the order
// in which they take the least.
type state struct {
	parent  stateID // from which it was first reached
	first   int32   // its events are graph.events[first:first+n]
	via     move
	depth   uint32
	order   uint16 // which symmetric host stands where (index of graph.orders)
	n       uint8
	pending bool
	tried   uint64 // which events are tried
	future  []uint64
	in      []edge
}

// move is one step: an actor and the choices it made.
type move struct {
	actor sim.Actor
	inner []uint16
}

// edge is a step that leads to a state.
type edge struct {
	from   stateID
	actor  sim.Actor
	foot   []sim.Access
	rename uint16      // index of graph.renames: from the state's hosts to the edge's
	seen   []uint64    // what of the later state's future has been judged
	needs  []sim.Actor // actors to be tried before it that are not enabled there
}

// event is an enabled event of a state.
type event struct {
	actor sim.Actor
	clash uint64 // events of the same state that it collides with
}

// use is one use of an object by an actor: an element of a future.
type use struct {
	actor sim.Actor
	acc   sim.Access
}

// job is an event of a state that has yet to be tried, after some choices.
type job struct {
	at    stateID
	actor sim.Actor
	inner []uint16
}

// graph is shared by the workers of a search, under its lock.
type graph struct {
	states  []state
	byPrint map[uint64]stateID
	events  []event
	uses    []use
	useID   map[use]int32
	orders  [][]uint8
	orderID map[string]uint16
	renames []rename
	renID   map[string]uint16
	jobs    []job
	edges   uint64
	sym     []int
	hosts   int
	objs    []sim.Object
	ask     []sim.Actor
	feet    []sim.Access
	full    bool // no partial-order reduction
}

// rename maps hosts, and lazily the uses that mention them.
type rename struct {
	perm []uint8
	to   []int32
}

func newGraph(w *sim.World, full bool) *graph {
	g := &graph{byPrint: map[uint64]stateID{}, useID: map[use]int32{}, orderID: map[string]uint16{},
		renID: map[string]uint16{}, sym: w.Symmetric(), hosts: len(w.HostNames()), full: full}
	id := make([]uint8, g.hosts)
	for i := range id {
		id[i] = uint8(i)
	}
	g.renameOf(id)
	return g
}

func (g *graph) useOf(u use) int32 {
	id, ok := g.useID[u]
	if !ok {
		id = int32(len(g.uses))
		g.useID[u] = id
		g.uses = append(g.uses, u)
	}
	return id
}

func (g *graph) orderOf(o []uint8) uint16 {
	id, ok := g.orderID[string(o)]
	if !ok {
		id = uint16(len(g.orders))
		g.orders = append(g.orders, append([]uint8(nil), o...))
		g.orderID[string(o)] = id
	}
	return id
}

func (g *graph) renameOf(perm []uint8) uint16 {
	id, ok := g.renID[string(perm)]
	if !ok {
		id = uint16(len(g.renames))
		g.renames = append(g.renames, rename{perm: append([]uint8(nil), perm...)})
		g.renID[string(perm)] = id
	}
	return id
}

// between is the renaming from the hosts of a known state to those of a state
// that is equal to it but for the order of the symmetric hosts.
func (g *graph) between(known, here []uint8) uint16 {
	perm := append([]uint8(nil), g.renames[0].perm...)
	for i := range known {
		perm[g.sym[known[i]]] = uint8(g.sym[here[i]])
	}
	return g.renameOf(perm)
}

// add makes a state. The events are those that the world reports.
func (g *graph) add(w *sim.World, fp uint64, order []uint8, from stateID, via move, evs []sim.Event) stateID {
	id := stateID(len(g.states))
	s := state{parent: from, via: via, first: int32(len(g.events)), n: uint8(min(len(evs), 64)), order: g.orderOf(order)}
	if from >= 0 {
		s.depth = g.states[from].depth + 1
	}
	for i := range evs[:s.n] {
		e := event{actor: evs[i].Actor}
		for j := range evs[:s.n] {
			if i != j && w.Collide(&evs[i], &evs[j]) {
				e.clash |= 1 << j
			}
		}
		g.events = append(g.events, e)
	}
	g.states = append(g.states, s)
	g.byPrint[fp] = id
	return id
}

func (g *graph) eventsOf(id stateID) []event {
	s := &g.states[id]
	return g.events[s.first : int(s.first)+int(s.n)]
}

// keep copies a footprint to where it can stay.
func (g *graph) keep(foot []sim.Access) []sim.Access {
	if len(g.feet)+len(foot) > cap(g.feet) {
		g.feet = make([]sim.Access, 0, max(1<<14, len(foot)))
	}
	at := len(g.feet)
	g.feet = append(g.feet, foot...)
	return g.feet[at:len(g.feet):len(g.feet)]
}

// try makes the i-th event of a state one that is tried, and with it those that
// it collides with. The first returned event needs no job: the caller runs it.
func (g *graph) try(id stateID, i int, run bool) {
	s := &g.states[id]
	evs := g.eventsOf(id)
	todo := uint64(1) << i
	for todo&^s.tried != 0 {
		j := bits.TrailingZeros64(todo &^ s.tried)
		s.tried |= 1 << j
		todo |= evs[j].clash
		if j != i || !run {
			g.jobs = append(g.jobs, job{at: id, actor: evs[j].actor})
		}
	}
}

// tryAll makes every event of the state one that is tried.
func (g *graph) tryAll(id stateID) {
	for i := range g.eventsOf(id) {
		g.try(id, i, false)
	}
}

// link adds an edge to a state, and tells what follows from it.
func (g *graph) link(to stateID, e edge) {
	g.edges++
	s := &g.states[to]
	s.in = append(s.in, e)
	if g.full {
		return
	}
	k := len(s.in) - 1
	// The step itself is in the future of the state before it.
	changed := false
	p := &g.states[e.from]
	for _, a := range e.foot {
		changed = setBit(&p.future, g.useOf(use{e.actor, a})) || changed
	}
	if g.inherit(to, k, s.future) {
		changed = true
	}
	if changed {
		g.tell(e.from)
	}
}

// tell passes the future of a state on to the states before it.
func (g *graph) tell(id stateID) {
	work := []stateID{id}
	for len(work) > 0 {
		id = work[len(work)-1]
		work = work[:len(work)-1]
		s := &g.states[id]
		s.pending = false
		for k := range s.in {
			if g.inherit(id, k, s.future) {
				if p := &g.states[s.in[k].from]; !p.pending {
					p.pending = true
					work = append(work, s.in[k].from)
				}
			}
		}
	}
}

// inherit judges what has newly become known to follow from an edge: it adds it
// to the future of the state before, and makes that state try whatever conflicts
// with the edge. It reports whether the future of the state before grew.
func (g *graph) inherit(to stateID, k int, future []uint64) bool {
	grew, asked := false, false
	for wi := range future {
		e := &g.states[to].in[k]
		if wi >= len(e.seen) {
			e.seen = append(make([]uint64, 0, len(future)+1), e.seen...)[:len(future)]
		}
		word := future[wi] &^ e.seen[wi]
		e.seen[wi] |= word
		for word != 0 {
			b := int32(wi*64 + bits.TrailingZeros64(word))
			word &= word - 1
			u := g.renamed(e.rename, b)
			grew = setBit(&g.states[e.from].future, u) || grew
			x := g.uses[u]
			if x.actor != e.actor && conflicts(x.acc, e.foot) {
				g.need(to, k, x.actor)
			}
			asked = asked || x.acc.Mode != sim.Read
		}
	}
	if asked {
		for _, a := range append([]sim.Actor(nil), g.states[to].in[k].needs...) {
			g.enablers(to, k, a)
		}
	}
	return grew
}

func conflicts(a sim.Access, foot []sim.Access) bool {
	for _, f := range foot {
		if a.Conflicts(f) {
			return true
		}
	}
	return false
}

func (g *graph) renamed(r uint16, u int32) int32 {
	if r == 0 {
		return u
	}
	m := &g.renames[r]
	for int(u) >= len(m.to) {
		m.to = append(m.to, -1)
	}
	if m.to[u] < 0 {
		x := g.uses[u]
		y := use{x.actor.Rename(m.perm), sim.Access{Obj: x.acc.Obj.Rename(m.perm), Mode: x.acc.Mode}}
		id := g.useOf(y)
		g.renames[r].to[u] = id
		return id
	}
	return m.to[u]
}

// need makes the state before an edge try actor a first. If a is not enabled
// there, it tries whatever may enable a without the edge's own actor.
func (g *graph) need(to stateID, k int, a sim.Actor) {
	e := &g.states[to].in[k]
	for i, x := range g.eventsOf(e.from) {
		if x.actor == a {
			g.try(e.from, i, false)
			return
		}
	}
	for _, x := range e.needs {
		if x == a {
			return
		}
	}
	e.needs = append(e.needs, a)
	g.enablers(to, k, a)
}

// enablers asks for the actors that may wake a without the edge's own actor: those
// that change what a will look at, or that start a's host.
func (g *graph) enablers(to stateID, k int, a sim.Actor) {
	e := &g.states[to].in[k]
	fut := g.states[e.from].future
	g.objs, g.ask = g.objs[:0], g.ask[:0]
	for u := range each(fut) {
		x := &g.uses[u]
		if x.actor.Starts(a) {
			g.need(to, k, x.actor)
			return
		}
		if a.Strikes(x.actor) && x.actor != e.actor && !slices.Contains(g.ask, x.actor) {
			g.ask = append(g.ask, x.actor) // a crash is enabled by what its host does
		}
		if x.actor == a {
			g.objs = append(g.objs, x.acc.Obj)
		}
	}
	wake := g.objs
	ask := append([]sim.Actor(nil), g.ask...)
	for u := range each(fut) {
		x := &g.uses[u]
		if x.actor == a || x.actor == e.actor || x.acc.Mode == sim.Read {
			continue
		}
		if slices.Contains(wake, x.acc.Obj) && !slices.Contains(ask, x.actor) {
			ask = append(ask, x.actor)
		}
	}
	for _, x := range ask {
		g.need(to, k, x)
	}
}

// each yields the numbers in a bit set.
func each(set []uint64) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for i, w := range set {
			for w != 0 {
				if !yield(int32(i*64 + bits.TrailingZeros64(w))) {
					return
				}
				w &= w - 1
			}
		}
	}
}

func setBit(s *[]uint64, i int32) bool {
	w := int(i / 64)
	if w >= len(*s) {
		*s = append(make([]uint64, 0, w+3), *s...)[:w+1]
	}
	m := uint64(1) << (i % 64)
	if (*s)[w]&m != 0 {
		return false
	}
	(*s)[w] |= m
	return true
}
