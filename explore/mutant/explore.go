package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Explore is the name of the mutants of the checker: each breaks one rule by which a search
// skips steps, or an assumption of such a rule, and a yardstick must notice.
const Explore = "explore"

// The yardsticks for the checker.
const (
	ByPrograms = "programs" // the outcomes of a small program, by the naive search and by all others
	ByAudit    = "audit"    // the rules of the search at sampled states of a small program
	ByTests    = "tests"    // a Go test
)

// CheckerResult is the result for a mutant of the checker.
type CheckerResult struct {
	Name  string
	Title string
	Rule  string
	// Yardstick is the one that must notice, and On its input: a program, or a package
	// and a test.
	Yardstick, On string
	// Class is the class of the fault that the yardstick must report; a test has no classes.
	Class   string
	Caught  bool
	Found   []string // the classes of what it found
	What    string   // the first thing that it found
	Seconds float64
	Err     error
}

// Verdict returns the result in a word or two.
func (x *CheckerResult) Verdict() string {
	if x.Err == nil && !x.Caught && len(x.Found) > 0 {
		return otherReason
	}
	return verdictOf(x.Err, x.Caught)
}

// RunExplore checks the mutants of the checker, each with the yardstick that it names;
// done, if not nil, is called after each, in the order of their names. Of opt it uses
// Names, Dir and NoControl. Its error is about the options or the unmodified checker. It
// wraps [ErrControl] if a yardstick reports an error of the unmodified checker.
func RunExplore(ctx context.Context, opt Options, done func(CheckerResult)) ([]CheckerResult, error) {
	opt.Protocol = Explore
	r, todo, err := prepare(ctx, opt)
	if err != nil {
		return nil, err
	}
	defer r.close()
	for _, m := range todo {
		if err := m.measurable(); err != nil {
			return nil, err
		}
	}
	if !opt.NoControl {
		if err := r.exploreControl(todo); err != nil {
			return nil, err
		}
	}
	return atOnce(r, todo, done, func(m *Mutant) CheckerResult {
		start := time.Now()
		x := CheckerResult{Name: m.Name, Title: m.Title, Rule: m.Rule, Yardstick: m.CaughtBy, On: m.on(), Class: m.Class}
		x.Err = r.measure(m, &x)
		x.Seconds = time.Since(start).Seconds()
		return x
	})
}

// measurable returns an error if the header lacks an input of its yardstick.
func (m *Mutant) measurable() error {
	switch {
	case m.Rule == "":
		return fmt.Errorf("%w: %s: the header has no Rule", ErrPatch, m.Name)
	case m.CaughtBy == ByTests:
		if len(strings.Fields(m.Test)) == 2 {
			return nil
		}
		return fmt.Errorf("%w: %s: Test: %q is not a package and the name of a test", ErrPatch, m.Name, m.Test)
	case m.CaughtBy != ByPrograms && m.CaughtBy != ByAudit:
		return fmt.Errorf("%w: %s: Caught-by: %q is not one of %s, %s and %s", ErrPatch, m.Name, m.CaughtBy, ByPrograms, ByAudit, ByTests)
	case m.Program == "" || m.Class == "":
		return fmt.Errorf("%w: %s: a mutant that is caught by %s needs a Program and a Class", ErrPatch, m.Name, m.CaughtBy)
	}
	return nil
}

// on returns the input of the yardstick.
func (m *Mutant) on() string {
	if m.CaughtBy == ByTests {
		return m.Test
	}
	return m.Program
}

// measure builds the yardstick with the mutant and runs it.
func (r *runner) measure(m *Mutant, x *CheckerResult) error {
	files, err := m.apply(r.root)
	if err != nil {
		return err
	}
	for name := range files { //lint:ordered each is looked at alone
		if !ofChecker(filepath.ToSlash(name)) {
			return fmt.Errorf("%w: %s changes %s, which is not part of the checker", ErrPatch, m.Name, name)
		}
	}
	if m.CaughtBy == ByTests {
		pkg, test, _ := strings.Cut(m.Test, " ")
		program, done, err := r.with(m, "test", pkg)
		if err != nil {
			return err
		}
		defer done()
		x.What, err = r.goTests(m.Name, program, pkg, test)
		if x.Caught = x.What != ""; x.Caught {
			x.Found = []string{m.Class}
		}
		return err
	}
	program, done, err := r.with(m, "build", yardstick)
	if err != nil {
		return err
	}
	defer done()
	found, err := r.yardstick(program, m.CaughtBy, m.Program)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	for _, f := range found {
		if !slices.Contains(x.Found, f.Class) {
			x.Found = append(x.Found, f.Class)
		}
		if f.Class == m.Class && !x.Caught {
			x.Caught, x.What = true, f.What
		}
	}
	return nil
}

// ofChecker reports whether a file is part of the checker, and not of a package that only uses it.
func ofChecker(name string) bool {
	in := func(dir string) bool { return strings.HasPrefix(name, dir) }
	return slices.ContainsFunc([]string{"explore/", "verbs/sim/", "fingerprint/"}, in) &&
		!slices.ContainsFunc([]string{"explore/coverage/", "explore/matrix/", "explore/mutant/"}, in)
}

// yardstick is the command that runs the yardsticks programs and audit.
const yardstick = "./explore/yardstick"

// deviation is a line of its output.
type deviation struct{ Program, Class, What string }

func (r *runner) yardstick(program made, by string, on ...string) ([]deviation, error) {
	out, err := program.run(r.ctx, r.root, append([]string{by}, on...)...)
	if err != nil {
		return nil, err
	}
	var found []deviation
	for line := range bytes.Lines(out) {
		var d deviation
		if err := json.Unmarshal(line, &d); err != nil || d.Class == "" {
			return nil, fmt.Errorf("%w: explore/yardstick printed %q", ErrTool, line)
		}
		found = append(found, d)
	}
	return found, nil
}

// goTests runs some of a package's tests and returns what failed, or nothing.
func (r *runner) goTests(name string, program made, pkg string, names ...string) (failed string, err error) {
	out, err := program.run(r.ctx, filepath.Join(r.root, pkg), "-test.run", "^("+strings.Join(names, "|")+")$", "-test.v", "-test.failfast", "-test.timeout", testTime)
	switch exitCode(err) {
	case 0:
		for _, x := range names {
			if !bytes.Contains(out, []byte("--- PASS: "+x+" ")) {
				return "", fmt.Errorf("%w: %s: package %s has no test %s, or it was skipped", ErrPatch, name, pkg, x)
			}
		}
		return "", nil
	case 1:
		if m := failure.FindSubmatch(out); m != nil {
			return string(m[1]), nil
		}
	}
	return "", fmt.Errorf("%s: %w%s", name, err, indented(string(out)))
}

// testTime bounds the tests of one mutant.
const testTime = "5m"

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// exploreControl runs all yardsticks on the unmodified checker.
func (r *runner) exploreControl(todo []*Mutant) error {
	on, tests := map[string][]string{}, map[string][]string{}
	for _, m := range todo {
		if pkg, test, _ := strings.Cut(m.Test, " "); m.CaughtBy == ByTests {
			tests[pkg] = append(tests[pkg], test)
		} else {
			on[m.CaughtBy] = append(on[m.CaughtBy], m.Program)
		}
	}
	if len(on) > 0 {
		program, err := r.quickly("control", nil, "build", yardstick)
		if err != nil {
			return err
		}
		for _, by := range slices.Sorted(maps.Keys(on)) {
			found, err := r.yardstick(made{path: program}, by, on[by]...)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				return fmt.Errorf("%w: %s: %s: %s", ErrControl, found[0].Program, found[0].Class, strings.TrimSpace(found[0].What))
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(tests)) {
		program, err := r.quickly("control", nil, "test", pkg)
		if err != nil {
			return err
		}
		failed, err := r.goTests("control", made{path: program}, pkg, tests[pkg]...)
		if err != nil {
			return err
		}
		if failed != "" {
			return fmt.Errorf("%w: %s of %s fails", ErrControl, failed, pkg)
		}
	}
	return nil
}
