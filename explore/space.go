package explore

import (
	"maps"
	"math"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Space describes how a search covered the possible runs.
type Space struct {
	// ByDepth counts the states by the number of steps at which each was first reached.
	// A sampling strategy knows no states: it counts its runs by length.
	ByDepth []uint64
	// Choices are those inside steps, by kind; kinds without any are left out.
	Choices []Tally
	// Steps are those between states, or of all sampled runs, by kind: a task runs, a
	// machine restarts, a link heals, a fault.
	Steps []Tally
}

// Tally is a named number.
type Tally struct {
	Name  string
	Count uint64
}

// tally holds the counts of the workers.
type tally struct {
	Edges   uint64
	Choices [16]uint64 // by kind
	Steps   map[string]uint64
	Depths  []uint64
	Eager   float64 // eager states that the states represent
}

func (t *tally) add(o *tally) {
	t.Edges += o.Edges
	for k, n := range o.Choices {
		t.Choices[k] += n
	}
	for name, n := range o.Steps { //lint:ordered sums do not depend on the order
		t.Steps[name] += n
	}
	for d, n := range o.Depths {
		t.reach(d, n)
	}
	t.eager(o.Eager)
}

// eager counts n more eager states. The largest number stands for all beyond it.
func (t *tally) eager(n float64) { t.Eager = min(t.Eager+n, math.MaxFloat64) }

// reach counts n more at a depth.
func (t *tally) reach(depth int, n uint64) {
	for len(t.Depths) <= depth {
		t.Depths = append(t.Depths, 0)
	}
	t.Depths[depth] += n
}

// tallied adds the counts to the result.
func (r *Result) tallied(t *tally) {
	r.Edges, r.MaxDepth, r.Space.ByDepth = t.Edges, max(0, len(t.Depths)-1), t.Depths
	for k, n := range t.Choices {
		if r.Choices += n; n > 0 {
			r.Space.Choices = append(r.Space.Choices, Tally{sim.ChoiceKind(k).String(), n})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Steps)) {
		r.Space.Steps = append(r.Space.Steps, Tally{name, t.Steps[name]})
	}
}
