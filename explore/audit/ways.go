package audit

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Two searches that try everything in opposite orders come to a state by different ways. From
// there a step must lead to the same states, whichever way led to it: else two states have one
// fingerprint, and the search continued from the one that it met first. This is Twins again, for
// every state that both searches meet and not only for those of some runs; on the other hand
// nothing but fingerprints is compared. Options of a choice may be listed in another order, so
// what is compared is the set of states to which all of them lead.

// runsOfWays is how many runs each of the two searches makes for a run of the audit: they are much
// shorter, since a search does not go on from a state that it knows.
const runsOfWays = 25

// maxWays bounds how many steps of each search are kept.
const maxWays = 1 << 20

// way is what an actor does from a state.
type way struct {
	from  fingerprint.Print
	actor sim.Actor
	seam  int
}

// leads are the states to which it leads.
type leads struct {
	to    []fingerprint.Print
	share float64
}

// whole reports whether a search has tried all options.
func (l *leads) whole() bool { return l.share > 1-1e-9 }

// ways are those of a search.
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

func (r *Report) full() bool { return len(r.Findings) >= maxFindings }

// bothWays makes the two searches and compares them.
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
				if !slices.Contains(l.to, e.To) && !r.full() {
					path := e.Path()
					r.Findings = append(r.Findings, &Finding{Claim: Twins, Path: path[:len(path)-1], Steps: path[len(path)-1:],
						Why: "it leads to a state to which it does not lead from one with the same fingerprint, where a search in the opposite order came"})
				}
			}
		}
		var err error
		if found[i], err = explore.Check(s, o); err != nil {
			return err
		}
	}
	if len(r.Findings) > 0 {
		return nil
	}
	fewer := 0
	for w, l := range x[1].of { //lint:ordered they are counted
		if before := x[0].of[w]; before != nil && before.whole() && l.whole() && len(before.to) > len(l.to) {
			fewer++
		}
	}
	if a, b := found[0], found[1]; fewer > 0 || a.Exhausted && b.Exhausted && a.States != b.States {
		r.Findings = append(r.Findings, &Finding{Claim: Twins, Why: fmt.Sprintf("searches in opposite orders find %d and %d states, and %d steps of both lead to less in the second", a.States, b.States, fewer)})
	}
	return nil
}
