package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/coverage"
	"github.com/verbatim-rdma/verbatim/explore"
)

// protocolOf is the protocol of a scenario.
func protocolOf(scenario string) string {
	name, _, _ := strings.Cut(scenario, "/")
	return name
}

// verdict is the word for a verdict.
func verdict(v explore.Verdict) string {
	return strings.ToUpper(strings.ReplaceAll(string(v), "-", " "))
}

// mark goes before a verdict, so that its colour does not tell it alone.
func mark(v explore.Verdict) string {
	switch v {
	case explore.Verified, explore.Clean:
		return "✓"
	case explore.Violated:
		return "✗"
	}
	return "?"
}

// meaning is what a verdict says, and what it does not.
func meaning(r *explore.Result) string {
	switch r.Verdict {
	case explore.Verified:
		return "Every run within the bounds below was covered, and none breaks the promise. Nothing is said about other bounds, faults or cards."
	case explore.Clean:
		return "The runs that were sampled break nothing. Others were not tried."
	case explore.Violated:
		return "There is a run that breaks the promise."
	case explore.RanOut:
		return "A limit came first. Nothing was found, and nothing is verified."
	}
	return "The check could not decide."
}

// count writes n with a comma after every third digit.
func count[T int | uint64](n T) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rate is a number a second.
func rate(n uint64, d time.Duration) string {
	if d <= 0 {
		return "unknown"
	}
	return count(uint64(math.Round(float64(n) / d.Seconds())))
}

// seconds writes a time.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// share is a part of a whole.
func share(part, whole int) string {
	if whole == 0 {
		return "no statements"
	}
	return fmt.Sprintf("%s of %s statements (%.0f%%)", count(part), count(whole), math.Floor(100*float64(part)/float64(whole)))
}

// total is the share of some files together.
func total(files []coverage.File) string {
	part, whole := 0, 0
	for i := range files {
		part, whole = part+files[i].Reached, whole+files[i].Statements
	}
	return share(part, whole)
}

// ranges are lines in words: 3, 7–9.
func ranges(list []coverage.Range) string {
	var parts []string
	for _, r := range list {
		if r.First == r.Last {
			parts = append(parts, strconv.Itoa(r.First))
		} else {
			parts = append(parts, fmt.Sprintf("%d–%d", r.First, r.Last))
		}
	}
	return strings.Join(parts, ", ")
}

// resumed: some search has runs of which it is not known which lines they reached.
func resumed(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.Result.Resumed > 0 })
}

// uncounted names the checks of which it is not known what they reached.
func uncounted(checks []Check) string {
	var names []string
	for i := range checks {
		if len(checks[i].Files) == 0 {
			names = append(names, checks[i].Result.Scenario)
		}
	}
	return strings.Join(names, ", ")
}

// met says whether a condition was met, and how sure that is.
func met(r *explore.Result, c explore.Condition) string {
	switch {
	case c.Met:
		return "reached"
	case r.Exhausted:
		return "never"
	}
	return "not seen"
}

// eager says what the states stand for.
func eager(r *explore.Result) string {
	if r.Strategy != explore.Exhaustive || r.EagerLog10 <= 0 {
		return ""
	}
	return fmt.Sprintf("10^%.1f", r.EagerLog10)
}

// searched says how the space was searched and whether to its end.
func searched(r *explore.Result) string {
	switch {
	case r.Strategy != explore.Exhaustive:
		return fmt.Sprintf("%s, with seed %d; not exhausted", r.Strategy, r.Seed)
	case r.Exhausted:
		return "exhaustive; exhausted"
	case r.Remaining > 0:
		return fmt.Sprintf("exhaustive; not exhausted: about %.2g runs remain", r.Remaining)
	}
	return "exhaustive; not exhausted"
}

// kinds says what choices and steps are called, for people.
var kinds = map[string]string{
	"completion": "which completion comes next", "landing": "which Writes a look finds in memory", "order": "which of several Writes came first",
	"fetch": "whether the card had fetched the source", "message": "which message arrives", "rand": "a random number",
	"cutoff": "how far a queue got when it was cut off", "persist": "what a power failure left", "end": "whether the run ends here", "media": "which bytes are damaged",
	"task": "a task goes on", "restart": "a machine starts again", "heal": "a link works again",
}

// kind is a name with its meaning.
func kind(name string) string {
	if text, ok := kinds[name]; ok {
		return name + ": " + text
	}
	return name
}
