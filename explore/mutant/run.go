package mutant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Options say what to run and how.
type Options struct {
	Protocol string
	Names    []string      // of the mutants; empty: all
	Dir      string        // the source tree; empty: the one around the working directory
	Workers  int           // of each search; 0: one for each core
	MaxTime  time.Duration // for each search; 0: no limit
	Timers   string        // of each search, as explore.Options has it; empty: the scenario's
	Out      string        // directory for the counterexamples and their pages; empty: they are not kept
	// NoControl leaves out the run of the code as it is.
	NoControl bool
	// Kept is a folder where the result of that run is kept, so that it is made once for a
	// program; empty: nowhere.
	Kept string
	// Note, if set, is called with what there is to say about that run.
	Note func(string)
	// Done, if set, is called after each mutant.
	Done func(Result)
}

// Search is how the check of one scenario ended.
type Search struct {
	Scenario string          `json:"scenario"`
	Timers   string          `json:"timers"`
	Strategy string          `json:"strategy"`
	Verdict  explore.Verdict `json:"verdict"`
	Runs     uint64          `json:"runs"`
	Seconds  float64         `json:"seconds"`
	Reason   string          `json:"reason"` // of a violation or of not knowing

	counterexample string
	exhausted      bool
}

// Result is what became of a mutant.
type Result struct {
	Name    string
	Title   string
	Breaks  string
	Paper   string
	Finding string
	// Caught: a scenario is violated for the mutant's own reason, and the counterexample
	// replays.
	Caught bool
	// Wanted are the classes of violations that are its own reason, as its header says it;
	// empty: any.
	Wanted string

	// The search that found a violation.
	Scenario  string
	Strategy  string
	Class     string // of the violation
	Runs      uint64 // that the search took
	Found     int    // decisions at first
	Decisions int    // decisions after shrinking
	// Events is what a person has to follow in the counterexample: the rows of
	// the timeline that `verbatim replay` prints. Allocations, registrations and
	// connections are not among them, the posts of one write to several peers
	// are one, and so is a stretch of ordinary course.
	Events int
	File   string // the counterexample, if Options.Out is set
	Page   string // and the page that shows it

	Searches []Search // all of them; of a scenario the last one counts
	Seconds  float64  // for all of it, building too
	Err      error    // the mutant could not be applied, built or checked
}

// round is a search that every scenario gets that is still open.
type round struct {
	strategy string
	runs     int // at most; 0: no limit
}

// rounds are in the order in which they pay. Most bugs show in a few runs at random, or
// soon in a search of all. Some need a
// long run of certain steps, which sampling comes by long before an exhaustive
// search has got there; and only that one can say that a mutant survives.
var rounds = []round{{explore.Random, 2000}, {explore.Exhaustive, 20000}, {explore.Random, 50000}, {explore.Exhaustive, 0}}

// Run checks the mutants of a protocol, one after the other. A mutant with which
// something is wrong has that in its result. Run's own error is about the options
// or the code as it is, and wraps [ErrControl] if that is not verified.
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

// prepare finds the mutants that opt names. The runner is to be closed.
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
	return &runner{ctx: ctx, opt: opt, root: root, tmp: tmp}, todo, nil
}

// named are the mutants with these names, or all if there are none.
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

// runner runs mutants.
type runner struct {
	ctx  context.Context
	opt  Options
	root string
	tmp  string // for what it builds
}

func (r *runner) close() { os.RemoveAll(r.tmp) }

// program is a command of this module, built with some files replaced.
type program struct {
	r         *runner
	dir       string // for everything that belongs to it
	path      string
	scenarios []string
	deep      map[string]bool // those that `verbatim check` leaves out unless they are named
}

func (r *runner) build(main, name string, files map[string][]byte) (*program, error) {
	p := &program{r: r, dir: filepath.Join(r.tmp, name)}
	p.path = filepath.Join(p.dir, path.Base(main))
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	if err := goCommand(r.ctx, r.root, p.dir, files, "build", buildArgs(main, p.path)...); err != nil {
		return nil, err
	}
	if main != checking {
		return p, nil
	}
	out, err := command(r.ctx, p.dir, p.path, "list", "scenarios", "--json")
	if err != nil {
		return nil, err
	}
	if p.scenarios, p.deep, err = scenarios(out, r.opt.Protocol); err != nil {
		return nil, err
	}
	return p, nil
}

// scenarios reads the names of a protocol's scenarios from what `verbatim list
// scenarios --json` prints, and which of them are deep.
func scenarios(out []byte, protocol string) (names []string, deep map[string]bool, err error) {
	deep = map[string]bool{}
	for line := range bytes.Lines(out) {
		var x struct {
			Name string
			Deep bool
		}
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, nil, fmt.Errorf("%w: verbatim list scenarios --json printed %q: %w", ErrTool, line, err)
		}
		if strings.HasPrefix(x.Name, protocol+"/") {
			names, deep[x.Name] = append(names, x.Name), x.Deep
		}
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%w: protocol %s has no scenarios", ErrUnknown, protocol)
	}
	return names, deep, nil
}

// search checks one scenario. It goes on past violations of other classes than those that
// are sought, if any are.
func (p *program) search(scenario string, how round, seek []string) (*Search, error) {
	args := []string{"check", scenario, "--json", "--out", p.dir, "--workers", strconv.Itoa(p.r.opt.Workers),
		"--strategy", how.strategy, "--seed", "1", "--max-runs", strconv.Itoa(how.runs), "--max-time", p.r.opt.MaxTime.String()}
	if p.r.opt.Timers != "" {
		args = append(args, "--timers", p.r.opt.Timers)
	}
	for _, class := range seek {
		args = append(args, "--seek", class)
	}
	ctx := p.r.ctx
	if p.r.opt.MaxTime > 0 { // a mutant may loop where the search does not look at the clock
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*p.r.opt.MaxTime+time.Minute)
		defer cancel()
	}
	out, err := command(ctx, p.dir, p.path, args...)
	if code := exitCode(err); code != 0 && code != 1 && code != 3 {
		return nil, err
	}
	return readSearch(out)
}

// readSearch reads the line that `verbatim check --json` prints.
func readSearch(line []byte) (*Search, error) {
	var x struct {
		Search
		Counterexample string
		Exhausted      bool
	}
	if err := json.Unmarshal(line, &x); err != nil {
		return nil, fmt.Errorf("%w: verbatim check --json printed %q: %w", ErrTool, line, err)
	}
	if x.Scenario == "" || x.Verdict == "" || (x.Verdict == explore.Violated) != (x.Counterexample != "") {
		return nil, fmt.Errorf("%w: verbatim check --json printed %q", ErrTool, line)
	}
	x.counterexample, x.exhausted = x.Counterexample, x.Exhausted
	return &x.Search, nil
}

// check applies, builds and checks one mutant.
func (r *runner) check(m *Mutant) Result {
	start := time.Now()
	x := Result{Name: m.Name, Title: m.Title, Breaks: m.Breaks, Paper: m.Paper, Finding: m.Finding, Wanted: m.Class}
	x.Err = r.mutated(checking, m, func(p *program) error { return p.hunt(m, &x) })
	x.Seconds = time.Since(start).Seconds()
	return x
}

// mutated applies a mutant and builds a command with it, for use alone.
func (r *runner) mutated(main string, m *Mutant, use func(*program) error) error {
	files, err := m.apply(r.root)
	if err != nil {
		return err
	}
	p, err := r.build(main, m.Name, files)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	defer os.RemoveAll(p.dir)
	return use(p)
}

func (p *program) hunt(m *Mutant, x *Result) error {
	open, err := m.order(p.scenarios) // not searched to the end
	if err != nil {
		return err
	}
	for _, how := range rounds {
		var left []string
		for _, scenario := range open {
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

// order puts the scenario that the mutant names in front.
func (m *Mutant) order(scenarios []string) ([]string, error) {
	if m.Scenario == "" {
		return scenarios, nil
	}
	i := slices.Index(scenarios, m.Scenario)
	if i < 0 {
		return nil, fmt.Errorf("%w: %s: Scenario: there is no %s", ErrPatch, m.Name, m.Scenario)
	}
	return append([]string{m.Scenario}, slices.Delete(slices.Clone(scenarios), i, i+1)...), nil
}

// wanted are the classes of violations that are the mutant's own reason; none: all are.
func (x *Result) wanted() []string {
	if x.Wanted == "" {
		return nil
	}
	return strings.Split(x.Wanted, ", ")
}

// caught notes what search s found: the first violation of another class, or one that is wanted.
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
	out, err := command(p.r.ctx, p.dir, p.path, "replay", file, "--width", timelineWidth)
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
	if err := ce.Save(x.File); err != nil {
		return err
	}
	return p.page(x, file)
}

// page writes the page of a counterexample beside it, made by the mutant: only there
// does the run fail, and the lines of source are its own.
func (p *program) page(x *Result, file string) error {
	x.Page = strings.TrimSuffix(x.File, ".counterexample.json") + ".html"
	to, err := filepath.Abs(x.Page)
	if err != nil {
		return err
	}
	_, err = command(p.r.ctx, p.dir, p.path, "replay", file, "--html", to, "--overlay", filepath.Join(p.dir, "overlay.json"),
		"--note", "The bug, put in on purpose: "+x.Title+". "+x.Breaks)
	if exitCode(err) != 1 {
		return fmt.Errorf("%w: %s: no page: %w", ErrTool, x.Name, err)
	}
	return nil
}

// MaxEvents is how many events a person can be asked to follow. A counterexample
// with more is too long: either it was not shrunk well, or its timeline shows too
// much that is of ordinary course. Two workers do not find the same one each time, so
// this is a little more than what was seen (33, of which each write acknowledged is one).
const MaxEvents = 35

// TooLong: the counterexample has more than [MaxEvents] events.
func (x *Result) TooLong() bool { return x.Events > MaxEvents }

// timelineWidth is so wide that no row takes two lines.
const timelineWidth = "20000"

// timelineRows counts the rows of a timeline: the lines between the rule below
// the names of the hosts and the first that is empty.
func timelineRows(out []byte) (int, error) {
	in, n := false, 0
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		line := scan.Text()
		switch {
		case strings.HasPrefix(line, "───"):
			in = true
		case in && line == "":
			return n, nil
		case in && !strings.HasPrefix(line, "left out: ") && !strings.HasPrefix(line, "folded: "):
			n++
		}
	}
	return 0, fmt.Errorf("%w: verbatim replay printed no timeline", ErrTool)
}

// Verdict is the result in a word or two: caught, caught but for another reason, survived,
// or an error.
func (x *Result) Verdict() string {
	v := verdictOf(x.Err, x.Caught)
	if v == survived && x.Class != "" {
		return otherReason
	}
	if open := x.Undecided(); v == survived && len(open) > 0 {
		v += " (" + strings.Join(open, ", ") + " not exhausted)"
	}
	return v
}

// What became of a mutant, if it was not caught.
const (
	survived    = "survived"
	otherReason = "other reason" // it was caught, but not for its own
)

// verdictOf is what became of a mutant in a word.
func verdictOf(err error, caught bool) string {
	switch {
	case err != nil:
		return "error"
	case caught:
		return "caught"
	}
	return survived
}

// Undecided are the scenarios that neither caught a mutant nor were exhausted.
func (x *Result) Undecided() []string {
	last := map[string]explore.Verdict{}
	var names []string
	for _, s := range x.Searches {
		if _, seen := last[s.Scenario]; !seen {
			names = append(names, s.Scenario)
		}
		last[s.Scenario] = s.Verdict
	}
	return slices.DeleteFunc(names, func(n string) bool { return last[n] == explore.Verified || last[n] == explore.Violated })
}
