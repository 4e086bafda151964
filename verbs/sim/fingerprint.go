package sim

import (
	"errors"
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The fingerprint of a state covers everything that its future depends on. The table in
// fingerprint_test.go lists every field of the world: where it is covered, or why it is not.
//
// Unordered things are added (Print.Plus), each with its own identity:
// hosts, tasks, queue pairs, messages, cuts. So two steps that commute lead to one
// fingerprint, in either order.
//
// Interchangeable hosts are not named. What concerns one of them is its part, and what
// concerns two is a relation of the pair. Parts are sorted, and relations hashed in the
// sorted order. If two states have one fingerprint, the permutation from the order of the one
// to the order of the other maps the parts and all relations of the one state to those of
// the other, so it is an isomorphism of the states. Among hosts with equal parts any
// order would do for this; a different one may only fail to show that two states are alike.
//
// This rests on what a scenario promises when it calls hosts symmetric: its code treats
// them alike, and neither messages nor memory nor reports name one of them, but by what
// was observed of it.

type print = fingerprint.Print

// obs is what a task has observed so far; its local state is a function of it.
// What it observed about an interchangeable host goes to that host's part, with
// the position at which it was observed, so that renaming those hosts renames
// the parts and nothing else.
type obs struct {
	main    print
	per     [maxSym]print
	visited int // the interchangeable host that the task visits, from 1; 0: none. See visit.go
}

// see adds one observation: about the interchangeable host tag, or about no such host.
func (o *obs) see(tag int, v print) {
	if tag < 0 {
		o.main = o.main.Print(v)
		return
	}
	o.named(tag)
	o.per[tag] = o.per[tag].Print(o.main).Print(v)
	o.main = o.main.Uint(0x5bd1e995)
}

// named adds which hosts these are, if the task visits one and observes another. This is a
// relation of the two, which no part of either can express: from then on nothing renames them.
func (o *obs) named(tag int) {
	if o.visited != 0 && o.visited != tag+1 {
		o.main = o.main.Int(o.visited).Int(tag)
		o.per[tag] = o.per[tag].Int(o.visited).Int(tag)
	}
}

// makes adds what a task makes while it visits a host. Its number follows from the order of the visits, which
// is forgotten, and code may keep it as that host's.
func (o *obs) makes(kind, ord int) {
	if o.visited != 0 {
		o.per[o.visited-1] = o.per[o.visited-1].Int(kind).Int(ord)
	}
}

// seeUint adds a number that is about no interchangeable host.
func (o *obs) seeUint(v uint64) { o.main = o.main.Uint(v) }

// refused adds that an operation failed. The reason may be over before the next
// state, and then nothing else shows it.
func (t *task) refused(err error) error {
	for i, x := range [...]error{verbs.ErrClosed, verbs.ErrBusy, verbs.ErrState, verbs.ErrQueueFull, verbs.ErrInvalid, verbs.ErrUnsupported} {
		if errors.Is(err, x) {
			t.obs.seeUint(0x9e3779b9 + uint64(i))
		}
	}
	return err
}

// seeAll is see for several observations at one moment, about different hosts.
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

// join adds what another task knew.
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

// told is the content of a message that a task sends from interchangeable host self to
// interchangeable host to; -1 is any other. It is the state of the sender from which the
// message came, not the data in it: keys and numbers of queue pairs differ
// between hosts that are alike. It includes everything that the sender knew, since the message
// may outlive the sender. It does not say about which other hosts the sender knew it, since
// the message does not name them.
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
	// paired: some relation is in pairs.
	paired bool
	perm   [maxSym]uint8
	words  []uint64
}

// Fingerprint is a hash of the state, the same for states that differ only in
// the names of interchangeable hosts. order, of the length of the number of
// those hosts, receives the canonical order: order[i] is the symmetric host that
// stands at place i.
func (w *World) Fingerprint(order []uint8) fingerprint.Print {
	w.collect()
	perm := w.canonical()
	copy(order, perm) // order may be nil
	return w.fpbuf.in(perm)
}

// FingerprintIn is a hash of the state with the interchangeable hosts in a given order. It is the same
// for two states, in two orders, only if renaming the hosts of one order to those of the other makes the one
// state of the other.
func (w *World) FingerprintIn(order []uint8) fingerprint.Print {
	w.collect()
	if w.fpbuf.paired {
		w.fpbuf.refine(len(w.sym)) // as canonical does
	}
	return w.fpbuf.in(order)
}

// SetBlind makes fingerprints leave out what is in DRAM, what tasks have loaded, and which of the things that
// a host has made have ended, until it is called with false. Two runs in which interchangeable hosts are permuted
// are compared like this: code may keep what it has of several hosts in one region, and has made one completion
// queue after the other, and no renaming of hosts moves these.
func (w *World) SetBlind(blind bool) { w.blind = blind }

// collect collects the parts of the state.
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

// The kinds of things that are added up: each print begins with one.
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

// about adds p, which concerns hosts a and b, to the parts or the relation that it belongs to. A relation of two
// interchangeable hosts has a direction.
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

// symOf is the index of a place among the interchangeable hosts, or -1.
func (w *World) symOf(i int) int {
	if i >= len(w.nodes) {
		return -1
	}
	return w.nodes[i].sym
}

// aboutThree is about for three hosts. If they are three interchangeable ones it names
// them, and makes their names parts of them: then nothing renames them.
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

// in hashes the parts of the interchangeable hosts, and their relations, in an order.
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

// refine adds to each part how the host is related to the others, and what their parts
// are.
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
