package mutant

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/internal/source"
	"github.com/verbatim-rdma/verbatim/mutant/generate"
)

// tiny is a protocol with one mutant for each way of being caught.
const tiny = `package tiny

import "time"

func Add(a, b int) int { return a + b }

func Sum(n int) int {
	total := 0
	for n > 0 {
		total += n
		n--
		time.Sleep(time.Microsecond) // one that hangs takes no core
	}
	return total
}

func Tested(a int) bool { return a > 2 }

func Unused() error { return nil }

func Limited(n int) int { return n + 0 }

func Slow(n int) int { return n + 0 }

var list []int

func Grow(n int) int {
	for i := 0; i < n; i++ {
		list = append(list, i)
	}
	return len(list)
}
`

const tinyTest = `package tiny

import "testing"

func TestTested(t *testing.T) {
	for a, want := range map[int]bool{2: false, 3: true, 4: true} {
		if Tested(a) != want {
			t.Errorf("%d", a)
		}
	}
}
`

// tinyMain stands in for the command verbatim: a scenario is violated if a sum is wrong.
const tinyMain = `package main

import (
	"fmt"
	"os"

	"github.com/verbatim-rdma/verbatim/protocol/tiny"
)

func main() {
	if os.Args[1] == "list" {
		fmt.Print("{\"name\": \"tiny/add\"}\n{\"name\": \"tiny/sum\"}\n{\"name\": \"tiny/deep\", \"deep\": true}\n")
		return
	}
	good := tiny.Add(1, 2) == 3
	if os.Args[2] == "tiny/sum" {
		good = tiny.Sum(3) == 6
	}
	verdict, file := "verified", "null"
	if tiny.Limited(100) != 100 {
		verdict, file = "unknown", "\"x.json\""
		os.WriteFile(os.Args[5]+"/x.json", []byte("{\"version\": 1, \"scenario\": \"s\", \"class\": \"step-limit\", \"decisions\": []}"), 0o644)
	}
	exhausted := good
	if tiny.Slow(100) != 100 {
		verdict, exhausted = "ran-out", false
	}
	if !good {
		verdict, file = "violated", "\"x.json\""
		os.WriteFile(os.Args[5]+"/x.json", []byte("{\"version\": 1, \"scenario\": \"s\", \"class\": \"c\", \"decisions\": []}"), 0o644)
	}
	fmt.Printf("{\"scenario\": %q, \"strategy\": \"s\", \"verdict\": %q, \"exhausted\": %v, \"runs\": 1, \"reason\": \"why\", \"counterexample\": %s}\n", os.Args[2], verdict, exhausted, file)
	if !good {
		os.Exit(1)
	}
}
`

func newTiny(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	tinyIn(t, root)
	return root
}

func tinyIn(t *testing.T, root string) {
	t.Helper()
	write(t, root, "go.mod", "module "+source.Module+"\n\ngo 1.26\n")
	write(t, root, "cmd/verbatim/main.go", tinyMain)
	write(t, root, "protocol/tiny/tiny.go", tiny)
	write(t, root, "protocol/tiny/tiny_test.go", tinyTest)
}

func tinyScore(root string) ScoreOptions {
	return ScoreOptions{Protocol: "tiny", Folders: []string{"protocol/tiny"}, Dir: root, RandomRuns: 100, SearchRuns: 100, MaxTime: time.Second,
		limit: time.Second}
}

// built is tiny with its mutants in it, which is built once for all tests.
var built struct {
	once sync.Once
	root string
	*judge
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.root)
	os.Exit(code)
}

// judged is what becomes of mutants of tiny.
func judged(t *testing.T, opt ScoreOptions) ([]Judged, error) {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "verbatim-tiny-")
		if err != nil {
			t.Fatal(err)
		}
		built.root = dir
		tinyIn(t, dir)
		write(t, dir, "testdata/mutants/tiny/equivalent", "# a comment\n\ntiny.Tested:negate:1  nobody minds\n")
		j, err := newJudge(context.Background(), tinyScore(dir))
		if err == nil {
			j.tmp = dir
			err = j.build()
		}
		if err != nil {
			t.Fatal(err)
		}
		built.judge = j
	})
	if built.judge == nil {
		t.Fatal("tiny was not built")
	}
	opt.Dir = built.root
	j, err := newJudge(t.Context(), opt)
	if err != nil {
		return nil, err
	}
	j.tmp, j.program, j.tests = t.TempDir(), built.program, slices.Clone(built.tests)
	return j.run()
}

func scored(t *testing.T, opt ScoreOptions) map[string]Judged {
	t.Helper()
	all, err := judged(t, opt)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Judged{}
	for _, x := range all {
		out[x.ID] = x
	}
	return out
}

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
	if _, err := judged(t, opt); err == nil || !strings.Contains(err.Error(), "results of other code") {
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
	if err := Locate(t.Context(), root, []string{"protocol/tiny"}, all); err != nil || all[0].Line != 5 || all[0].File != "protocol/tiny/tiny.go" {
		t.Errorf("%+v, %v", all[0], err)
	}
	all[0].Before = "b + a"
	if err := Locate(t.Context(), root, []string{"protocol/tiny"}, all); !errors.Is(err, ErrResults) {
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

// The sample is a function of the seed, and changed lines are those of git.
func TestChosen(t *testing.T) {
	t.Parallel()
	root := newTiny(t)
	set, err := generate.Generate(t.Context(), root, []string{"protocol/tiny"})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(opt ScoreOptions) string {
		t.Helper()
		opt.Folders = []string{"protocol/tiny"}
		list, err := chosen(t.Context(), root, &opt, set)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range list {
			out = append(out, m.ID)
		}
		return strings.Join(out, " ")
	}
	a, b, other := ids(ScoreOptions{Sample: 4, Seed: 1}), ids(ScoreOptions{Sample: 4, Seed: 1}), ids(ScoreOptions{Sample: 4, Seed: 2})
	if a != b || a == other || len(strings.Fields(a)) != 4 {
		t.Errorf("%q, %q and %q", a, b, other)
	}
	// Without one function the sample is the same but for its mutants.
	edited := &generate.Set{Mutants: slices.DeleteFunc(slices.Clone(set.Mutants), func(m generate.Mutant) bool { return m.Function == "tiny.Grow" })}
	list, err := chosen(t.Context(), root, &ScoreOptions{Sample: 4, Seed: 1}, edited)
	if err != nil || len(list) != 4 {
		t.Fatal(list, err)
	}
	same := 0
	for _, m := range list {
		if strings.Contains(" "+a+" ", " "+m.ID+" ") {
			same++
		}
	}
	if want := 4 - strings.Count(a, "tiny.Grow:"); same != want {
		t.Errorf("%d of %q are still drawn, not %d", same, a, want)
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	if got := ids(ScoreOptions{ChangedSince: "HEAD"}); got != "" {
		t.Errorf("nothing has changed: %s", got)
	}
	opt := tinyScore(root)
	opt.ChangedSince = "HEAD"
	if all, err := RunScore(t.Context(), opt); len(all) > 0 || err != nil {
		t.Errorf("nothing has changed: %v, %v", all, err)
	}
	write(t, root, "protocol/tiny/tiny.go", strings.Replace(tiny, "{ return a + b }", "{ return b + a }", 1))
	if got := ids(ScoreOptions{ChangedSince: "HEAD"}); got != "tiny.Add:arithmetic:1" {
		t.Errorf("changed: %s", got)
	}
	write(t, root, "protocol/tiny/tiny.go", strings.ReplaceAll(tiny, "n + 0", "0 + n"))
	if all, some := ids(ScoreOptions{ChangedSince: "HEAD"}), ids(ScoreOptions{ChangedSince: "HEAD", Most: 1, Seed: 1}); len(strings.Fields(all)) != 6 || len(strings.Fields(some)) != 1 || !strings.Contains(all, some) {
		t.Errorf("changed: %s, and at most one: %s", all, some)
	}
	if got := ids(ScoreOptions{ChangedSince: "HEAD", Most: 5, Sample: 5, Seed: 1}); got != ids(ScoreOptions{Sample: 5, Seed: 1}) {
		t.Errorf("no room for changed ones: %s", got)
	}
}

// What is wrong with the list of equivalent mutants is said with the line, and how to mend it.
func TestEquivalents(t *testing.T) {
	t.Parallel()
	root := newTiny(t)
	set := &generate.Set{Mutants: []generate.Mutant{{ID: "p.f:swap:1"}, {ID: "p.f:swap:2"}}}
	for text, want := range map[string]string{
		"p.f:swap:1\n":                    "equivalent:1: p.f:swap:1 has no reason: write behind it",
		"# x\n\np.f:swap:3 it is\n":       "equivalent:3: there is no mutant p.f:swap:3 (there are p.f:swap:1, p.f:swap:2)",
		"p.g:swap:1 it is\n":              "did you mean p.f:swap:1?",
		"p.f:swap:1 x\np.f:swap:1 y\n":    "equivalent:2: p.f:swap:1 is in line 1 already: remove one",
		"b x\nb y\np.f:swap:1\n":          "equivalent:3: p.f:swap:1 has no reason",
		"":                                "",
		"p.f:swap:1 x\np.f:swap:2\ty z\n": "",
		"p.f:swap:1 x\n":                  "",
	} {
		write(t, root, "testdata/mutants/tiny/equivalent", text)
		_, err := equivalents(root, "tiny", set)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, ErrPatch)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The lists of equivalent mutants name mutants that there are.
func TestEquivalentsExist(t *testing.T) {
	t.Parallel()
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range protocols {
		set, err := generate.Generate(t.Context(), root, []string{"protocol/" + protocol})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := equivalents(root, protocol, set); err != nil {
			t.Error(err)
		}
	}
}

func TestNewScore(t *testing.T) {
	t.Parallel()
	got := NewScore([]Judged{{Result: ByScenario, Seconds: 1}, {Result: ByScenario, Seconds: 3}, {Result: ByTest, Seconds: 2}, {Result: Survives, Seconds: 4}, {Result: Equivalent}})
	if d := cmp.Diff(Score{Mutants: 5, Scenario: 2, Test: 1, Equivalent: 1, Survive: 1, Caught: 75, Scenarios: 50, Median: 3}, got); d != "" {
		t.Error(d)
	}
}
