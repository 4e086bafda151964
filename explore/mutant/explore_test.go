package mutant

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

// gauge stands in for explore/yardstick.
const gauge = `package main

import (
	"fmt"
	"os"
)

const fault = ""

func main() {
	switch fault {
	case "":
	case "broken":
		os.Exit(2)
	default:
		fmt.Printf("{\"program\": %q, \"class\": %q, \"what\": \"by %s\"}\n", os.Args[2], fault, os.Args[1])
	}
}
`

const rule = `package explore

func holds() bool { return true }

// and no more
`

const ruleTest = `package explore

import "testing"

func TestRule(t *testing.T) {
	if !holds() {
		t.Error("it does not hold")
	}
}
`

func newChecker(t *testing.T, fault string) string {
	root := t.TempDir()
	write(t, root, "go.mod", "module "+source.Module+"\n\ngo 1.26\n")
	write(t, root, "explore/yardstick/main.go", strings.Replace(gauge, `fault = ""`, `fault = "`+fault+`"`, 1))
	write(t, root, "explore/rule.go", rule)
	write(t, root, "explore/rule_test.go", ruleTest)
	write(t, root, "other/other.go", "package other\n\nconst x = 1\n")
	write(t, root, "explore/mutant/tool.go", "package mutant\n\nconst x = 1\n")
	head := func(lines string) string { return "Title: t\nBreaks: b\nRule: r\n" + lines + "\n\n" }
	patch := func(name, lines, file, before, after string) {
		_, body, _ := strings.Cut(diff(change("1", before, after)), "\n\n")
		write(t, root, "testdata/mutants/explore/"+name+".patch", head(lines)+strings.ReplaceAll(body, "p/f.go", file))
	}
	main, on := "explore/yardstick/main.go", "Caught-by: programs\nProgram: strong | a:\nClass: lost"
	was := `const fault = "` + fault + `"`
	patch("a-caught", on, main, was, `const fault = "lost"`)
	patch("b-other", on, main, was, `const fault = "grown"`)
	patch("c-survives", on, main, was, `const fault = ""`)
	patch("d-audit", strings.Replace(on, "programs", "audit", 1), main, was, `const fault = "lost"`)
	patch("e-broken", on, main, was, `const fault = "broken"`)
	patch("f-elsewhere", on, "other/other.go", "const x = 1", "const x = 2")
	patch("f-tool", on, "explore/mutant/tool.go", "const x = 1", "const x = 2")
	on = "Caught-by: tests\nTest: ./explore TestRule"
	patch("g-test", on, "explore/rule.go", "func holds() bool { return true }", "func holds() bool { return false }")
	patch("h-test-passes", on, "explore/rule.go", "// and no more", "// and no less")
	patch("i-test-panics", on, "explore/rule.go", "func holds() bool { return true }", `func holds() bool { panic("no") }`)
	patch("j-no-test", "Caught-by: tests\nTest: ./explore TestNone", "explore/rule.go", "// and no more", "// and no less")
	return root
}

func TestRunExplore(t *testing.T) {
	t.Parallel()
	root := newChecker(t, "")
	var done []string
	results, err := RunExplore(t.Context(), Options{Dir: root, NoControl: true}, func(x CheckerResult) { done = append(done, x.Name) })
	if err != nil {
		t.Fatal(err)
	}
	var got, errs []string
	for _, x := range results {
		got = append(got, x.Name+": "+x.Verdict()+": "+x.What)
		if x.Err != nil {
			errs = append(errs, x.Err.Error())
		}
	}
	if d := cmp.Diff([]string{"a-caught: caught: by programs", "b-other: other reason: ", "c-survives: survived: ", "d-audit: caught: by audit",
		"e-broken: error: ", "f-elsewhere: error: ", "f-tool: error: ", "g-test: caught: TestRule", "h-test-passes: survived: ", "i-test-panics: error: ", "j-no-test: error: "}, got); d != "" {
		t.Error(d)
	}
	for i, want := range []string{"exit status 2", "other/other.go, which is not part of the checker", "explore/mutant/tool.go, which is not part of the checker", "panic: no", "has no test TestNone"} {
		if i >= len(errs) || !strings.Contains(errs[i], want) {
			t.Errorf("error %d: %v, want %s", i, errs, want)
		}
	}
	if !slices.IsSorted(done) || len(done) != len(results) {
		t.Errorf("announced %v", done)
	}
}

// The control holds the same yardsticks on the checker as it is.
func TestExploreControl(t *testing.T) {
	t.Parallel()
	names := []string{"c-survives", "d-audit", "h-test-passes"}
	results, err := RunExplore(t.Context(), Options{Dir: newChecker(t, ""), Names: names}, nil)
	if err != nil || len(results) != 3 {
		t.Fatalf("%v, %v", results, err)
	}
	bad := newChecker(t, "lost")
	if _, err := RunExplore(t.Context(), Options{Dir: bad, Names: names}, nil); !errors.Is(err, ErrControl) || !strings.Contains(err.Error(), "strong | a:: lost") {
		t.Error(err)
	}
	write(t, bad, "explore/rule.go", strings.Replace(rule, "true", "false", 1))
	if _, err := RunExplore(t.Context(), Options{Dir: bad, Names: names[2:]}, nil); !errors.Is(err, ErrControl) || !strings.Contains(err.Error(), "TestRule of ./explore fails") {
		t.Error(err)
	}
}

func TestMeasurable(t *testing.T) {
	for _, x := range []struct {
		m   Mutant
		err string
	}{
		{Mutant{Rule: "r", CaughtBy: ByTests, Test: "./explore TestRule"}, ""},
		{Mutant{Rule: "r", CaughtBy: ByAudit, Program: "p", Class: "c"}, ""},
		{Mutant{CaughtBy: ByTests, Test: "./explore TestRule"}, "no Rule"},
		{Mutant{Rule: "r", CaughtBy: ByTests, Test: "TestRule"}, "not a package"},
		{Mutant{Rule: "r", CaughtBy: "luck"}, "not one of"},
		{Mutant{Rule: "r", CaughtBy: ByPrograms, Program: "p"}, "a Program and a Class"},
		{Mutant{Rule: "r", CaughtBy: ByPrograms, Class: "c"}, "a Program and a Class"},
	} {
		if err := x.m.measurable(); (err == nil) != (x.err == "") || err != nil && (!errors.Is(err, ErrPatch) || !strings.Contains(err.Error(), x.err)) {
			t.Errorf("%+v: %v, want %q", x.m, err, x.err)
		}
	}
}

// The mutants of the checker apply, and there are some for each rule.
func TestExplorePatchesApply(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := List("", Explore)
	if err != nil || len(all) < 25 {
		t.Fatalf("%d mutants, %v", len(all), err)
	}
	rules := rulesOf(all)
	for _, want := range []string{"symmetry", "fingerprint", "crash placement", "late resolution", "sleep sets", "private steps", "footprints", "timers", "states table", "resume"} {
		if !slices.Contains(rules, want) {
			t.Errorf("no mutant breaks %s", want)
		}
	}
	for _, m := range all {
		if _, err := m.apply(root); err != nil {
			t.Error(err)
		}
		if err := m.measurable(); err != nil {
			t.Error(err)
		}
	}
}
