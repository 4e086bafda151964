package litmus

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// A run in which one completion came late and another was lost is not excused by the first.
func TestLateIsEachThatWasAwaited(t *testing.T) {
	x, c := &life{cqs: []verbs.CQ{nil}}, &cqProg{}
	one, two := &labelProg{idx: 1}, &labelProg{idx: 2}
	l := &Live{r: &runner{started: []*life{x, x, x}, vain: []vain{{c, one, false}, {c, two, false}, {}}}}
	for i, id := range []uint64{1, 1, 2} {
		if l.Late() {
			t.Errorf("late after %d of 3 completions", i)
		}
		l.note(x, nil, id)
	}
	if !l.Late() {
		t.Error("not late after both")
	}
	if l.r.vain = make([]vain, 3); l.Late() {
		t.Error("late although no thread waited in vain")
	}
}
