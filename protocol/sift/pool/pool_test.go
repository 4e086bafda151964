package pool_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/protocol/sift/pool"
)

// Three groups share one backup.
func Example() {
	p, err := pool.New(3, 1)
	if err != nil {
		panic(err)
	}
	for _, lost := range []int{1, 0} {
		s, err := p.Lose(lost)
		fmt.Printf("%+v %v; %v wait, %d to be ordered\n", s, err, p.Waiting(), p.Missing())
	}
	for range 2 {
		n, s := p.Add()
		fmt.Printf("node %d: %+v; backups %v\n", n, s, p.Free())
	}
	// Output:
	// {Group:1 Node:3 Given:true} <nil>; [] wait, 1 to be ordered
	// {Group:0 Node:0 Given:false} <nil>; [0] wait, 2 to be ordered
	// node 4: {Group:0 Node:4 Given:true}; backups []
	// node 5: {Group:0 Node:0 Given:false}; backups [5]
}

// slow is what the pool must be, by a log of all that has happened: who is there is
// computed anew each time.
type slow struct {
	groups, backups int
	log             []event
}

type event struct{ lost, added int } // the other one is -1

// replay returns the group of each node that is there (-1: backup), and the groups that wait.
// It gives in rounds until nothing more can be given.
func (m *slow) replay() (serves map[int]int, waiting []int) {
	serves = map[int]int{}
	var order []int
	give := func() {
		for _, n := range order {
			if g, ok := serves[n]; ok && g == -1 && len(waiting) > 0 {
				serves[n], waiting = waiting[0], waiting[1:]
			}
		}
	}
	for n := range m.groups {
		serves[n] = n
	}
	for n := range m.backups {
		serves[m.groups+n] = -1
		order = append(order, m.groups+n)
	}
	for _, e := range m.log {
		if e.lost >= 0 {
			if g := serves[e.lost]; g >= 0 {
				waiting = append(waiting, g)
			}
			delete(serves, e.lost)
		} else {
			serves[e.added] = -1
			order = append(order, e.added)
		}
		give()
	}
	return serves, waiting
}

// In any order of failures and arrivals: a node serves one group at a time, a group has one
// node or waits, nothing is handed out twice, no group waits beside a backup, and all is as
// the slow model says.
func TestPoolAgainstASlowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := slow{groups: rapid.IntRange(1, 5).Draw(t, "groups"), backups: rapid.IntRange(0, 3).Draw(t, "backups")}
		p, err := pool.New(m.groups, m.backups)
		if err != nil {
			t.Fatal(err)
		}
		given := map[int]bool{} // nodes that were handed out, ever
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			serves, _ := m.replay()
			var step pool.Step
			if there := slices.Sorted(keys(serves)); len(there) > 0 && rapid.Bool().Draw(t, "lose") {
				lost := rapid.SampledFrom(there).Draw(t, "lost")
				if step, err = p.Lose(lost); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Lose(lost); !errors.Is(err, pool.ErrUnknown) {
					t.Fatalf("node %d fails twice: %v", lost, err)
				}
				m.log = append(m.log, event{lost, -1})
			} else {
				var n int
				if n, step = p.Add(); slices.Contains(there, n) {
					t.Fatalf("a new node has the number %d of another", n)
				}
				m.log = append(m.log, event{-1, n})
			}
			if step.Given {
				if given[step.Node] {
					t.Fatalf("node %d is handed out twice", step.Node)
				}
				given[step.Node] = true
			}
			agree(t, p, &m)
		}
	})
}

func keys(m map[int]int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k := range m { //lint:ordered the caller sorts
			if !yield(k) {
				return
			}
		}
	}
}

func agree(t *rapid.T, p *pool.Pool, m *slow) {
	serves, waiting := m.replay()
	var free []int
	leads := map[int]int{}
	for _, n := range slices.Sorted(keys(serves)) {
		g, ok := p.Serves(n)
		if want := serves[n]; ok != (want >= 0) || ok && g != want {
			t.Fatalf("node %d serves %d, %v; want %d", n, g, ok, want)
		}
		if !ok {
			free = append(free, n)
			continue
		}
		if other, twice := leads[g]; twice {
			t.Fatalf("nodes %d and %d both serve group %d", n, other, g)
		}
		leads[g] = n
		if led, ok := p.Leads(g); !ok || led != n {
			t.Fatalf("group %d is led by %d, %v; want %d", g, led, ok, n)
		}
	}
	for g := range m.groups {
		if _, ok := p.Leads(g); ok == slices.Contains(waiting, g) {
			t.Fatalf("group %d is led: %v; %v wait", g, ok, waiting)
		}
	}
	if !slices.Equal(p.Free(), free) || !slices.Equal(p.Waiting(), waiting) {
		t.Fatalf("backups %v, waiting %v; want %v, %v", p.Free(), p.Waiting(), free, waiting)
	}
	if len(free) > 0 && len(waiting) > 0 {
		t.Fatalf("groups %v wait beside backups %v", waiting, free)
	}
	if got, want := p.Missing(), m.groups+m.backups-len(serves); got != want {
		t.Fatalf("%d are missing, want %d", got, want)
	}
}

// With as many backups as coordinators fail before a node arrives, no group waits (5.2).
func TestEnoughBackupsMeanNoWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.IntRange(1, 8).Draw(t, "groups")
		failures := rapid.IntRange(1, groups).Draw(t, "failures")
		p, err := pool.New(groups, failures)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range rapid.Permutation(numbers(groups)).Draw(t, "lost")[:failures] {
			if s, err := p.Lose(g); err != nil || !s.Given || s.Group != g {
				t.Fatalf("failure %d, of group %d: %+v, %v", i, g, s, err)
			}
		}
	})
}

func numbers(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestMistakesAreErrors(t *testing.T) {
	for _, x := range [][2]int{{0, 1}, {-1, 1}, {1, -1}, {math.MaxInt, 0}, {1, pool.MaxNodes + 1}} {
		if _, err := pool.New(x[0], x[1]); !errors.Is(err, pool.ErrSize) {
			t.Errorf("%v: %v", x, err)
		}
	}
	p, err := pool.New(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 3, math.MaxInt} {
		if _, err := p.Lose(n); !errors.Is(err, pool.ErrUnknown) {
			t.Errorf("%d: %v", n, err)
		}
		if _, ok := p.Serves(n); ok {
			t.Errorf("node %d serves", n)
		}
		if _, ok := p.Leads(n); ok {
			t.Errorf("group %d is led", n)
		}
	}
}
