package command

import (
	"cmp"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// What survives is printed by its lines, and how many of all were caught.
func TestPrintScore(t *testing.T) {
	of := func(file string, line int, result, how string) mutant.Judged {
		return mutant.Judged{Mutant: schema.Mutant{ID: "f:swap:1", File: file, Line: line, Before: "a; b", After: "b; a"}, Result: result, How: how, Seconds: 2}
	}
	all := []mutant.Judged{of("p.go", 9, mutant.Survives, ""), of("p.go", 3, mutant.Survives, ""), of("p.go", 1, mutant.ByScenario, mutant.HowViolated),
		of("p.go", 2, mutant.ByTest, mutant.HowHangs), of("p.go", 5, mutant.Equivalent, "")}
	all[0].Reached, all[0].Exhausted = []string{"s", "t"}, []string{"s"}
	all[0].TimedOut = []string{"t"}
	all[0].Processor, all[1].Processor = 3, 4
	score := mutant.NewScore(all)
	var b strings.Builder
	if err := printScore(&b, all, &score); err != nil {
		t.Fatal(err)
	}
	want := `p.go:3: survives: f:swap:1
    - a; b
    + b; a
    no scenario reaches it
p.go:9: survives: f:swap:1
    - a; b
    + b; a
    2 scenarios reach it, 1 of them exhausted, 1 stopped by --max-time

5 mutants: 1 caught by scenarios, 1 by unit tests, 1 equivalent, 2 survive
       1 showed: violated
       1 showed: hangs
of the mutants that are not equivalent, 50.0 % are caught, 25.0 % by scenarios alone; one takes 2.0 s (median), all take 7 s of processor time
stopped by --max-time before all runs: 1; with a longer time their result may differ
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
	b.Reset()
	if err := printScore(&b, nil, &mutant.Score{}); err != nil || strings.Contains(b.String(), "%") {
		t.Errorf("of no mutants: %s%v", &b, err)
	}
}

// A score that is as high as it must be misses nothing, and neither does one without anything to catch.
func TestScoresThatMiss(t *testing.T) {
	f := &mutantFlags{atLeast: 80, byScenarios: 50}
	for _, x := range []struct {
		s    mutant.Score
		want bool
	}{
		{mutant.Score{Caught: 80, Scenarios: 50, Survive: 1}, false},
		{mutant.Score{Caught: 79.9, Scenarios: 50, Survive: 1}, true},
		{mutant.Score{Caught: 80, Scenarios: 49.9, Survive: 1}, true},
		{mutant.Score{Caught: 100, Scenarios: 0, Test: 1}, true},
		{mutant.Score{}, false},
	} {
		if got := f.misses(&x.s); got != x.want {
			t.Errorf("%+v misses: %v", x.s, got)
		}
	}
}

// Flags of mutants by hand and of generated ones do not mix: one that has no effect is refused.
func TestMutantFlagsDoNotMix(t *testing.T) {
	useDemo(t)
	values := map[string]string{"sqlite": "true", "no-control": "true", "timers": "free", "max-events": "3", "at-least": "3", "scenarios-at-least": "3"}
	value := func(name string) string { return "--" + name + "=" + cmp.Or(values[name], "1") }
	for _, name := range patchFlags {
		if code, _, stderr := call("mutants", "demo", "--generate", value(name)); code != 2 || !strings.Contains(stderr, "--"+name+" is for mutants that are patches") {
			t.Errorf("--generate and --%s: status %d: %s", name, code, stderr)
		}
	}
	for _, name := range scoreFlags {
		if code, _, stderr := call("mutants", "demo", value(name)); code != 2 || !strings.Contains(stderr, "--"+name+" needs --generate") {
			t.Errorf("--%s alone: status %d: %s", name, code, stderr)
		}
	}
	for args, want := range map[string]string{
		"--seed 3":                              "--seed needs --sample or --most",
		"--most 3":                              "--most needs --changed-since",
		"--changed-since x --sample 4 --most 3": "--most 3: it must not be less than --sample",
		"--sample -1":                           "--sample -1: it must be at least 1",
		"--part 3":                              `--part "3": it must be I/N`,
		"--part 0/2":                            `--part "0/2": it must be I/N`,
		"--part 3/2":                            `--part "3/2": it must be I/N`,
		"--at-least 101":                        "are percentages",
		"--random-runs 0":                       "must be at least 1",
	} {
		if code, _, stderr := call(append([]string{"mutants", "demo", "--generate"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", args, code, stderr)
		}
	}
}
