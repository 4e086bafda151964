package audit

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Two exhaustive searches, one in the opposite order of the other, reach a state along different
// paths. A step from that state must lead to the same states in both. If it does not, two different
// states have the same fingerprint, and each search continued only from the one that it reached
// first. This tests the claim Twins at every state that both searches reach, not only at states of
// sampled runs, but it compares only fingerprints. The options of a choice may be listed in different
// orders, so the test compares the sets of states to which all options lead.

// runsOfWays is the number of runs of each search per sampled run. They are shorter, because a search
// stops at a known state.
const runsOfWays = 25

// maxWays bounds the number of steps that are kept of each search.
const maxWays = 1 << 20

// way is the step of an actor from a state, with any choices.
type way struct {
	from  fingerprint.Print
	actor sim.Actor
	seam  int
}

// leads are the states that a way leads to.
type leads struct {
	to    []fingerprint.Print
	share float64 // the sum of Edge.Share
}

// whole reports whether the search has tried all options.
func (l *leads) whole() bool { return l.share > 1-1e-9 }

// ways are the ways of one search.
type ways struct {
	of   map[way]*leads
	kept int
}

func (x *ways) add(w way, e *explore.Edge) {
	l := x.of[w]
	if l == nil {
		if x.kept >= maxWays {
			return
		}
		l = &leads{}
		x.of[w] = l
	}
	l.share += e.Share
	if !slices.Contains(l.to, e.To) {
		l.to = append(l.to, e.To)
		x.kept++
	}
}

// bothWays makes the two searches and compares them, unless it is stopped. If they found all states, a search with
// sleep sets must find as many.
func bothWays(s *explore.Scenario, o explore.Options, runs int, r *Report) error {
	var x [2]ways
	var found [2]*explore.Result
	o.EveryOrder, o.NoSymmetry, o.NoShrink, o.Workers = true, true, true, 1
	o.MaxRuns, o.MaxTime, o.Progress = uint64(runs*runsOfWays), 0, nil
	o.Seek = []string{"none: a violation ends its run only"}
	for i := range x {
		x[i].of = map[way]*leads{}
		o.Backwards = i == 1
		o.Edges = func(e *explore.Edge) {
			w := way{e.From, e.Actor, e.Seam}
			x[i].add(w, e)
			if l := x[0].of[w]; i == 1 && l != nil && l.whole() {
				r.Tried[Twins]++
				if !slices.Contains(l.to, e.To) {
					path := e.Path()
					r.add(&Finding{Claim: Twins, Path: path[:len(path)-1], Steps: path[len(path)-1:],
						Why: "the search in the opposite order reached a state with the same fingerprint, and from there this step leads elsewhere"})
				}
			}
		}
		var err error
		if found[i], err = explore.Check(s, o); err != nil {
			return err
		}
		if o.Stop != nil && o.Stop() {
			r.Stopped = true
			return nil
		}
	}
	fewer := 0
	for w, l := range x[1].of { //lint:ordered a count
		if before := x[0].of[w]; before != nil && before.whole() && l.whole() && len(before.to) > len(l.to) {
			fewer++
		}
	}
	if a, b := found[0], found[1]; fewer > 0 || a.Exhausted && b.Exhausted && a.States != b.States {
		r.add(&Finding{Claim: Twins, Why: fmt.Sprintf("two searches in opposite orders find %d and %d states; %d steps lead to fewer states in the second search", a.States, b.States, fewer)})
	} else if a.Exhausted && b.Exhausted {
		return everyState(s, o, a.States, r)
	}
	return nil
}
