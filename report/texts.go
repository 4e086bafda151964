package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// protocolOf is the protocol of a scenario.
func protocolOf(scenario string) string {
	name, _, _ := strings.Cut(scenario, "/")
	return name
}

// rate is a number a second.
func rate(n uint64, d time.Duration) string {
	if d <= 0 {
		return "unknown"
	}
	return number.Commas(uint64(math.Round(float64(n) / d.Seconds())))
}

// seconds writes a time.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// share is a part of a whole.
func share(part, whole int) string {
	if whole == 0 {
		return "no statements"
	}
	return fmt.Sprintf("%s of %s statements (%.0f%%)", number.Commas(part), number.Commas(whole), math.Floor(100*float64(part)/float64(whole)))
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

// legend is the text below the rows of the matrix.
func legend(cells []Cell) string {
	var all []matrix.Cell
	for i := range cells {
		all = append(all, cells[i].Cell)
	}
	return matrix.Legend(all)
}

// resumed: for some runs of a search, the reached lines are unknown.
func resumed(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.Result.Resumed > 0 })
}

// uncounted names the checks whose reached lines are unknown.
func uncounted(checks []Check) string {
	var names []string
	for i := range checks {
		if len(checks[i].Files) == 0 {
			names = append(names, checks[i].Result.Scenario)
		}
	}
	return strings.Join(names, ", ")
}

// kinds says what choices and steps are called, for people.
var kinds = map[string]string{
	"completion": "which completion comes next", "landing": "which Writes a read finds in memory", "order": "which of several Writes came first",
	"fetch": "whether the card had fetched the source", "message": "which message arrives", "rand": "a random number",
	"cutoff": "how far a queue got when it was cut off", "persist": "what a power failure left", "end": "whether the run ends here", "media": "which bytes are damaged",
	"timer": "which timer a fault strikes", "clock": "which time a clock reading returns",
	"task": "a task continues", "restart": "a machine restarts", "heal": "a link works again",
}

// kind is a name with its meaning.
func kind(name string) string {
	if text, ok := kinds[name]; ok {
		return name + ": " + text
	}
	return name
}
