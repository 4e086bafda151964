package mutant

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Options configure a run.
type Options struct {
	Protocol string
	Names    []string      // of the mutants; empty: all
	Dir      string        // the source tree; empty: the one around the working directory
	Workers  int           // of each search; 0: one for each core
	MaxTime  time.Duration // for each search; 0: no limit
	Timers   string        // of each search, as explore.Options has it; empty: the scenario's
	Out      string        // directory for the counterexamples and their pages; empty: they are not kept
	// MaxEvents is the largest number of events that is not too long; 0: the constant [MaxEvents].
	MaxEvents int
	// NoControl omits the run of the unmodified code.
	NoControl bool
	// Kept is a folder that keeps the result of that run, so that each program is run once;
	// empty: it is not kept.
	Kept string
	// Note, if set, is called with messages about that run.
	Note func(string)
	// Done, if set, is called after each mutant.
	Done func(Result)
}

// round is a search of every scenario that is still open.
type round struct {
	strategy string
	runs     int // at most; 0: no limit
}

// rounds are ordered by their return. Most bugs show in a few random runs, or early in an
// exhaustive search. Some need a long sequence of certain steps, which sampling finds long before
// an exhaustive search does. Only an exhaustive search proves that a mutant survives. The scenario
// that a mutant names gets all rounds before the others get one.
var rounds = []round{{explore.Random, 2000}, {explore.Exhaustive, 20000}, {explore.Random, 50000}, {explore.Exhaustive, 0}}

// Run checks the mutants of a protocol, one after the other. The error of an invalid
// mutant is in its result. Run's own error is about the options or the unmodified
// code, and wraps [ErrControl] if that is not verified.
func Run(ctx context.Context, opt Options) ([]Result, error) {
	r, todo, err := prepare(ctx, opt)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if !opt.NoControl {
		if err := r.control(); err != nil {
			return nil, err
		}
	}
	var out []Result
	for _, m := range todo {
		x := r.check(m)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out = append(out, x)
		if opt.Done != nil {
			opt.Done(x)
		}
	}
	return out, nil
}

// prepare finds the mutants that opt names. The caller must close the runner.
func prepare(ctx context.Context, opt Options) (*runner, []*Mutant, error) {
	root, err := findRoot(opt.Dir)
	if err != nil {
		return nil, nil, err
	}
	all, err := List(root, opt.Protocol)
	if err != nil {
		return nil, nil, err
	}
	todo, err := named(all, opt.Names)
	if err != nil {
		return nil, nil, err
	}
	tmp, err := os.MkdirTemp("", "verbatim-mutants-")
	if err != nil {
		return nil, nil, err
	}
	return &runner{ctx: ctx, opt: opt, root: root, tmp: tmp, all: merge(root, todo)}, todo, nil
}

// named returns the mutants with these names, or all if there are none.
func named(all []*Mutant, names []string) ([]*Mutant, error) {
	var out []*Mutant
	for _, m := range all {
		if len(names) == 0 || slices.Contains(names, m.Name) {
			out = append(out, m)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(m *Mutant) bool { return m.Name == n }) {
			var have []string
			for _, m := range all {
				have = append(have, m.Name)
			}
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, n, strings.Join(have, ", "))
		}
	}
	return out, nil
}

// check applies, builds and checks one mutant.
func (r *runner) check(m *Mutant) Result {
	start := time.Now()
	x := Result{Name: m.Name, Title: m.Title, Breaks: m.Breaks, Paper: m.Paper, Finding: m.Finding, Wanted: m.Class, maxEvents: r.opt.MaxEvents}
	x.Err = r.mutated(checking, m, func(p *program) error { return p.hunt(m, &x) })
	x.Seconds = time.Since(start).Seconds()
	return x
}

// mutated builds a command with a mutant, and passes it to use.
func (r *runner) mutated(main string, m *Mutant, use func(*program) error) error {
	p, err := r.mutatedProgram(main, m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	defer os.RemoveAll(p.dir)
	return use(p)
}

// mutatedProgram returns the command with all mutants, unless pages are made: these show lines of
// source, which differ in a tree with all mutants.
func (r *runner) mutatedProgram(main string, m *Mutant) (*program, error) {
	if n := r.all.number[m.Name]; n > 0 && main == checking && r.opt.Out == "" {
		if all, err := r.programWithAll(); err == nil {
			p := &program{r: r, dir: filepath.Join(r.tmp, m.Name), made: made{all.path, n}, scenarios: all.scenarios, deep: all.deep}
			return p, os.MkdirAll(p.dir, 0o755)
		}
	}
	files, err := m.apply(r.root)
	if err != nil {
		return nil, err
	}
	return r.build(main, m.Name, files)
}

func (p *program) hunt(m *Mutant, x *Result) error {
	groups, err := m.order(p.scenarios)
	if err != nil {
		return err
	}
	for _, open := range groups {
		if err := p.huntIn(open, m, x); err != nil || x.Caught {
			return err
		}
	}
	return nil
}

// huntIn searches scenarios; open are those not yet exhausted.
func (p *program) huntIn(open []string, m *Mutant, x *Result) error {
	for _, how := range rounds {
		var left []string
		for _, scenario := range open {
			if how.runs == 0 && p.deep[scenario] && scenario != m.Scenario { // it takes too long to exhaust
				left = append(left, scenario)
				continue
			}
			s, err := p.search(scenario, how, x.wanted())
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			x.Searches = append(x.Searches, *s)
			if s.Verdict == explore.Violated {
				if err := p.caught(x, s); err != nil || x.Caught {
					return err
				}
			}
			if s.Verdict != explore.Verified && !s.exhausted {
				left = append(left, scenario)
			}
		}
		open = left
	}
	return nil
}

// order puts the scenario that the mutant names into a first group of its own.
func (m *Mutant) order(scenarios []string) ([][]string, error) {
	if m.Scenario == "" {
		return [][]string{scenarios}, nil
	}
	i := slices.Index(scenarios, m.Scenario)
	if i < 0 {
		return nil, fmt.Errorf("%w: %s: Scenario: there is no %s", ErrPatch, m.Name, m.Scenario)
	}
	return [][]string{{m.Scenario}, slices.Delete(slices.Clone(scenarios), i, i+1)}, nil
}

// caught records the violation of search s, if it has a wanted class or is the first of another class.
func (p *program) caught(x *Result, s *Search) error {
	file := s.counterexample
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.dir, file)
	}
	ce, err := explore.Load(file)
	if err != nil {
		return err
	}
	caught := x.Wanted == "" || slices.Contains(x.wanted(), ce.Class)
	if x.Class != "" && !caught {
		return nil
	}
	x.Scenario, x.Strategy, x.Class, x.Runs = s.Scenario, s.Strategy, ce.Class, s.Runs
	x.Found, x.Decisions = ce.Found, len(ce.Decisions)
	out, err := p.run(p.r.ctx, p.dir, "replay", file, "--width", timelineWidth)
	switch code := exitCode(err); code {
	case 1:
	case 0:
		return fmt.Errorf("%w: %s: the counterexample of %s does not fail when it is replayed", ErrTool, x.Name, s.Scenario)
	default:
		return fmt.Errorf("%s: %w", x.Name, err)
	}
	if x.Events, err = timelineRows(out); err != nil {
		return err
	}
	x.Caught = caught
	if p.r.opt.Out == "" {
		return nil
	}
	x.File = filepath.Join(p.r.opt.Out, x.Name+".counterexample.json")
	if err := os.MkdirAll(p.r.opt.Out, 0o755); err != nil {
		return err
	}
	ce.Mutant = x.Name
	if err := ce.Save(x.File); err != nil {
		return err
	}
	return p.page(x, file)
}

// page writes the page of a counterexample next to it. The mutant makes it: only there the run
// fails, and the page shows its source lines.
func (p *program) page(x *Result, file string) error {
	x.Page = strings.TrimSuffix(x.File, ".counterexample.json") + ".html"
	to, err := filepath.Abs(x.Page)
	if err != nil {
		return err
	}
	_, err = p.run(p.r.ctx, p.dir, "replay", file, "--html", to, "--overlay", filepath.Join(p.dir, "overlay.json"),
		"--note", note(x.Title, x.Breaks))
	if exitCode(err) != 1 {
		return fmt.Errorf("%w: %s: no page: %w", ErrTool, x.Name, err)
	}
	return nil
}

// Results for a mutant that was not caught.
const (
	survived    = "survived"
	otherReason = "other reason" // it was caught, but not for its own
)
