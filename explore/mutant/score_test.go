package mutant

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
)

// Mutants are caught by scenarios, also by not coming back, and else by unit tests; what
// neither comes to survives.
func TestScore(t *testing.T) {
	t.Parallel()
	opt := tinyScore("")
	opt.Names = []string{"tiny.Add:arithmetic:1", "tiny.Limited:constant:1", "tiny.Slow:constant:1", "tiny.Sum:statement:3", "tiny.Sum:boundary:1", "tiny.Tested:boundary:1", "tiny.Tested:negate:1", "tiny.Grow:statement:1"}
	got := scored(t, opt)
	want := map[string]string{
		"tiny.Add:arithmetic:1":   "scenario violated tiny/add random c why",
		"tiny.Limited:constant:1": "scenario endless tiny/add random step-limit why",
		"tiny.Slow:constant:1":    "survives, late: tiny/add tiny/sum",
		"tiny.Sum:statement:3":    "scenario hangs tiny/sum random",
		"tiny.Sum:boundary:1":     "survives, tiny/sum",
		"tiny.Tested:boundary:1":  "test failed TestTested tiny_test.go:8: 2",
		"tiny.Tested:negate:1":    "equivalent nobody minds",
		"tiny.Grow:statement:1":   "survives,",
	}
	said := map[string]string{}
	for id, x := range got {
		if ran := x.Result != Equivalent; x.Processor < 0 || ran && len(x.Reached) > 0 && x.Processor == 0 {
			t.Errorf("%s took %v s of a processor", id, x.Processor)
		}
		parts := []string{x.Result, x.How, x.Scenario, x.Strategy, x.Class, x.Test, x.Reason}
		if x.Result == Survives {
			parts = append([]string{"survives,"}, x.Exhausted...)
			if len(x.TimedOut) > 0 {
				parts = append(append(parts, "late:"), x.TimedOut...)
			}
		}
		said[id] = strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}

// A run is taken up where it ended, and not with other code.
func TestScoreGoesOn(t *testing.T) {
	t.Parallel()
	opt := tinyScore("")
	results := filepath.Join(t.TempDir(), "results")
	opt.File = results
	opt.Names = []string{"tiny.Add:arithmetic:1"}
	first := scored(t, opt)
	text, err := os.ReadFile(opt.File)
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("%s %v", text, err)
	}
	// What a program left that was stopped while it wrote.
	if err := os.WriteFile(opt.File, append(text, `{"id": "tiny.T`...), 0o600); err != nil {
		t.Fatal(err)
	}
	opt.Names = append(opt.Names, "tiny.Tested:boundary:1")
	again := scored(t, opt)
	if d := cmp.Diff(first["tiny.Add:arithmetic:1"], again["tiny.Add:arithmetic:1"]); d != "" {
		t.Errorf("judged anew: %s", d)
	}
	if text, err = os.ReadFile(opt.File); err != nil || strings.Count(string(text), "\n") != 3 || len(again) != 2 {
		t.Errorf("%s %v", text, err)
	}
	all, err := ReadResults(opt.File)
	if err != nil || len(all) != 2 || all[0].Result != ByScenario || all[1].Result != ByTest {
		t.Errorf("%+v, %v", all, err)
	}
	opt.Kept, opt.File = filepath.Join(t.TempDir(), "kept"), ""
	for _, want := range []string{`"tiny/sum"`, `"tiny/kept"`} { // the second one has it from the first
		if _, err := judged(t, opt); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(opt.Kept, "reach-*.json"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if text, err = os.ReadFile(names[0]); err != nil || !strings.Contains(string(text), want) {
			t.Fatalf("%s, %v", text, err)
		}
		if err := os.WriteFile(names[0], []byte(strings.Replace(string(text), `"tiny/sum"`, `"tiny/kept"`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opt.File = results
	opt.SearchRuns++
	if _, err := judged(t, opt); err == nil || !strings.Contains(err.Error(), "results of different code") {
		t.Error(err)
	}
}

// Results are found again in the source, unless they are of another.
func TestReadResults(t *testing.T) {
	t.Parallel()
	root, name := newTiny(t), filepath.Join(t.TempDir(), "results")
	write(t, filepath.Dir(name), "results", `{"protocol": "tiny", "scenarios": []}
{"id": "tiny.Add:arithmetic:1", "before": "a + b", "after": "a - b", "line": 1, "result": "survives"}
{"id": "tiny.Add:arithmetic:1", "before": "a + b", "after": "a - b", "line": 1, "result": "equivalent", "reason": "so"}
{"score": {}}
`)
	all, err := ReadResults(name)
	if err != nil || len(all) != 1 || all[0].Result != Equivalent {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := Locate(t.Context(), generate.Generate, root, []string{"protocol/tiny"}, nil, all); err != nil || all[0].Line != 5 || all[0].File != "protocol/tiny/tiny.go" {
		t.Errorf("%+v, %v", all[0], err)
	}
	all[0].Before = "b + a"
	if err := Locate(t.Context(), generate.Generate, root, []string{"protocol/tiny"}, nil, all); !errors.Is(err, ErrResults) {
		t.Error(err)
	}
	for text, want := range map[string]string{"": "has none", "{}\n{\n": "results:2", "[]": "results:1"} {
		write(t, filepath.Dir(name), "results", text)
		if _, err := ReadResults(name); !errors.Is(err, ErrResults) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Nothing is said about mutants if a test fails without them.
func TestScoreControl(t *testing.T) {
	t.Parallel()
	root := newTiny(t)
	write(t, root, "protocol/tiny/tiny_test.go", strings.Replace(tinyTest, "2: false", "2: true", 1))
	opt := tinyScore(root)
	opt.Names = []string{"tiny.Add:arithmetic:1"}
	if _, err := RunScore(t.Context(), opt); !errors.Is(err, ErrControl) {
		t.Error(err)
	}
	opt.Names = []string{"tiny.Add:arithmetic:100"}
	if _, err := RunScore(t.Context(), opt); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestNewScore(t *testing.T) {
	t.Parallel()
	got := NewScore([]Judged{{Result: ByScenario, Seconds: 1}, {Result: ByScenario, Seconds: 3, Processor: 1.5}, {Result: ByTest, Seconds: 2, Processor: 2}, {Result: Survives, Seconds: 4}, {Result: Equivalent}})
	if d := cmp.Diff(Score{Mutants: 5, Scenario: 2, Test: 1, Equivalent: 1, Survive: 1, Caught: 75, Scenarios: 50, Median: 3, Processor: 3.5}, got); d != "" {
		t.Error(d)
	}
}
