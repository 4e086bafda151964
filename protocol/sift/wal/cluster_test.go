package wal

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A plain cluster that follows the plans of Choose: nodes with memory, and coordinators
// that die at any point. Each connection delivers the requests of its coordinator in
// order; a later coordinator cuts it. Every recovery must end with what was committed.

const cells = 3 // of memory; an entry writes one or two

type node struct {
	zone   []byte
	memory [cells]byte
	term   uint16
	void   bool
	gone   bool // with its memory
	fence  uint16
	queue  []func() // what its latest coordinator has posted
}

type cluster struct {
	t         *rapid.T
	shape     Shape
	nodes     []*node
	term      uint16
	committed map[uint64]Entry
	lost      int // nodes that are gone
	recovered int
	copied    int
	served    int
}

func newCluster(t *rapid.T) *cluster {
	c := &cluster{t: t, shape: Shape{Slots: rapid.IntRange(2, 4).Draw(t, "slots"), Bytes: 32}, committed: map[uint64]Entry{}}
	for range 2*rapid.IntRange(1, 2).Draw(t, "f") + 1 {
		c.nodes = append(c.nodes, &node{zone: make([]byte, c.shape.Size())})
	}
	return c
}

func (c *cluster) majority() int { return len(c.nodes)/2 + 1 }

// leader is a coordinator.
type leader struct {
	*cluster
	term    uint16
	live    []*node
	last    uint64
	applied uint64
	has     map[uint64]map[*node]bool // who has an entry
	log     map[uint64]Entry
}

// deliver carries out some of what was posted.
func (c *cluster) deliver(nodes []*node, all bool) {
	for {
		busy := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return len(n.queue) == 0 })
		if len(busy) == 0 || !all && rapid.IntRange(0, 5).Draw(c.t, "pause") == 0 {
			return
		}
		n := rapid.SampledFrom(busy).Draw(c.t, "node")
		n.queue[0]()
		n.queue = n.queue[1:]
	}
}

// elect makes a coordinator that reaches some majority.
func (c *cluster) elect() *leader {
	c.term++
	l := &leader{cluster: c, term: c.term, has: map[uint64]map[*node]bool{}, log: map[uint64]Entry{}}
	up := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.gone })
	up = rapid.Permutation(up).Draw(c.t, "reached")
	for _, n := range up[:rapid.IntRange(c.majority(), len(up)).Draw(c.t, "how many")] {
		n.fence, n.queue = c.term, nil
		l.live = append(l.live, n)
	}
	return l
}

// recover follows the plan, and reports whether the coordinator lives long enough.
func (l *leader) recover() bool {
	copies := make([]Copy, len(l.live))
	for i, n := range l.live {
		copies[i] = Copy{Term: n.term, Void: n.void}
		copies[i].Log, copies[i].All = l.shape.Parse(slices.Clone(n.zone))
	}
	p, ok := Choose(copies)
	if !ok {
		l.t.Fatal("all copies are void")
	}
	source := l.live[p.Source]
	for i, n := range l.live {
		l.repair(n, source, &p, &p.Repairs[i])
	}
	l.deliver(l.live, false)
	if l.drop(); len(l.live) < l.majority() || l.dies() {
		return false
	}
	l.deliver(l.live, true)
	for _, e := range p.Log.Entries {
		for _, n := range l.live {
			l.postApply(n, e)
		}
		l.commit(e)
		l.log[e.Index] = e
	}
	l.deliver(l.live, false)
	if l.dies() {
		return false
	}
	l.deliver(l.live, true)
	l.last, l.applied = p.Log.Last(), p.Log.Last()
	l.check(&p)
	return true
}

func (l *leader) repair(n, source *node, p *Plan, r *Repair) {
	post := func(f func()) { n.queue = append(n.queue, f) }
	for _, e := range r.Apply {
		l.postApply(n, e)
	}
	for _, i := range r.Clear {
		post(func() { clear(n.zone[l.shape.At(i) : l.shape.At(i)+8]) })
	}
	if r.Copy {
		l.copied++
		post(func() { n.void = true })
		for i := range cells {
			post(func() { n.memory[i] = source.memory[i] })
		}
		for i := range l.shape.Slots {
			post(func() { clear(n.zone[i*l.shape.SlotSize() : i*l.shape.SlotSize()+8]) })
		}
	}
	for _, e := range r.Write {
		l.postEntry(n, e)
	}
	post(func() { n.term, n.void = l.term, false })
}

// postEntry appends an entry, which arrives in two parts.
func (l *leader) postEntry(n *node, e Entry) {
	b := make([]byte, l.shape.SlotSize())
	size := l.shape.Encode(b, &e)
	at := l.shape.At(e.Index)
	n.queue = append(n.queue, func() { copy(n.zone[at:], b[:8]) }, func() {
		copy(n.zone[at:], b[:size])
		if l.has[e.Index] == nil {
			l.has[e.Index] = map[*node]bool{}
		}
		l.has[e.Index][n] = true
	})
}

func (l *leader) postApply(n *node, e Entry) {
	for _, u := range e.Updates {
		n.queue = append(n.queue, func() { copy(n.memory[u.Addr:], u.Data) })
	}
}

// drop loses the connection to some nodes.
func (l *leader) drop() {
	for len(l.live) >= l.majority() && rapid.IntRange(0, 9).Draw(l.t, "drop") == 0 {
		i := rapid.IntRange(0, len(l.live)-1).Draw(l.t, "dropped")
		l.live[i].queue = nil
		l.live = slices.Delete(l.live, i, i+1)
	}
}

func (l *leader) dies() bool { return rapid.IntRange(0, 3).Draw(l.t, "dies") == 0 }

func (l *leader) commit(e Entry) {
	if old, ok := l.committed[e.Index]; ok && !same(old, e) {
		l.t.Fatalf("entry %d was committed as %v, and now as %v", e.Index, old, e)
	}
	l.committed[e.Index] = e
}

func same(a, b Entry) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// check compares every node with all that was committed.
func (l *leader) check(p *Plan) {
	l.recovered++
	var want [cells]byte
	for i := uint64(1); i <= l.last; i++ {
		e, ok := l.committed[i]
		if !ok {
			l.t.Fatalf("entry %d of %d was never committed", i, l.last)
		}
		for _, u := range e.Updates {
			copy(want[u.Addr:], u.Data)
		}
	}
	for i := range l.committed {
		if i > l.last {
			l.t.Fatalf("entry %d is lost: the log ends at %d", i, l.last)
		}
	}
	for _, n := range l.live {
		log, _ := l.shape.Parse(n.zone)
		log.Entries = log.Entries[min(int(p.Log.First-log.First), len(log.Entries)):] // a node may have older ones too
		if n.memory != want || fmt.Sprint(log.Entries) != fmt.Sprint(p.Log.Entries) {
			l.t.Fatalf("a node has %v and %v, want %v and %v", n.memory, log, want, p.Log)
		}
	}
}

// serve appends and applies entries until the coordinator dies.
func (l *leader) serve() {
	for range rapid.IntRange(0, 12).Draw(l.t, "steps") {
		if l.drop(); len(l.live) < l.majority() {
			return
		}
		switch next := l.last + 1; {
		case next < l.applied+uint64(l.shape.Slots) && rapid.Bool().Draw(l.t, "append"):
			e := Entry{Index: next, Term: l.term}
			for range rapid.IntRange(1, 2).Draw(l.t, "updates") {
				e.Updates = append(e.Updates, Update{rapid.IntRange(0, cells-1).Draw(l.t, "addr"), []byte{rapid.Byte().Draw(l.t, "data")}})
			}
			l.last, l.log[next] = next, e
			for _, n := range l.live {
				l.postEntry(n, e)
			}
		case l.applied < l.last:
			l.deliver(l.live, false)
			if e := l.log[l.applied+1]; len(l.has[e.Index]) >= l.majority() {
				l.commit(e)
				l.applied++
				l.served++
				for _, n := range l.live {
					l.postApply(n, e)
				}
			}
		}
		l.deliver(l.live, false)
	}
}

func TestCommittedEntriesSurvive(t *testing.T) {
	var recovered, copied, served int
	trial := func(t *rapid.T) {
		c := newCluster(t)
		for range rapid.IntRange(2, 12).Draw(t, "coordinators") {
			if c.lost < len(c.nodes)/2 && rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
				n := rapid.SampledFrom(c.nodes).Draw(t, "failed")
				if !n.gone {
					n.gone, n.queue = true, nil
					c.lost++
				}
			}
			if l := c.elect(); l.recover() {
				l.serve()
			}
		}
		recovered, copied, served = recovered+c.recovered, copied+c.copied, served+c.served
	}
	for i := 0; i == 0 || i < 20 && copied == 0; i++ { // with -short a check has only 20 trials
		rapid.Check(t, trial)
	}
	if recovered == 0 || copied == 0 || served == 0 {
		t.Errorf("%d recoveries, %d copies, %d entries: the test tests nothing", recovered, copied, served)
	}
	t.Logf("%d recoveries, %d copies, %d entries", recovered, copied, served)
}
