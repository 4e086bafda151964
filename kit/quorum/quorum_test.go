package quorum_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
)

func Example() {
	need := quorum.Majority(5)
	fmt.Println(need, quorum.Tolerates(5, need))
	fmt.Println(quorum.Committed(need, []uint64{7, 3, 9, 0, 7}))
	fmt.Println(quorum.Decide(need, []quorum.Vote{quorum.Yes, quorum.No, quorum.Yes, quorum.Pending, quorum.No}))
	// Output:
	// 3 2
	// 7
	// open
}

// disjoint looks for a set of a members and one of b that share none.
func disjoint(n, a, b int) bool {
	for x := range uint(1) << n {
		for y := range uint(1) << n {
			if bits.OnesCount(x) == a && bits.OnesCount(y) == b && x&y == 0 {
				return true
			}
		}
	}
	return false
}

// Majorities, and sets of other sizes, share a member exactly if no two such sets are
// disjoint.
func TestSetsThatMeet(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for a := 0; a <= n; a++ {
			for b := 0; b <= n; b++ {
				if quorum.Intersect(n, a, b) == disjoint(n, a, b) {
					t.Errorf("%d and %d of %d meet: %v", a, b, n, quorum.Intersect(n, a, b))
				}
			}
		}
		m := quorum.Majority(n)
		if !quorum.Intersect(n, m, m) || quorum.Intersect(n, m-1, m-1) {
			t.Errorf("%d is not the smallest majority of %d", m, n)
		}
	}
}

// The position that need members have reached is the need-th largest.
func TestCommitted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reached := rapid.SliceOfN(rapid.Uint64Max(5), 0, 9).Draw(t, "reached")
		need := rapid.IntRange(1, 9).Draw(t, "need")
		want := uint64(0)
		if s := slices.Sorted(slices.Values(reached)); len(s) >= need {
			want = s[len(s)-need]
		}
		if got := quorum.Committed(need, reached); got != want {
			t.Fatalf("%d of %v: %d, want %d", need, reached, got, want)
		}
	})
}

// A vote is won or lost as soon as every continuation has that result, and not before.
func TestDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		votes := rapid.SliceOfN(rapid.SampledFrom([]quorum.Vote{quorum.Pending, quorum.Yes, quorum.No}), 0, 7).Draw(t, "votes")
		need := rapid.IntRange(1, 7).Draw(t, "need")
		won, lost := true, true
		var all func(i int, yes int)
		all = func(i, yes int) {
			switch {
			case i == len(votes):
				won, lost = won && yes >= need, lost && yes < need
			case votes[i] == quorum.Pending:
				all(i+1, yes)
				all(i+1, yes+1)
			case votes[i] == quorum.Yes:
				all(i+1, yes+1)
			default:
				all(i+1, yes)
			}
		}
		all(0, 0)
		want := quorum.Open
		if won {
			want = quorum.Won
		} else if lost {
			want = quorum.Lost
		}
		if got := quorum.Decide(need, votes); got != want {
			t.Fatalf("%d of %v: %v, want %v", need, votes, got, want)
		}
	})
}

func TestNobody(t *testing.T) {
	for name, f := range map[string]func(){
		"majority": func() { quorum.Majority(0) }, "committed": func() { quorum.Committed(0, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of nobody", name)
				}
			}()
			f()
		}()
	}
}

func TestAllocatesNothing(t *testing.T) {
	reached, votes := []uint64{1, 2, 3, 4, 5}, make([]quorum.Vote, 5)
	if n := testing.AllocsPerRun(100, func() {
		quorum.Committed(3, reached)
		quorum.Decide(3, votes)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCommitted(b *testing.B) {
	reached := []uint64{7, 3, 9, 0, 7}
	for b.Loop() {
		quorum.Committed(3, reached)
	}
}
