package order_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim/order"
	"pgregory.net/rapid"
)

// weakest returns a card that promises no more than the specification.
func weakest() *faults.Profile {
	return &faults.Profile{Placement: faults.AnyOrder, CellBytes: 8, MTU: 4096, MaxRdAtomic: 16}
}

// operation holds the attributes of a request that the rules look at.
type operation struct {
	name  string
	kind  order.Kind
	blind bool
}

var (
	send        = operation{"Send", order.Send, false}
	write       = operation{"Write", order.Write, false}
	read        = operation{"Read", order.Read, false}
	atomic      = operation{"Atomic", order.Atomic, false}
	flush       = operation{"Flush", order.Flush, false}
	atomicWrite = operation{"Atomic Write", order.Atomic, true}
)

func (o operation) piece(r order.Request) *order.Piece {
	return &order.Piece{Request: r, Kind: o.kind, Blind: o.blind}
}

// pair returns two requests that are posted one after the other, the second with or without a fence.
func pair(a, b operation, fenced bool) (x, y *order.Piece) {
	first := order.Empty().Next(a.kind.Answered(), false)
	return a.piece(first), b.piece(first.Next(b.kind.Answered(), fenced))
}

// The entries of the table: never, only with a fence, always.
const (
	no = iota
	ifFenced
	always
)

// Table 79 of the IBA specification and the additions by the extensions for memory placement, for a card that keeps
// no other promise. What the table calls ordered at the responder for Sends and Writes is the order in which they
// are accepted. The order in which they land in memory depends on the profile, so the weakest card has none there.
func TestTable79(t *testing.T) {
	seconds := []operation{send, write, read, atomic, flush, atomicWrite}
	for _, row := range []struct {
		first operation
		want  [6]int // of the seconds
	}{
		//                Send      Write     Read    Atomic    Flush   Atomic Write
		{send, [...]int{no, no, always, no, always, no}},
		{write, [...]int{no, no, always, no, always, no}},
		{read, [...]int{ifFenced, ifFenced, always, ifFenced, always, ifFenced}},
		{atomic, [...]int{ifFenced, ifFenced, always, always, always, always}},
		{flush, [...]int{ifFenced, ifFenced, always, ifFenced, always, always}},
		{atomicWrite, [...]int{ifFenced, ifFenced, always, always, always, always}},
	} {
		for i, second := range seconds {
			for _, fenced := range []bool{false, true} {
				x, y := pair(row.first, second, fenced)
				got := order.Rules{Card: weakest(), Outstanding: 16}.Ordered(x, y)
				if want := row.want[i] == always || row.want[i] == ifFenced && fenced; got != want {
					t.Errorf("%s, then %s, fenced %v: ordered %v, want %v", row.first.name, second.name, fenced, got, want)
				}
			}
		}
	}
}

// Each knob of the profile adds these pairs to the table, and no others.
func TestKnobs(t *testing.T) {
	all := []operation{send, write, read, atomic, flush, atomicWrite}
	type pairs map[[2]string]bool
	ordered := func(p *faults.Profile, fenced, flushed bool) pairs {
		out := pairs{}
		for _, a := range all {
			for _, b := range all {
				x, y := pair(a, b, fenced)
				if x.Flushed = flushed && a == write; (order.Rules{Card: p, Outstanding: 16}).Ordered(x, y) {
					out[[2]string{a.name, b.name}] = true
				}
			}
		}
		return out
	}
	of := func(firsts, seconds []operation) (out pairs) {
		out = pairs{}
		for _, a := range firsts {
			for _, b := range seconds {
				out[[2]string{a.name, b.name}] = true
			}
		}
		return out
	}
	unordered := []operation{send, write}
	atomics := []operation{atomic, atomicWrite}
	for _, c := range []struct {
		name    string
		set     func(*faults.Profile)
		fenced  bool
		flushed bool
		adds    []pairs
	}{
		{"AtomicFlushes: what is behind a Write waits for it if it is an Atomic", func(p *faults.Profile) { p.AtomicFlushes = true }, false, false,
			[]pairs{of(unordered, atomics)}},
		{"AtomicOrdersLater: no Write passes an Atomic", func(p *faults.Profile) { p.AtomicOrdersLater = true }, false, false,
			[]pairs{of(atomics, unordered)}},
		{"FenceWaitsAll: a fence waits for Writes too", func(p *faults.Profile) { p.FenceWaitsAll = true }, true, false,
			[]pairs{of(unordered, append(atomics, unordered...))}},
		{"InOrder: Writes land in order, and behind Atomics", func(p *faults.Profile) { p.Placement = faults.InOrder }, false, false,
			[]pairs{of(unordered, unordered), of(atomics, unordered)}},
		{"Blocks128 says nothing about two requests", func(p *faults.Profile) { p.Placement = faults.Blocks128 }, false, false, nil},
		{"a fence waits for a Write that a Read flushes", func(*faults.Profile) {}, true, true,
			[]pairs{of([]operation{write}, append(atomics, unordered...))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, p := weakest(), weakest()
			c.set(p)
			want := ordered(base, c.fenced, false)
			for _, adds := range c.adds {
				for x := range adds { //lint:ordered a set is filled
					want[x] = true
				}
			}
			got := ordered(p, c.fenced, c.flushed)
			for _, a := range all {
				for _, b := range all {
					if x := [2]string{a.name, b.name}; got[x] != want[x] {
						t.Errorf("%s, then %s: ordered %v, want %v", a.name, b.name, got[x], want[x])
					}
				}
			}
		})
	}
}

// The addresses of two pieces of one Write decide whether they have an order.
func TestPiecesOfOneWrite(t *testing.T) {
	for _, c := range []struct {
		placement faults.Placement
		a, b      uint64
		want      bool
	}{
		{faults.InOrder, 0, 4096, true},
		{faults.Blocks128, 128, 248, true},
		{faults.Blocks128, 120, 128, false},
		{faults.Blocks128, 1<<32 + 8, 2<<32 + 16, false}, // two regions
		{faults.AnyOrder, 0, 8, false},
	} {
		card := weakest()
		card.Placement = c.placement
		r := order.Empty().Next(false, true) // its own fence orders nothing within it
		a, b := order.Piece{Request: r, Addr: c.a}, order.Piece{Request: r, Addr: c.b}
		if got := (order.Rules{Card: card, Outstanding: 16}).Ordered(&a, &b); got != c.want {
			t.Errorf("%v, at %#x and %#x: ordered %v, want %v", c.placement, c.a, c.b, got, c.want)
		}
	}
}

// A send queue stalls behind a fence that waits, and when as many Reads and Atomics are outstanding as it may have.
func TestStalls(t *testing.T) {
	queue := func(of ...string) (out []order.Request) {
		r := order.Empty()
		for _, x := range of {
			r = r.Next(x == "read", x == "fenced")
			out = append(out, r)
		}
		return out
	}
	for _, c := range []struct {
		name        string
		queue       []order.Request
		outstanding int
		want        int // the first request that stalls behind the first one
	}{
		{"a Read when one may be outstanding", queue("read", "write", "read"), 1, 2},
		{"the second of two", queue("read", "read", "write", "read"), 2, 3},
		{"what stands behind it as well", queue("read", "read", "write"), 1, 1},
		{"behind a fence", queue("read", "write", "fenced", "write"), 16, 3},
		{"not the fenced request itself, for it waits by its own fence", queue("read", "fenced"), 16, -1},
		{"nothing", queue("read", "write", "read"), 16, -1},
	} {
		got := -1
		for i := len(c.queue) - 1; i > 0; i-- {
			if order.Stalls(c.queue[0], c.queue[i], c.outstanding) {
				got = i
			}
		}
		if got != c.want {
			t.Errorf("%s: request %d stalls first, want %d", c.name, got, c.want)
		}
	}
}

// Only requests that wait for a response make others stall, and the pieces of one Read make nothing wait.
func TestWritesStallNothing(t *testing.T) {
	first := order.Empty().Next(false, false)
	last := first.Next(false, true).Next(false, false)
	if (order.Rules{Card: weakest(), Outstanding: 1}).Ordered(write.piece(first), write.piece(last)) {
		t.Error("a Write waits for another because of a fence between them")
	}
	r := order.Empty().Next(true, true)
	if (order.Rules{Card: weakest(), Outstanding: 1}).Ordered(read.piece(r), read.piece(r)) {
		t.Error("a piece of a Read waits for another piece of it")
	}
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		placement faults.Placement
		whole     bool
		want      bool
	}{{faults.InOrder, false, false}, {faults.InOrder, true, false}, {faults.Blocks128, false, true}, {faults.AnyOrder, false, true}, {faults.AnyOrder, true, false}} {
		card := weakest()
		card.Placement, card.WholePackets = c.placement, c.whole
		if got := order.Gaps(card); got != c.want {
			t.Errorf("%v, whole packets %v: gaps %v, want %v", c.placement, c.whole, got, c.want)
		}
	}
}

// cards draws a card with any of the properties that the rules look at.
var cards = rapid.Custom(func(t *rapid.T) *faults.Profile {
	p := weakest()
	p.Placement = rapid.SampledFrom([]faults.Placement{faults.InOrder, faults.Blocks128, faults.AnyOrder}).Draw(t, "placement")
	p.FenceWaitsAll = rapid.Bool().Draw(t, "fence waits for all")
	p.AtomicFlushes = rapid.Bool().Draw(t, "atomics flush")
	p.AtomicOrdersLater = rapid.Bool().Draw(t, "atomics order what is later")
	return p
})

// posted is a request, with or without a fence.
type posted struct {
	op     operation
	fenced bool
}

var queues = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) posted {
	return posted{rapid.SampledFrom([]operation{send, write, read, atomic, flush, atomicWrite}).Draw(t, "operation"), rapid.Bool().Draw(t, "fenced")}
}), 2, 8)

// pieces returns the pieces of a queue, two for each Write, and their places.
func pieces(q []posted) (out []*order.Piece, at []order.Place) {
	r := order.Empty()
	for i, x := range q {
		r = r.Next(x.op.kind.Answered(), x.fenced)
		out, at = append(out, x.op.piece(r)), append(at, order.Place{Request: i})
		if x.op == write {
			p := x.op.piece(r)
			p.Addr = uint64(i%2) * 128
			out, at = append(out, p), append(at, order.Place{Request: i, Part: 1})
		}
	}
	return out, at
}

// matrix reports for each two pieces of a queue whether the first must be in memory before the second.
func matrix(r order.Rules, q []posted) (out [][]bool) {
	p, at := pieces(q)
	for i := range p {
		out = append(out, make([]bool, len(p)))
		for j := range p {
			out[i][j] = i != j && at[i].Precedes(at[j]) && r.Ordered(p[i], p[j])
		}
	}
	return out
}

// within fails unless b orders everything that a orders.
func within(t *rapid.T, what string, a, b [][]bool) {
	for i := range a {
		for j := range a {
			if a[i][j] && !b[i][j] {
				t.Fatalf("%s: %d before %d is lost", what, i, j)
			}
		}
	}
}

// No piece must land before an earlier one in the queue, so no two pieces wait for each other.
func TestOrderFollowsTheQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := matrix(order.Rules{Card: cards.Draw(t, "card"), Outstanding: rapid.IntRange(1, 4).Draw(t, "outstanding")}, queues.Draw(t, "queue"))
		for i := range m {
			for j := range i + 1 {
				if m[i][j] {
					t.Fatalf("%d must be in memory before %d, which stands before it", i, j)
				}
			}
		}
	})
}

// Fences, knobs and lower limits on outstanding requests only add order, and no
// placement has more order than InOrder.
func TestMoreIsStronger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		card, q := cards.Draw(t, "card"), queues.Draw(t, "queue")
		n := rapid.IntRange(1, 4).Draw(t, "outstanding")
		base := matrix(order.Rules{Card: card, Outstanding: n}, q)
		fenced := append([]posted(nil), q...)
		fenced[rapid.IntRange(0, len(q)-1).Draw(t, "fenced too")].fenced = true
		within(t, "one more fence", base, matrix(order.Rules{Card: card, Outstanding: n}, fenced))
		within(t, "fewer outstanding", base, matrix(order.Rules{Card: card, Outstanding: max(n-1, 1)}, q))
		for name, set := range map[string]func(*faults.Profile){ //lint:ordered each is checked on its own
			"InOrder":           func(p *faults.Profile) { p.Placement = faults.InOrder },
			"FenceWaitsAll":     func(p *faults.Profile) { p.FenceWaitsAll = true },
			"AtomicFlushes":     func(p *faults.Profile) { p.AtomicFlushes = true },
			"AtomicOrdersLater": func(p *faults.Profile) { p.AtomicOrdersLater = true },
		} {
			stronger := *card
			set(&stronger)
			within(t, name, base, matrix(order.Rules{Card: &stronger, Outstanding: n}, q))
		}
	})
}

// Stalls agrees with a count over the queue.
func TestStallsCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, most := queues.Draw(t, "queue"), rapid.IntRange(1, 4).Draw(t, "outstanding")
		var at []order.Request
		r := order.Empty()
		for _, x := range q {
			r = r.Next(x.op.kind.Answered(), x.fenced)
			at = append(at, r)
		}
		for i := range at {
			answers, behind := 0, false
			for j := i + 1; j < len(at); j++ {
				if q[j].op.kind.Answered() {
					answers++
				}
				if got, want := order.Stalls(at[i], at[j], most), behind || answers >= most; got != want {
					t.Fatalf("%d stalls %d: %v, want %v", i, j, got, want)
				}
				behind = behind || q[j].fenced
			}
		}
	})
}

// Reaches agrees with a search over all paths.
func TestReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "elements")
		edge := map[[2]int]bool{}
		for i := range n {
			for j := i + 1; j < n; j++ {
				edge[[2]int{i, j}] = rapid.Bool().Draw(t, "edge")
			}
		}
		before := func(a, b int) bool { return edge[[2]int{a, b}] }
		var ways func(a int) bool
		ways = func(a int) bool {
			for j := a + 1; j < n; j++ {
				if before(a, j) && (j == n-1 || ways(j)) {
					return true
				}
			}
			return false
		}
		var between []int
		for i := 1; i < n-1; i++ {
			between = append(between, i)
		}
		if got, want := order.Reaches(0, n-1, between, before), ways(0); got != want {
			t.Fatalf("reaches %v, want %v", got, want)
		}
	})
}

func TestPlaces(t *testing.T) {
	first, later := order.Place{Request: 1, Part: 2}, order.Place{Request: 2}
	for _, c := range []struct {
		name string
		a, b order.Place
		want bool
	}{
		{"an earlier request", first, later, true},
		{"a later request", later, first, false},
		{"an earlier piece", order.Place{Part: 1}, order.Place{Part: 2}, true},
		{"a later piece", order.Place{Part: 2}, order.Place{Part: 1, Sub: 3}, false},
		{"an earlier part of a piece", order.Place{Sub: 1}, order.Place{Sub: 2}, true},
		{"a later part of a piece", order.Place{Sub: 2}, order.Place{Sub: 1}, false},
		{"two connections", order.Place{Connection: 1, Request: 1}, later, false},
	} {
		if got := c.a.Precedes(c.b); got != c.want {
			t.Errorf("%s: precedes %v, want %v", c.name, got, c.want)
		}
	}
}
