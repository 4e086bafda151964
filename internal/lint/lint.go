package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/internal/determinism"
)

// Finding is one place that breaks a rule.
type Finding struct {
	File string // relative to the module's root
	Line int
	Text string // what is wrong; what to do instead
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// Rule is one rule over a repository.
type Rule struct {
	Name  string
	Check func(*Repo) []Finding
}

// Rules are all the rules, in the order in which they are worth reading.
var Rules = []Rule{
	{"imports", checkImports},
	{"types", checkTypes},
	{"determinism", determined(determinism.Bypasses)},
	{"maps", determined(determinism.MapRanges)},
	{"variables", determined(determinism.Variables)},
	{"build tags", checkBuildTags},
	{"sleep", checkSleep},
	{"length", checkLength},
	{"comments", checkComments},
	{"text", checkText},
}

// Check applies all the rules.
func Check(r *Repo) []Finding {
	var all []Finding
	for _, rule := range Rules {
		all = append(all, rule.Check(r)...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}
