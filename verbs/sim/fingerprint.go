package sim

import (
	"errors"
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The fingerprint of a state covers everything that its future depends on. The table in
// fingerprint_test.go lists every field of the world: where the fingerprint covers it, or why it does not.
//
// Unordered things, such as hosts, tasks, queue pairs, messages and cuts, are summed (Print.Plus),
// each with its own identity. So two steps that commute lead to the same fingerprint in either order.
//
// Interchangeable hosts are not named. State of one of them goes into its part, and state of two of
// them is a relation of the pair. Parts are sorted, and relations are hashed in the sorted order. If
// two states have the same fingerprint, the permutation from one order to the other maps the parts and
// all relations of one state to those of the other, so it is an isomorphism of the states. Hosts with
// equal parts may stand in any order: a bad choice can only fail to show that two states are alike.
//
// This rests on the promise that a scenario makes when it declares hosts symmetric: its code treats
// them alike, and no message, memory or report names one of them except by what was observed of it.

type print = fingerprint.Print

// obs is everything that a task has observed so far; the task's local state is a function of
// it. An observation about an interchangeable host goes into that host's part, with the
// position at which it was made, so that renaming the hosts renames the parts and nothing else.
type obs struct {
	main    print
	per     [maxSym]print
	visited int // the interchangeable host that the task visits, counted from 1; 0 if none (visit.go)
}

// see adds one observation about the interchangeable host tag, or about no such host if tag is negative.
func (o *obs) see(tag int, v print) {
	if tag < 0 {
		o.main = o.main.Print(v)
		return
	}
	o.named(tag)
	o.per[tag] = o.per[tag].Print(o.main).Print(v)
	o.main = o.main.Uint(0x5bd1e995)
}

// named adds the names of both hosts if the task visits one and observes another. That is a relation
// of the two, which the part of neither can express, so from then on no renaming applies to them.
func (o *obs) named(tag int) {
	if o.visited != 0 && o.visited != tag+1 {
		o.main = o.main.Int(o.visited).Int(tag)
		o.per[tag] = o.per[tag].Int(o.visited).Int(tag)
	}
}

// makes notes an object that a task creates while it visits a host. The object's number follows from
// the order of the visits, which is forgotten, but code may keep the number as belonging to that host.
func (o *obs) makes(kind, ord int) {
	if o.visited != 0 {
		o.per[o.visited-1] = o.per[o.visited-1].Int(kind).Int(ord)
	}
}

// seeUint adds a number that concerns no interchangeable host.
func (o *obs) seeUint(v uint64) { o.main = o.main.Uint(v) }

// refused adds that an operation failed. The reason may no longer hold in the next
// state, and then nothing else shows it.
func (t *task) refused(err error) error {
	for i, x := range [...]error{verbs.ErrClosed, verbs.ErrBusy, verbs.ErrState, verbs.ErrQueueFull, verbs.ErrInvalid, verbs.ErrUnsupported} {
		if errors.Is(err, x) {
			t.obs.seeUint(0x9e3779b9 + uint64(i))
		}
	}
	return err
}

// seeAll is like see, for several observations made at one moment, about different hosts.
func (o *obs) seeAll(n int, seen func(i int) (tag int, v print, ok bool)) {
	before := o.main
	for i := range n {
		tag, v, ok := seen(i)
		switch {
		case !ok:
		case tag < 0:
			o.main = o.main.Print(v)
		default:
			o.named(tag)
			o.per[tag] = o.per[tag].Print(before).Print(v)
		}
	}
	o.main = o.main.Uint(0x2545f491)
}

// join adds everything that task x has observed.
func (o *obs) join(x *obs) {
	before := o.main
	o.main = o.main.Print(x.main)
	for i := range o.per {
		if !x.per[i].IsZero() {
			o.named(i)
			o.per[i] = o.per[i].Print(before).Print(x.per[i])
		}
	}
}

// told returns the fingerprint of a message from interchangeable host self to interchangeable host to; -1 stands for
// any other host. It hashes the sender's observations at the time of sending, not the data: keys and queue pair
// numbers differ between hosts that are alike. It includes everything that the sender knew, since the message may
// outlive the sender. It leaves out which other hosts the sender knew it about, since the message does not name them.
func (o *obs) told(self, to int) print {
	var others print
	for i := range o.per {
		if i != to && i != self && !o.per[i].IsZero() {
			others = others.Plus(print{}.Print(o.per[i]))
		}
	}
	p := o.main.Print(others)
	if to >= 0 {
		p = p.Print(o.per[to])
	}
	if self >= 0 && self != to {
		p = p.Print(o.per[self])
	}
	return p
}

type fpScratch struct {
	rest  print
	parts [maxSym]print
	pairs [maxSym][maxSym]print
	// paired is set if pairs holds any relation.
	paired bool
	perm   [maxSym]uint8
	words  []uint64
}

// Fingerprint returns a hash of the state, the same for states that differ only in the
// names of interchangeable hosts. order has one element for each of those hosts and
// receives the canonical order: order[i] is the symmetric host at place i.
func (w *World) Fingerprint(order []uint8) fingerprint.Print {
	w.collect()
	perm := w.canonical()
	copy(order, perm) // order may be nil
	return w.fpbuf.in(perm)
}

// FingerprintIn returns a hash of the state with the interchangeable hosts in a given
// order. Two states, each in its order, have the same hash only if renaming the hosts of
// one order to those of the other turns one state into the other.
func (w *World) FingerprintIn(order []uint8) fingerprint.Print {
	w.collect()
	if w.fpbuf.paired {
		w.fpbuf.refine(len(w.sym)) // as canonical does
	}
	return w.fpbuf.in(order)
}

// SetBlind makes fingerprints omit the contents of DRAM, the values that tasks have loaded, and
// which of a host's objects have been destroyed, until it is called with false. Two runs in which
// interchangeable hosts are permuted are compared like this: code may keep data of several hosts in
// one region, and creates completion queues in some order, and no renaming of hosts moves these.
func (w *World) SetBlind(blind bool) { w.blind = blind }

// collect fills in the parts of the state.
func (w *World) collect() {
	f := &w.fpbuf
	f.rest = w.hist.Int(int(w.now)).Bool(w.over)
	clear(f.parts[:len(w.sym)])
	if f.paired {
		f.pairs, f.paired = [maxSym][maxSym]print{}, false
	}
	f.rest = w.zonePrint(f.rest, &w.skew)
	for _, n := range w.left {
		f.rest = f.rest.Int(n)
	}
	for i := range w.cfg.Services {
		f.rest = f.rest.Print(w.cfg.Services[i].Hash())
	}
	for _, n := range w.nodes {
		w.about(n.idx, n.idx, w.nodePrint(n))
		for _, m := range n.all {
			if m.alive {
				w.hostPrints(m)
			}
		}
	}
	for _, c := range w.cuts {
		w.about(c.a, c.b, print{}.Int(tagCut).Bool(c.heals))
	}
	for i := range w.ghosts {
		w.ghostPrint(&w.ghosts[i])
	}
	for _, q := range w.qps {
		w.queuePrint(q)
	}
	for _, t := range w.tasks {
		if t.alive {
			w.taskPrint(t)
		}
	}
}

// The kinds of things that are summed: each print begins with one.
const (
	tagNode = iota + 1
	tagCut
	tagGhost
	tagQueue
	tagSees
	tagFroze
	tagTask
	tagKnows
	tagMail
	tagCall
	tagMutex
	tagHost
	tagCQ
	tagPinned
	tagMade
	tagVisit
	tagBarred
	tagOrder
)

// about adds p, which concerns hosts a and b, to the part or relation that it belongs
// to. A relation of two interchangeable hosts has a direction.
func (w *World) about(a, b int, p print) {
	f := &w.fpbuf
	sa, sb := w.symOf(a), w.symOf(b)
	switch {
	case sa < 0 && sb < 0:
		f.rest = f.rest.Plus(p.Uint(uint64(a)<<8 | uint64(b)))
	case sa == sb:
		f.parts[sa] = f.parts[sa].Plus(p.Uint(1 << 16))
	case sb < 0:
		f.parts[sa] = f.parts[sa].Plus(p.Uint(2<<16 | uint64(b)))
	case sa < 0:
		f.parts[sb] = f.parts[sb].Plus(p.Uint(3<<16 | uint64(a)))
	default:
		f.pairs[sa][sb] = f.pairs[sa][sb].Plus(p.Uint(4 << 16))
		f.paired = true
	}
}

// symOf returns the index of a place among the interchangeable hosts, or -1.
func (w *World) symOf(i int) int {
	if i >= len(w.nodes) {
		return -1
	}
	return w.nodes[i].sym
}

// aboutThree is like about, for three hosts. If all three are interchangeable, it adds
// their names to the state and to their parts, so that no renaming applies to them.
func (w *World) aboutThree(a, b, c int, p print) {
	sa, sb, sc := w.nodes[a].sym, w.nodes[b].sym, w.nodes[c].sym
	switch {
	case sc < 0:
		w.about(a, b, p.Int(c+1))
	case sa < 0:
		w.about(b, c, p.Int(a+1).Int(-1))
	case sb < 0:
		w.about(a, c, p.Int(b+1).Int(-2))
	case sc == sa || sc == sb:
		w.about(a, b, p.Int(-3).Bool(sc == sa))
	case sa == sb:
		w.about(a, c, p.Int(-4))
	default:
		f := &w.fpbuf
		f.rest = f.rest.Plus(p.Int(a).Int(b).Int(c))
		for _, s := range [3]int{sa, sb, sc} {
			f.parts[s] = f.parts[s].Plus(print{}.Int(tagPinned).Int(s))
		}
	}
}

// canonical sorts the parts of the interchangeable hosts. One round of colour refinement
// distinguishes hosts by the hosts that they are related to.
func (w *World) canonical() []uint8 {
	f := &w.fpbuf
	n := len(w.sym)
	if f.paired {
		f.refine(n)
	}
	perm := f.perm[:n]
	for i := range perm {
		perm[i] = uint8(i)
	}
	slices.SortStableFunc(perm, func(a, b uint8) int {
		x, y := f.parts[a], f.parts[b]
		switch {
		case x.A < y.A || x.A == y.A && x.B < y.B:
			return -1
		case x == y:
			return 0
		}
		return 1
	})
	return perm
}

// in hashes the parts of the interchangeable hosts, and their relations, in the given order.
func (f *fpScratch) in(perm []uint8) print {
	p := f.rest
	for _, i := range perm {
		p = p.Print(f.parts[i])
	}
	for i := 0; f.paired && i < len(perm); i++ {
		for j := range perm {
			p = p.Print(f.pairs[perm[i]][perm[j]])
		}
	}
	return p
}

// refine adds to each part the host's relations to the others, with the parts of those others.
func (f *fpScratch) refine(n int) {
	old := f.parts
	for i := range n {
		var sum print
		for j := range n {
			if out, in := f.pairs[i][j], f.pairs[j][i]; !out.IsZero() || !in.IsZero() {
				sum = sum.Plus(print{}.Print(out).Print(in).Print(old[j]))
			}
		}
		f.parts[i] = old[i].Print(sum)
	}
}
