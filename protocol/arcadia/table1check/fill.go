package table1check

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Cell is a cell of the table with the result of its search. The names of its fields in JSON are stable.
type Cell struct {
	Design  string `json:"design"`
	Failure string `json:"failure"`
	Mark    Mark   `json:"mark"`
	// Published is the mark in the paper, and Expected the mark in [Rows].
	Published Mark `json:"published"`
	Expected  Mark `json:"expected"`
	// The scenario of the search, and its size. The search was exhausted if the mark is survives.
	Scenario string  `json:"scenario"`
	Profile  string  `json:"profile"`
	Faults   string  `json:"faults"`
	Timers   string  `json:"timers"`
	Bounds   string  `json:"bounds"`
	Runs     uint64  `json:"runs"`
	States   uint64  `json:"states"`
	Seconds  float64 `json:"seconds"`
	// Class is the class of the violation if the mark is broken. Reason describes the violation, or explains why the
	// mark is unknown.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	// Counterexample is the file of the run that breaks the design, if files are written.
	Counterexample string `json:"counterexample"`
}

// Unexpected reports whether the search has decided the cell against the expectation of [Rows].
func (c *Cell) Unexpected() bool { return c.Mark != Unknown && c.Mark != c.Expected }

// Contradicts reports whether the search has decided the cell against the paper.
func (c *Cell) Contradicts() bool {
	return c.Mark != Unknown && c.Published != Unknown && c.Mark != c.Published
}

// never returns a condition that a search has not met: without it a design could survive because no log is ever recovered.
func never(r *explore.Result) string {
	for _, c := range r.Sometimes {
		if !c.Met {
			return c.Name
		}
	}
	return ""
}

// Fill decides the rows, one after the other, each by a search with these options. Counterexamples are written
// into the directory out if it is not empty. An error concerns an option, a scenario or a file; the result of a
// search is in its cell.
func Fill(rows []Row, opt explore.Options, out string) ([]Cell, error) {
	var cells []Cell
	for _, r := range rows {
		x, err := explore.Check(r.Scenario, opt)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", r.Design, r.Failure, err)
		}
		c := Cell{Design: r.Design, Failure: r.Failure, Published: r.Published, Expected: r.Expected, Mark: Unknown, Scenario: x.Scenario,
			Profile: x.Profile, Faults: x.Faults, Timers: x.Timers.String(), Bounds: x.Bounds, Runs: x.Runs, States: x.States, Seconds: x.Elapsed.Seconds()}
		switch {
		case x.Verdict == explore.Verified && never(x) != "":
			c.Reason = "the search was exhausted, but never met the condition: " + never(x)
		case x.Verdict == explore.Verified:
			c.Mark = Survives
		case x.Counterexample != nil:
			c.Mark, c.Class, c.Reason = Broken, x.Counterexample.Class, x.Counterexample.Message
			if out == "" {
				break
			}
			if c.Counterexample, err = x.Counterexample.SaveIn(out); err != nil {
				return nil, err
			}
		case x.Reason != nil:
			c.Reason = x.Reason.Error()
		default: // a limit, or a search that samples
			c.Reason = "the search was not exhausted, and found no violation"
		}
		cells = append(cells, c)
	}
	return cells, nil
}
