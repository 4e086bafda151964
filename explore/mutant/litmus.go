package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Litmus is the name of the mutants of the simulator: each breaks one rule of its
// semantics, and a litmus test of that rule must notice.
const Litmus = "litmus"

// RuleResult is the result for a mutant of the simulator.
type RuleResult struct {
	Name  string
	Title string
	Rule  string
	// Tests are the litmus tests of the rule, which were run.
	Tests []string
	// Wanted is how a verdict must be wrong, according to the header, or empty: TooWeak or
	// TooStrong.
	Wanted string
	// Caught: one of them has such a wrong verdict; which, and what is wrong.
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

// Verdict returns the result in a word or two.
func (x *RuleResult) Verdict() string {
	if x.Err == nil && !x.Caught && x.Wrong > 0 {
		return otherReason
	}
	return verdictOf(x.Err, x.Caught)
}

// The ways in which the verdict of a litmus test is wrong.
const (
	TooWeak   = "too weak"   // the simulator allows what the rule forbids
	TooStrong = "too strong" // it does not show what must be possible
)

// RunLitmus checks the mutants of the simulator with the litmus tests in
// testdata/litmus; done, if not nil, is called after each, in the order of their
// names. Of opt it uses Names, Dir and NoControl. Its error is about the options or
// the unmodified simulator, and wraps [ErrControl] if that fails a test.
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
	return atOnce(r, todo, done, func(m *Mutant) RuleResult {
		start := time.Now()
		x := RuleResult{Name: m.Name, Title: m.Title, Rule: m.Rule, Tests: tests[m.Rule], Wanted: m.Class}
		x.Err = r.notice(m, &x)
		x.Seconds = time.Since(start).Seconds()
		return x
	})
}

// litmusFiles returns the paths of the litmus tests, relative to root.
func litmusFiles(root string) ([]string, error) {
	return fs.Glob(os.DirFS(root), "testdata/litmus/*.litmus")
}

// testsByRule lists the litmus tests of each rule, according to their files.
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

// verdict is a line of the output of litmus/wrong.
type verdict struct {
	Test, Profile, Condition, Expected, Got string
}

func (v *verdict) class() string {
	if v.Got == "Y" {
		return TooWeak
	}
	return TooStrong
}

// litmusTests runs tests with a program and returns the verdicts that are wrong.
func (r *runner) litmusTests(program made, tests []string) ([]verdict, error) {
	out, err := program.run(r.ctx, r.root, tests...)
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

// wrongly is the program that prints the litmus tests with wrong verdicts.
const wrongly = "./litmus/wrong"

func (r *runner) litmusControl() error {
	program, err := r.quickly("control", nil, "build", wrongly)
	if err != nil {
		return err
	}
	tests, err := litmusFiles(r.root)
	if err != nil {
		return err
	}
	wrong, err := r.litmusTests(made{path: program}, tests)
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
	switch {
	case m.Rule == "":
		return fmt.Errorf("%w: %s: the header has no Rule", ErrPatch, m.Name)
	case m.Class != "" && m.Class != TooWeak && m.Class != TooStrong:
		return fmt.Errorf("%w: %s: Class: %q is neither %q nor %q", ErrPatch, m.Name, m.Class, TooWeak, TooStrong)
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
			return fmt.Errorf("%w: %s changes %s, which is not part of the simulator", ErrPatch, m.Name, name)
		}
	}
	program, done, err := r.with(m, "build", wrongly)
	if err != nil {
		return err
	}
	defer done()
	wrong, err := r.litmusTests(program, x.Tests)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	x.Wrong = len(wrong)
	i := slices.IndexFunc(wrong, func(v verdict) bool { return m.Class == "" || v.class() == m.Class })
	if x.Caught = i >= 0; x.Caught {
		w := wrong[i]
		x.Test, x.Profile, x.Condition, x.Expected, x.Got = w.Test, w.Profile, w.Condition, w.Expected, w.Got
	}
	return nil
}

// rulesOf lists the rules that the mutants of the simulator break.
func rulesOf(mutants []*Mutant) []string {
	var out []string
	for _, m := range mutants {
		if !slices.Contains(out, m.Rule) {
			out = append(out, m.Rule)
		}
	}
	return out
}
