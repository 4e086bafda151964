package mutant

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Results for a mutant.

// Search is the result of the check of one scenario.
type Search struct {
	Scenario string          `json:"scenario"`
	Timers   string          `json:"timers"`
	Strategy string          `json:"strategy"`
	Verdict  explore.Verdict `json:"verdict"`
	Runs     uint64          `json:"runs"`
	Seconds  float64         `json:"seconds"`
	Reason   string          `json:"reason"` // of a violation, or of an unknown verdict

	counterexample string
	exhausted      bool
}

// Result is the result for a mutant.
type Result struct {
	Name    string
	Title   string
	Breaks  string
	Paper   string
	Finding string
	// Caught: a scenario is violated for the mutant's own reason, and the counterexample
	// replays.
	Caught bool
	// Wanted are the classes of violations that are its own reason, as its header says it;
	// empty: any.
	Wanted string

	// The search that found a violation.
	Scenario  string
	Strategy  string
	Class     string // of the violation
	Runs      uint64 // that the search took
	Found     int    // decisions at first
	Decisions int    // decisions after shrinking
	// Events is the number of events that a person has to follow in the
	// counterexample: the rows of the timeline that `verbatim replay` prints. It
	// omits allocations, registrations and connections. The posts of one write to
	// several peers are one row, and so is a series of routine events.
	Events int
	File   string // the counterexample, if Options.Out is set
	Page   string // and the page that shows it

	maxEvents int // 0: MaxEvents

	Searches []Search // all of them; of a scenario the last one counts
	Seconds  float64  // for all of it, building too
	Err      error    // the mutant could not be applied, built or checked
}

// wanted returns the classes of violations that are the mutant's own reason; none: all are.
func (x *Result) wanted() []string {
	if x.Wanted == "" {
		return nil
	}
	classes := strings.Split(x.Wanted, ",")
	for i := range classes {
		classes[i] = strings.TrimSpace(classes[i])
	}
	return classes
}

// MaxEvents is how many events a person can be asked to follow. A counterexample
// with more is too long: either it was not shrunk well, or its timeline shows too
// many routine events. Two workers do not always find the same counterexample, so the
// limit is a little above the longest one so far (36, one for each acknowledged write).
const MaxEvents = 40

// TooLong: the counterexample has more events than Options.MaxEvents.
func (x *Result) TooLong() bool { return x.Events > cmp.Or(x.maxEvents, MaxEvents) }

// timelineWidth is so wide that no row wraps.
const timelineWidth = "20000"

// timelineRows counts the rows of a timeline: the lines between the rule below
// the names of the hosts and the first that is empty.
func timelineRows(out []byte) (int, error) {
	in, n := false, 0
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		line := scan.Text()
		switch {
		case strings.HasPrefix(line, "───"):
			in = true
		case in && line == "":
			return n, nil
		case in && !strings.HasPrefix(line, "left out: ") && !strings.HasPrefix(line, "folded: "):
			n++
		}
	}
	return 0, fmt.Errorf("%w: verbatim replay printed no timeline", ErrTool)
}

// Verdict returns the result in a word or two: caught, caught but for another reason, survived,
// or an error.
func (x *Result) Verdict() string {
	v := verdictOf(x.Err, x.Caught)
	if v == survived && x.Class != "" {
		return otherReason
	}
	if open := x.Undecided(); v == survived && len(open) > 0 {
		v += " (" + strings.Join(open, ", ") + " not exhausted)"
	}
	return v
}

// verdictOf returns the result for a mutant in a word.
func verdictOf(err error, caught bool) string {
	switch {
	case err != nil:
		return "error"
	case caught:
		return "caught"
	}
	return survived
}

// Undecided returns the scenarios that neither caught a mutant nor were exhausted.
func (x *Result) Undecided() []string {
	last := map[string]explore.Verdict{}
	var names []string
	for _, s := range x.Searches {
		if _, seen := last[s.Scenario]; !seen {
			names = append(names, s.Scenario)
		}
		last[s.Scenario] = s.Verdict
	}
	return slices.DeleteFunc(names, func(n string) bool { return last[n] == explore.Verified || last[n] == explore.Violated })
}
