package explore

import (
	"maps"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Space tells how a search covered what can happen.
type Space struct {
	// ByDepth are the states by the number of steps after which each was first
	// reached. A strategy that samples knows no states: it has its runs by length.
	ByDepth []uint64
	// Choices are those inside steps, by their kind; kinds without any are left out.
	Choices []Tally
	// Steps are those from one state to another, or of all sampled runs, by what
	// happens in them: a task goes on, a machine restarts, a link heals, a fault.
	Steps []Tally
}

// Tally is a number of something.
type Tally struct {
	Name  string
	Count uint64
}

// choiceTally counts choices by kind.
type choiceTally [16]uint64

func (t *choiceTally) add(o *choiceTally) {
	for k := range o {
		t[k] += o[k]
	}
}

func (t *choiceTally) total() (n uint64) {
	for _, c := range t {
		n += c
	}
	return n
}

func (t *choiceTally) tallies() []Tally {
	var out []Tally
	for k, n := range t {
		if n > 0 {
			out = append(out, Tally{sim.ChoiceKind(k).String(), n})
		}
	}
	return out
}

// stepTally counts steps by what happens in them.
type stepTally map[string]uint64

func (t stepTally) tallies() []Tally {
	var out []Tally
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, Tally{name, t[name]})
	}
	return out
}

// countAt counts one more at an index.
func countAt(counts []uint64, i int) []uint64 {
	for len(counts) <= i {
		counts = append(counts, 0)
	}
	counts[i]++
	return counts
}
