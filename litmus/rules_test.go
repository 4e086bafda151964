package litmus_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/litmus"
)

var update = flag.Bool("update", false, "write the tables of docs/semantics.md anew")

const (
	semanticsPage = "../docs/semantics.md"
	rulesHead     = "<!-- rules: made by go test ./litmus -run Semantics -update -->\n"
	rulesTail     = "<!-- end of rules -->\n"
)

// suiteTests lists the tests of each rule by name.
func suiteTests(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("../testdata/litmus/*.litmus")
	if err != nil || len(paths) == 0 {
		t.Fatal("no litmus tests:", err)
	}
	out := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		x, err := litmus.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range x.Rules {
			out[r] = append(out[r], x.Name)
		}
	}
	return out
}

// brokenRules are the rules that some mutant of the simulator claims to break.
func brokenRules(t *testing.T) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("../testdata/mutants/litmus/*.patch")
	if err != nil || len(paths) == 0 {
		t.Fatal("no mutants:", err)
	}
	out := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(string(text), "\n\n")
		for line := range strings.Lines(header) {
			if rule, ok := strings.CutPrefix(line, "Rule:"); ok {
				out[strings.TrimSpace(rule)] = true
			}
		}
	}
	return out
}

// Every rule has a test and a mutant of the simulator that breaks it, and tests name no
// others.
func TestRulesAreTested(t *testing.T) {
	tests, broken := suiteTests(t), brokenRules(t)
	for _, r := range litmus.Rules {
		if len(tests[r.ID]) == 0 {
			t.Errorf("rule %s has no litmus test: write one whose header says `rule %s`", r.ID, r.ID)
		}
		if !broken[r.ID] {
			t.Errorf("rule %s has no mutant testdata/mutants/litmus/%s.patch whose header says `Rule: %s`", r.ID, r.ID, r.ID)
		}
		delete(tests, r.ID)
		delete(broken, r.ID)
	}
	for id := range broken { //lint:ordered every one is an error
		t.Errorf("a mutant breaks the rule %s, which is not in litmus.Rules", id)
	}
	for id, names := range tests { //lint:ordered every one is an error
		t.Errorf("%v name the rule %s, which is not in litmus.Rules", names, id)
	}
}

// The tables of the page are those generated from the rules and tests.
func TestSemanticsPage(t *testing.T) {
	text, err := os.ReadFile(semanticsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), rulesHead)
	got, after, ok2 := strings.Cut(rest, rulesTail)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the rules between %q and %q", semanticsPage, rulesHead, rulesTail)
	}
	want := ruleTables(suiteTests(t))
	if *update {
		if err := os.WriteFile(semanticsPage, []byte(before+rulesHead+want+rulesTail+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s is out of date; write it anew with go test ./litmus -run Semantics -update (-want +got):\n%s", semanticsPage, d)
	}
}

// ruleTables has a table for each part of the rules.
func ruleTables(tests map[string][]string) string {
	var b strings.Builder
	part := ""
	for _, r := range litmus.Rules {
		if r.Part != part {
			part = r.Part
			fmt.Fprintf(&b, "\n## %s\n\n| rule | text | knob | basis | tests |\n|---|---|---|---|---|\n", part)
		}
		knob := ""
		if r.Knob != "" {
			knob = "`" + r.Knob + "`"
		}
		names := slices.Clone(tests[r.ID])
		slices.Sort(names)
		fmt.Fprintf(&b, "| %s | %s | %s | %s: %s | `%s` |\n", r.ID, r.Text, knob, r.Says, r.Source, strings.Join(names, "`, `"))
	}
	b.WriteString("\n")
	return b.String()
}
