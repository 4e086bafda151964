package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// words describe a verdict.
type words struct {
	mark    string // precedes the verdict, so that colour is not the only signal
	line    string // follows the verdict on its line
	meaning string // what the verdict states, and what it does not
}

var verdicts = map[explore.Verdict]words{
	explore.Verified: {"✓", " within the bounds below",
		"Every run within the bounds below was covered, and none breaks the promise. Nothing is said about other bounds, faults or cards."},
	explore.Clean:    {"✓", ": the runs that were sampled violate nothing", "The runs that were sampled break nothing. Others were not tried."},
	explore.Violated: {"✗", "", "There is a run that breaks the promise."},
	explore.RanOut: {"?", ": a limit came first; nothing was found, and nothing is verified",
		"A limit came first. Nothing was found, and nothing is verified."},
	explore.Unknown: {"?", ": the check could not decide", "The check could not decide."},
}

// Interrupted is the line of a search that Ctrl-C stopped.
var Interrupted = Word(explore.RanOut) + ": interrupted; nothing was found, and nothing is verified"

// Word is the word for a verdict.
func Word(v explore.Verdict) string {
	return strings.ToUpper(strings.ReplaceAll(string(v), "-", " "))
}

func mark(v explore.Verdict) string { return verdicts[v].mark }

func meaning(r *explore.Result) string { return verdicts[r.Verdict].meaning }

// Line is a verdict and what it means, in a line.
func Line(v explore.Verdict) string { return Word(v) + verdicts[v].line }

// Met says whether a condition was met, and how certain that is.
func Met(r *explore.Result, c explore.Condition) string {
	switch {
	case c.Met:
		return "reached"
	case r.Exhausted:
		return "never"
	}
	return "not seen"
}

// Ended says whether the search was exhaustive.
func Ended(r *explore.Result) string {
	switch {
	case r.Strategy != explore.Exhaustive:
		return fmt.Sprintf("%s with seed %d; not exhausted", r.Strategy, r.Seed)
	case r.Exhausted:
		return "exhausted"
	case r.Remaining > 0:
		return "not exhausted: " + Estimate(r.Remaining) + " runs remain"
	}
	return "not exhausted"
}

// Eager is the number of states in which every placement is a step that the states of
// the search stand for, or nothing.
func Eager(r *explore.Result) string {
	if r.Strategy != explore.Exhaustive || r.EagerLog10 <= 0 {
		return ""
	}
	return fmt.Sprintf("10^%.1f", r.EagerLog10)
}

// Estimate writes a number with two significant digits.
func Estimate(x float64) string {
	if x < 1e6 {
		return number.Commas(uint64(x))
	}
	return fmt.Sprintf("10^%.1f", math.Log10(x))
}
