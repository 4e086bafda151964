package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

// Litmus is the name under which the mutants of the simulator are kept: each
// breaks one rule of its semantics, and a litmus test of that rule must notice.
const Litmus = "litmus"

// RuleResult is what became of a mutant of the simulator.
type RuleResult struct {
	Name  string
	Title string
	Rule  string
	// Tests are the litmus tests of the rule, which were run.
	Tests []string
	// Caught: one of them has a wrong verdict; which, and what is wrong.
	Caught    bool
	Test      string
	Profile   string
	Condition string
	Expected  string
	Got       string
	Wrong     int // wrong verdicts in all
	Seconds   float64
	Err       error
}

// Verdict is the result in a word.
func (x *RuleResult) Verdict() string { return verdictOf(x.Err, x.Caught) }

// RunLitmus checks the mutants of the simulator with the litmus tests in
// testdata/litmus; done, if not nil, is called after each, in the order of their
// names. Of opt it uses Names, Dir and NoControl. Its error is about the options or
// the simulator as it is, and wraps [ErrControl] if that fails a test.
func RunLitmus(ctx context.Context, opt Options, done func(RuleResult)) ([]RuleResult, error) {
	opt.Protocol = Litmus
	r, todo, err := prepare(ctx, opt)
	if err != nil {
		return nil, err
	}
	defer r.close()
	tests, err := testsByRule(r.root)
	if err != nil {
		return nil, err
	}
	if !opt.NoControl {
		if err := r.litmusControl(); err != nil {
			return nil, err
		}
	}
	return r.notices(todo, tests, done)
}

// notices checks mutants, as many at a time as there are cores: most of the work is
// that of the compiler, package after package. It reports them in their order.
func (r *runner) notices(todo []*Mutant, tests map[string][]string, done func(RuleResult)) ([]RuleResult, error) {
	results := make([]chan RuleResult, len(todo))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, m := range todo {
		results[i] = make(chan RuleResult, 1)
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			start := time.Now()
			x := RuleResult{Name: m.Name, Title: m.Title, Rule: m.Rule, Tests: tests[m.Rule]}
			if x.Err = r.ctx.Err(); x.Err == nil {
				x.Err = r.notice(m, &x)
			}
			x.Seconds = time.Since(start).Seconds()
			results[i] <- x
		})
	}
	var out []RuleResult
	for i := range todo {
		x := <-results[i]
		if r.ctx.Err() != nil {
			return out, r.ctx.Err()
		}
		out = append(out, x)
		if done != nil {
			done(x)
		}
	}
	return out, nil
}

// litmusFiles are the paths of the litmus tests, from root on.
func litmusFiles(root string) ([]string, error) {
	return fs.Glob(os.DirFS(root), "testdata/litmus/*.litmus")
}

// testsByRule lists the litmus tests of each rule, as their files say it.
func testsByRule(root string) (map[string][]string, error) {
	paths, err := litmusFiles(root)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] != "rule" {
				continue
			}
			for _, rule := range words[1:] {
				out[rule] = append(out[rule], path)
			}
		}
	}
	return out, nil
}

// verdict is a line of what litmus/wrong prints.
type verdict struct {
	Test, Profile, Condition, Expected, Got string
}

// litmusTests runs tests with a program and returns the verdicts that are wrong.
func (r *runner) litmusTests(program string, tests []string) ([]verdict, error) {
	out, err := command(r.ctx, r.root, program, tests...)
	if err != nil {
		return nil, err
	}
	var wrong []verdict
	for line := range bytes.Lines(out) {
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil || v.Test == "" {
			return nil, fmt.Errorf("%w: litmus/wrong printed %q", ErrTool, line)
		}
		wrong = append(wrong, v)
	}
	return wrong, nil
}

// command is the program litmus/wrong with some files replaced.
func (r *runner) command(name string, files map[string][]byte) (string, error) {
	dir := filepath.Join(r.tmp, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "wrong")
	// Without optimisation: the compiler takes far longer than the tests.
	return path, goCommand(r.ctx, r.root, dir, files, "build", "-gcflags="+source.Module+"/...=-N -l", "-ldflags=-s -w", "-o", path, "./litmus/wrong")
}

func (r *runner) litmusControl() error {
	program, err := r.command("control", nil)
	if err != nil {
		return err
	}
	tests, err := litmusFiles(r.root)
	if err != nil {
		return err
	}
	wrong, err := r.litmusTests(program, tests)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %d litmus verdicts are wrong, the first in %s under %s", ErrControl, len(wrong), wrong[0].Test, wrong[0].Profile)
	}
	return nil
}

// notice runs the tests of the rule that a mutant breaks.
func (r *runner) notice(m *Mutant, x *RuleResult) error {
	if m.Rule == "" {
		return fmt.Errorf("%w: %s: the header has no Rule", ErrPatch, m.Name)
	}
	if len(x.Tests) == 0 {
		return fmt.Errorf("%w: %s: no litmus test names the rule %s", ErrPatch, m.Name, m.Rule)
	}
	files, err := m.apply(r.root)
	if err != nil {
		return err
	}
	for name := range files { //lint:ordered each is looked at alone
		if !strings.HasPrefix(filepath.ToSlash(name), "verbs/sim/") {
			return fmt.Errorf("%w: %s changes %s, which is no part of the simulator", ErrPatch, m.Name, name)
		}
	}
	program, err := r.command(m.Name, files)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	defer os.RemoveAll(filepath.Dir(program))
	wrong, err := r.litmusTests(program, x.Tests)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	if x.Wrong, x.Caught = len(wrong), len(wrong) > 0; x.Caught {
		w := wrong[0]
		x.Test, x.Profile, x.Condition, x.Expected, x.Got = w.Test, w.Profile, w.Condition, w.Expected, w.Got
	}
	return nil
}

// RulesOf lists the rules that the mutants of the simulator break.
func RulesOf(mutants []*Mutant) []string {
	var out []string
	for _, m := range mutants {
		if !slices.Contains(out, m.Rule) {
			out = append(out, m.Rule)
		}
	}
	return out
}
