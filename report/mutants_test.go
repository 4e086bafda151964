package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
	"github.com/verbatim-rdma/verbatim/report"
)

// judged are mutants of a file of twenty lines, and of another whose source is gone.
func judged() []mutant.Judged {
	of := func(id, file string, line int, result string) mutant.Judged {
		return mutant.Judged{Mutant: schema.Mutant{ID: id, Operator: "negate", File: file, Line: line, Before: "a < b", After: "!(a < b)"}, Result: result}
	}
	all := []mutant.Judged{of("p.g:negate:1", "p/p.go", 18, mutant.Survives), of("p.f:negate:2", "p/p.go", 5, mutant.Survives), of("p.f:negate:3", "p/p.go", 5, mutant.Survives),
		of("p.f:negate:1", "p/p.go", 4, mutant.ByScenario), of("p.f:negate:4", "p/p.go", 4, mutant.ByTest), of("p.f:negate:5", "p/p.go", 4, mutant.Equivalent),
		of("q.f:negate:1", "p/q.go", 7, mutant.Survives), of("r.f:negate:1", "p/r.go", 1, mutant.ByScenario)}
	all[1].Reached, all[1].Exhausted = []string{"a", "b"}, []string{"a"}
	all[2].After = ""
	all[5].Reason = "a is never b"
	return all
}

// The page has the score, and each survivor below its line.
func TestPageOfMutants(t *testing.T) {
	r := demo()
	r.Mutants = judged()
	r.MutatedFiles = report.Files(r.Mutants, func(name string) ([]byte, error) {
		if name != "p/p.go" {
			return nil, errors.New("gone")
		}
		text := ""
		for i := range 20 {
			text += "line of " + string(rune('a'+i)) + "\n"
		}
		return []byte(text), nil
	})
	text := plain(written(t, r))
	for _, want := range []string{
		"8 mutants: 2 are caught by scenarios, 1 by unit tests alone, 1 are equivalent, and 4 survive. Of those that are not equivalent 42.9 % are caught, 28.6 % by scenarios alone.",
		"negate a condition is negated, or one operand of &amp;&amp;, || or ! in it 8 2 1 1 4",
		"p/p.go: 3 of 6 survive 2 line of b 3 line of c 4 line of d 5 line of e ✗ p.f:negate:2 (2 scenarios reach it, 1 searched to the end): a &lt; b ⟶ !(a &lt; b) " +
			"✗ p.f:negate:3 (no scenario reaches it): a &lt; b ⟶ left out 6 line of f 7 line of g 8 line of h ⋯ 15 line of o",
		"p/q.go: 1 of 1 survive line mutant before after 7 q.f:negate:1 a &lt; b !(a &lt; b)",
		"1 that make no difference", "p.f:negate:5 a &lt; b !(a &lt; b) a is never b",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text, "p/r.go") {
		t.Error("it shows a file of which nothing survives")
	}
	r.Mutants, r.NoMutants = nil, "nobody made any"
	if text := plain(written(t, r)); !strings.Contains(text, "nobody made any") {
		t.Error("it does not say why there are none")
	}
}
