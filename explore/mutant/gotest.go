package mutant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// questionEnv holds the question for a test that calls [RunScenarios] when it runs with a mutant
// in it, in JSON.
const questionEnv = "VERBATIM_MUTANT_QUESTION"

// answered is the exit status of a program that has answered.
const answered = 87

// Test generates mutants of the packages of a protocol, and returns how many of them its scenarios
// and its tests catch. It logs the survivors. A test of any module can call it and require
// a score:
//
//	func TestMutants(t *testing.T) {
//		opt := mutant.ScoreOptions{Generate: generate.Generate, Folders: []string{"protocol/mine"}, Sample: 40}
//		if s := mutant.Test(t, opt, minecheck.Scenarios()...); s.Scenarios < 85 {
//			t.Errorf("the scenarios catch %.0f %% of the mutants", s.Scenarios)
//		}
//	}
func Test(t testing.TB, opt ScoreOptions, scenarios ...*explore.Scenario) Score {
	t.Helper()
	all, err := RunScenarios(t.Context(), opt, scenarios...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.Result == Survives {
			t.Logf("%s:%d: survives: %s\n- %s\n+ %s", x.File, x.Line, x.ID, x.Before, x.After)
		}
	}
	return NewScore(all)
}

// RunScenarios is [RunScore] for a protocol that is not built into the command verbatim. A Go test
// or example calls it with the scenarios. Folders are relative to the root of the test's module;
// the default is the folder of the test. Equivalent mutants are listed in
// testdata/mutants/PROTOCOL/equivalent below that root. PROTOCOL is opt.Protocol, by default the
// last element of the first folder.
//
// It rebuilds the test with all mutants in it. For each mutant it runs that program up to the
// same call, which then checks one scenario and exits.
func RunScenarios(ctx context.Context, opt ScoreOptions, scenarios ...*explore.Scenario) ([]Judged, error) {
	if text := os.Getenv(questionEnv); text != "" {
		return nil, reply(text, scenarios)
	}
	if os.Getenv(schema.Selects) != "" {
		return nil, nil // a unit test runs with a mutant enabled: the caller judges it
	}
	in, root, err := newInTest(opt.Dir, scenarios)
	if err != nil {
		return nil, err
	}
	if len(opt.Folders) == 0 {
		opt.Folders = []string{in.pkg}
	}
	if opt.Protocol == "" {
		opt.Protocol = filepath.Base(opt.Folders[0])
	}
	opt.fill()
	j, err := newJudgeAt(ctx, root, opt)
	if err != nil {
		return nil, err
	}
	j.inTest = in
	return j.buildAndRun()
}

// inTest is the Go test that requested a score.
type inTest struct {
	name   string // of the function
	folder string // of its package
	pkg    string // the same, relative to the root
	names  []string
}

func newInTest(dir string, scenarios []*explore.Scenario) (*inTest, string, error) {
	x := &inTest{name: callingTest()}
	if x.name == "" {
		return nil, "", fmt.Errorf("%w: call it from a Go test or example", ErrTool)
	}
	for _, s := range scenarios {
		x.names = append(x.names, s.Name)
	}
	if len(x.names) == 0 {
		return nil, "", fmt.Errorf("%w: there are no scenarios", ErrUnknown)
	}
	var err error
	if x.folder, err = filepath.Abs(dir); err != nil { // go test runs in the package's folder
		return nil, "", err
	}
	root := x.folder
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return nil, "", fmt.Errorf("%w: %s is in no module", ErrSource, x.folder)
		}
		root = filepath.Dir(root)
	}
	x.pkg, err = filepath.Rel(root, x.folder)
	return x, root, err
}

var testName = regexp.MustCompile(`\.((?:Test|Example)[\pL\pN_]*)(?:\.func\d+)*$`)

// callingTest returns the outermost test or example on the call stack.
func callingTest() (name string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if m := testName.FindStringSubmatch(f.Function); m != nil && strings.HasSuffix(f.File, "_test.go") {
			name = m[1]
		}
		if !more {
			return name
		}
	}
}

func (x *inTest) pattern() string { return "^" + x.name + "$" }

// build returns the arguments that build the test.
func (x *inTest) build(to string) []string {
	return []string{"-c", "-vet=off", "-ldflags=-s -w", "-o", to, "./" + filepath.ToSlash(x.pkg)}
}

// launch changes l to start the test instead of the command.
func (x *inTest) launch(l launch, q *question) launch {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // every field has a JSON form
	}
	l.dir, l.args, l.env = x.folder, []string{"-test.run=" + x.pattern()}, []string{questionEnv + "=" + string(text)}
	return l
}

// answerFile returns the file in which a test leaves its answer.
func (q *question) answerFile() string { return filepath.Join(q.Out, "answer.json") }

// answer returns the answer that a test left there, if any.
func (q *question) answer() string {
	text, err := os.ReadFile(q.answerFile())
	if err != nil {
		return ""
	}
	return string(text)
}

// reply checks the scenario in the question, and exits. It returns if the scenario is not among
// these: then another call of the test has it.
func reply(text string, scenarios []*explore.Scenario) error {
	var q question
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrTool, questionEnv, err)
	}
	i := slices.IndexFunc(scenarios, func(s *explore.Scenario) bool { return s.Name == q.Scenario })
	if i < 0 {
		return nil
	}
	r, err := explore.Check(scenarios[i], explore.Options{Strategy: q.Strategy, Seed: 1, MaxRuns: q.Runs, MaxTime: q.MaxTime, Workers: 1, NoShrink: true,
		StepTimeout: stepTimeout})
	if r == nil {
		return err
	}
	x := struct {
		Search
		Counterexample string `json:"counterexample"`
		Exhausted      bool   `json:"exhausted"`
	}{Search: Search{Scenario: r.Scenario, Strategy: r.Strategy, Verdict: r.Verdict, Runs: r.Runs, Seconds: r.Elapsed.Seconds()}, Exhausted: r.Exhausted}
	if r.Reason != nil {
		x.Reason = r.Reason.Error()
	}
	if ce := r.Counterexample; ce != nil {
		x.Reason = ce.Class + ": " + ce.Message
		var unsaved error
		x.Counterexample, unsaved = ce.SaveIn(q.Out)
		err = errors.Join(err, unsaved)
	}
	out, bad := json.Marshal(x)
	if err = errors.Join(err, bad); err == nil {
		err = os.WriteFile(q.answerFile(), out, 0o600)
	}
	if err != nil {
		return err
	}
	os.Exit(answered)
	return nil
}
