package programs

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Tally counts the results for programs of one kind.
type Tally struct {
	Kind       string
	First, Of  uint64 // seeds
	By         [Naive + 1]int
	Differ     int
	Unfinished int // modes that met a limit
	Outcomes   int
	Passed     int // programs without the required text, which were not compared
	Elapsed    time.Duration
}

// String returns a line of a table.
func (t Tally) String() string {
	line := fmt.Sprintf("%-12s %8d from seed %-8d %8d naive %7d with states %6d too large %6d modes unfinished %9d outcomes %6d DIFFER %8.1f s",
		t.Kind, t.Of, t.First, t.By[Naive], t.By[Stated], t.By[TooLarge], t.Unfinished, t.Outcomes, t.Differ, t.Elapsed.Seconds())
	if t.Passed > 0 {
		line += fmt.Sprintf(" %8d passed over", t.Passed)
	}
	return line
}

// Result is the comparison of one program.
type Result struct {
	Seed    uint64
	Program *Program
	*Comparison
	err error
}

// Run compares n programs of a kind, from a seed on, several at a time. It compares only programs
// whose text contains with; empty: all. It calls differs for each that differs, in the order of the
// seeds.
func Run(kind string, first, n uint64, with string, l Limits, workers int, differs func(Result)) (Tally, error) {
	start := time.Now()
	t := Tally{Kind: kind, First: first, Of: n}
	results := make([]Result, n)
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				r := &results[i]
				r.Seed, r.Program = first+i, Generate(kind, first+i)
				if strings.Contains(r.Program.String(), with) {
					r.Comparison, r.err = Compare(r.Program, l)
				}
			}
		})
	}
	wg.Wait()
	for _, r := range results {
		if r.err != nil {
			return t, fmt.Errorf("%s %d: %s: %w", kind, r.Seed, r.Program, r.err)
		}
		if r.Comparison == nil {
			t.Passed++
			continue
		}
		t.By[r.Truth]++
		t.Unfinished += len(r.Unfinished)
		t.Outcomes += len(r.Outcomes)
		if len(r.Diffs) > 0 {
			t.Differ++
			differs(r)
		}
	}
	t.Elapsed = time.Since(start)
	return t, nil
}

// Add adds the results for the next programs.
func (t *Tally) Add(o Tally) {
	t.Of += o.Of
	for i := range t.By {
		t.By[i] += o.By[i]
	}
	t.Differ += o.Differ
	t.Unfinished += o.Unfinished
	t.Outcomes += o.Outcomes
	t.Passed += o.Passed
	t.Elapsed += o.Elapsed
}
