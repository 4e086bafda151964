package mutant

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

// demo stands in for the command verbatim: a check prints what the functions
// below say of the strategy.
const demo = `package main

import (
	"fmt"
	"os"
	"strings"
)

func one(strategy string) string { return "verified" }

func two(strategy string) string { return "verified" }

const counterexample = ` + "`" + `{"version": 1, "scenario": "demo/two", "class": "c", "decisions": [{}, {}], "found": 9}` + "`" + `

const again = 1

func main() {
	switch os.Args[1] {
	case "list":
		fmt.Print("{\"name\": \"demo/one\"}\n{\"name\": \"demo/two\"}\n")
	case "check":
		check(os.Args[2], os.Args[9], os.Args[16:])
	case "crash":
		fmt.Printf("sqlite: 9 transactions have 99 crash points; 7 were tried\n")
		switch two("exhaustive") {
		case "violated":
			fmt.Printf("VIOLATED: two are missing\n")
			os.Exit(1)
		case "ran-out":
			fmt.Printf("VIOLATED: and yet it ends well\n")
		}
	case "replay":
		if os.Args[3] == "--html" {
			os.WriteFile(os.Args[4], []byte("a page of "+os.Args[8]), 0o644)
		}
		fmt.Print("\n───┬──\n1\n2\n3\n\n")
		os.Exit(again)
	}
}

// check finds the class d if it is sought, and a search is exhaustive.
func check(scenario, strategy string, seek []string) {
	verdict := one(strategy)
	if scenario == "demo/two" {
		verdict = two(strategy)
	}
	file, status := "null", map[string]int{"verified": 0, "clean": 0, "violated": 1, "ran-out": 3}[verdict]
	if status == 1 {
		file = "\"two.json\""
		found := counterexample
		if len(seek) == 2 && seek[0] == "--seek" && seek[1] == "d" && strategy == "exhaustive" {
			found = strings.Replace(found, "\"c\"", "\"d\"", 1)
		}
		os.WriteFile("two.json", []byte(found), 0o644)
	}
	fmt.Printf("{\"scenario\": %q, \"strategy\": %q, \"verdict\": %q, \"exhausted\": %v, \"runs\": 5, \"counterexample\": %s}\n", scenario, strategy, verdict,
		verdict == "verified" || len(seek) > 0 && strategy == "exhaustive", file)
	os.Exit(status)
}
`

// bug is a patch to demo.
func bug(before, after string) string {
	return strings.ReplaceAll(diff(change("1", before, after)), "p/f.go", "cmd/verbatim/main.go")
}

// ofClass is a patch that must be caught by a violation of a class.
func ofClass(class, patch string) string {
	return strings.Replace(patch, "\n\n", "\nClass: "+class+"\n\n", 1)
}

const (
	one = `func one(strategy string) string { return "verified" }`
	two = `func two(strategy string) string { return "verified" }`
)

func newDemo(t *testing.T, main string) string { return newDemoIn(t, checking, main) }

// newDemoIn is a module with that command, which the patches change.
func newDemoIn(t *testing.T, command, main string) string {
	root := t.TempDir()
	write(t, root, "go.mod", "module "+source.Module+"\n\ngo 1.26\n")
	write(t, root, command+"/main.go", main)
	for name, patch := range map[string]string{
		"a-caught":    bug(two, strings.Replace(two, "verified", "violated", 1)),
		"b-exhausted": bug(two, `func two(s string) string { return map[string]string{"random": "clean", "exhaustive": "violated"}[s] }`),
		"b-sampled":   bug(two, `func two(s string) string { return map[string]string{"random": "violated", "exhaustive": "ran-out"}[s] }`),
		"c-survives":  bug(two, strings.ReplaceAll(two, "strategy", "s")),
		"d-ran-out":   bug(two, `func two(s string) string { return map[string]string{"random": "clean", "exhaustive": "ran-out"}[s] }`),
		"e-panics":    bug(two, `func two(s string) string { panic(s) }`),
		"f-broken":    bug(two, `func two(s string) int { return 1 }`),
		"f-passes":    bug(two, strings.Replace(two, "verified", "violated", 1)) + change("20", "const again = 1", "const again = 0"),
		"g-stale":     bug("func three() {", "func three() {}"),
		"h-past":      ofClass("d", bug(two, strings.Replace(two, "verified", "violated", 1))),
		"i-other":     ofClass("e", bug(two, strings.Replace(two, "verified", "violated", 1))),
		"j-named": strings.Replace(bug(two, `func two(s string) string { return map[string]string{"random": "clean", "exhaustive": "ran-out"}[s] }`),
			"\n\n", "\nScenario: demo/two\n\n", 1),
	} {
		write(t, root, "testdata/mutants/demo/"+name+".patch", strings.ReplaceAll(patch, "cmd/verbatim/", strings.TrimPrefix(command, "./")+"/"))
	}
	return root
}

func TestRun(t *testing.T) {
	t.Parallel()
	root := newDemo(t, demo)
	done := 0
	results, err := Run(t.Context(), Options{Protocol: "demo", Dir: root, Out: t.TempDir(), Done: func(Result) { done++ }})
	if err != nil {
		t.Fatal(err)
	}
	if done != len(results) {
		t.Errorf("%d of %d results announced", done, len(results))
	}
	var got []string
	for _, x := range results {
		var how []string
		for _, s := range x.Searches {
			how = append(how, s.Scenario[5:]+" "+string(s.Verdict))
		}
		got = append(got, x.Name+": "+x.Verdict()+": "+strings.Join(how, ", "))
	}
	if d := cmp.Diff([]string{
		"a-caught: caught: one verified, two violated",
		"b-exhausted: caught: one verified, two clean, two violated",
		"b-sampled: caught: one verified, two violated",
		"c-survives: survived: one verified, two verified",
		"d-ran-out: survived (demo/two not exhausted): one verified, two clean, two ran-out, two clean, two ran-out",
		"e-panics: error: one verified",
		"f-broken: error: ",
		"f-passes: error: one verified, two violated",
		"g-stale: error: ",
		"h-past: caught: one verified, two violated, two violated",
		"i-other: other reason: one verified, two violated, two violated",
		"j-named: survived (demo/two not exhausted): two clean, two ran-out, two clean, two ran-out, one verified",
	}, got); d != "" {
		t.Error(d)
	}
	if x := results[0]; x.Scenario != "demo/two" || x.Class != "c" || x.Runs != 5 || x.Found != 9 || x.Decisions != 2 || x.Events != 3 || x.File == "" {
		t.Errorf("%+v", x)
	}
	if page, err := os.ReadFile(results[0].Page); err != nil || !strings.Contains(string(page), results[0].Title) {
		t.Errorf("the page %q of a mutant: %q %v", results[0].Page, page, err)
	}
	for i, want := range map[int]string{5: "panic: random", 6: "cannot use two", 7: "does not fail when it is replayed", 8: "g-stale does not apply to cmd/verbatim/main.go: hunk 1"} {
		if err := results[i].Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", results[i].Name, err, want)
		}
	}
}

// What the crash test says of a mutant is in its result, and nothing else is taken for a
// loss.
func TestRunSQLite(t *testing.T) {
	t.Parallel()
	var got []string
	opt := Options{Protocol: "demo", Dir: newDemoIn(t, crashing, demo), Names: []string{"a-caught", "c-survives", "d-ran-out", "e-panics", "g-stale"}}
	if err := RunSQLite(t.Context(), opt, func(x Crash) {
		got = append(got, x.Name+": "+x.Verdict()+": "+x.Tried+" "+x.Said)
		if x.Err == nil != (x.Verdict() != "error") {
			t.Errorf("%+v", x)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a-caught: caught: 7 two are missing", "c-survives: survived: 7 ", "d-ran-out: error: 7 and yet it ends well",
		"e-panics: error:  ", "g-stale: error:  "}, got); d != "" {
		t.Error(d)
	}
	opt.Names = []string{"none"}
	if err := RunSQLite(t.Context(), opt, nil); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// Nothing is said about mutants if the code is violated without them.
func TestControl(t *testing.T) {
	t.Parallel()
	root := newDemo(t, strings.Replace(demo, one, strings.Replace(one, "verified", "violated", 1), 1))
	results, err := Run(t.Context(), Options{Protocol: "demo", Dir: root})
	if !errors.Is(err, ErrControl) || !strings.Contains(err.Error(), "demo/one: violated") || len(results) > 0 {
		t.Errorf("%v, %v", results, err)
	}
}

// What was verified without a mutant is not checked again, unless the code has changed.
func TestControlIsKept(t *testing.T) {
	t.Parallel()
	root := newDemo(t, demo)
	var said []string
	opt := Options{Protocol: "demo", Dir: root, Names: []string{"g-stale"}, Kept: filepath.Join(t.TempDir(), "new"), Note: func(text string) { said = append(said, text) }}
	run := func() error {
		_, err := Run(t.Context(), opt)
		return err
	}
	for range 2 {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	opt.Timers = "free"
	if err := run(); err != nil {
		t.Fatal(err)
	}
	write(t, root, "cmd/verbatim/main.go", strings.Replace(demo, one, strings.Replace(one, "verified", "violated", 1), 1))
	for range 2 {
		if err := run(); !errors.Is(err, ErrControl) {
			t.Error(err)
		}
	}
	for i, want := range []string{"is verified in 2 scenarios", "was verified before, as " + opt.Kept, "is verified in 2 scenarios"} {
		if len(said) != 3 || !strings.Contains(said[i], want) {
			t.Errorf("%d: %q, want %q", i, said, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	root := newDemo(t, demo)
	results, err := Run(ctx, Options{Protocol: "demo", Dir: root, NoControl: true, Done: func(Result) { cancel() }})
	if !errors.Is(err, context.Canceled) || len(results) != 1 {
		t.Errorf("%v, %v", results, err)
	}
}

// What was built for a mutant alone goes when it is done: a run of all takes no more room
// than one.
func TestMutatedLeavesNothing(t *testing.T) {
	t.Parallel()
	root := newDemo(t, demo)
	r, todo, err := prepare(t.Context(), Options{Protocol: "demo", Dir: root, Names: []string{"a-caught"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	r.all = merge(root, nil)
	err = r.mutated(checking, todo[0], func(p *program) error {
		_, err := os.Stat(p.path)
		return err
	})
	if left, bad := os.ReadDir(r.tmp); err != nil || bad != nil || len(left) > 0 {
		t.Errorf("%v, %v, and %v are left", err, bad, left)
	}
}
