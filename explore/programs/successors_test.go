package programs

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
)

func TestStepsThatLeadElsewhereAreCounted(t *testing.T) {
	print := func(n int) fingerprint.Print { return fingerprint.Print{}.Int(n) }
	of := func(edges ...[3]int) successors { // from, to and a seam
		x := successors{}
		for _, e := range edges {
			x.add(&explore.Edge{From: print(e[0]), To: print(e[1]), Seam: e[2]})
		}
		return x
	}
	usual := of([3]int{1, 2, 0}, [3]int{1, 3, 0}, [3]int{2, 4, 0})
	for name, x := range map[string]struct { //lint:ordered each is compared
		other successors
		want  int
	}{
		"the same in another order":          {of([3]int{2, 4, 0}, [3]int{1, 3, 0}, [3]int{1, 2, 0}), 0},
		"one way of a step leads elsewhere":  {of([3]int{1, 2, 0}, [3]int{1, 5, 0}, [3]int{2, 4, 0}), 1},
		"one way of a step is missing":       {of([3]int{1, 2, 0}, [3]int{2, 4, 0}), 1},
		"a step is missing":                  {of([3]int{1, 2, 0}, [3]int{1, 3, 0}), 1},
		"a step from a state of its own":     {of([3]int{1, 2, 0}, [3]int{1, 3, 0}, [3]int{2, 4, 0}, [3]int{4, 5, 0}), 1},
		"the same step to a seam is another": {of([3]int{1, 2, 0}, [3]int{1, 3, 0}, [3]int{2, 4, 1}), 2},
	} {
		if got := usual.differ(x.other); got != x.want {
			t.Errorf("%s: %d, want %d", name, got, x.want)
		}
	}
}
