package litmus

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Options configure a run of a test. The zero value searches without a limit.
type Options struct {
	MaxTime time.Duration // for one test under one profile; 0: no limit
	MaxRuns uint64        // likewise
	// NoRuns omits the runs that show a wrong outcome.
	NoRuns bool
	// Stop, if set, is called before each run; the test stops if it returns true.
	Stop func() bool
}

// Got is the answer to a question.
type Got string

// The answers.
const (
	Reachable   Got = "Y"
	Unreachable Got = "N" // in the exhausted space
	Undecided   Got = "?" // a limit came first, or the test cannot be run
)

// Row is one question under one profile.
type Row struct {
	Outcome  string
	Cond     string
	Expected Got // Undecided if the file has none
	Got      Got
	// Counterexample is a run that reaches an outcome that should be impossible.
	Counterexample *explore.Counterexample
	scenario       *explore.Scenario
}

// OK reports whether the answer is the expected one, or the file expects none.
func (r *Row) OK() bool {
	return r.Got != Undecided && (r.Expected == Undecided || r.Got == r.Expected)
}

// Wrong reports whether the answer is certain and not the expected one.
func (r *Row) Wrong() bool { return r.Got != Undecided && !r.OK() }

// Replay runs the counterexample again, for its timeline.
func (r *Row) Replay() (*explore.Replay, error) { return r.Counterexample.Replay(r.scenario) }

// Result is the result of searching one test under one profile.
type Result struct {
	Test    *lang.Test
	Profile string
	Rows    []Row
	// States are the final states that were reached.
	Finals       []string
	Runs, States uint64
	Elapsed      time.Duration
	// Reason is why something is undecided; it wraps ErrUnsupported if the backend or
	// the profile does not support the test, and ErrStuck if no run finishes.
	Reason error
}

// Errors of a result.
var (
	ErrUnsupported = errors.New("unsupported")
	ErrStuck       = errors.New("no run finishes")
	ErrRefused     = errors.New("a statement cannot be carried out")
	ErrLimit       = errors.New("a limit came first")
)

// Profiles lists the profiles under which the test has an answer: those that it is
// restricted to, or all named ones, and those with a line of their own.
func Profiles(t *lang.Test) []string {
	var out []string
	add := func(name string) {
		if slices.Contains(out, name) {
			return
		}
		for i := range t.Outcomes {
			if expected(t, i, name) != Undecided {
				out = append(out, name)
				return
			}
		}
	}
	for _, n := range starred(t) {
		add(n)
	}
	for _, o := range t.Outcomes {
		for _, v := range o.Verdicts {
			if v.Profile != "*" && (len(t.Profiles) == 0 || strings.Contains(v.Profile, "+")) {
				add(v.Profile)
			}
		}
	}
	return out
}

// starred are the profiles that a line * covers.
func starred(t *lang.Test) []string {
	if len(t.Profiles) == 0 {
		return faults.ProfileNames()
	}
	return t.Profiles
}

// expected is the file's answer for a profile; Undecided if none.
func expected(t *lang.Test, outcome int, profile string) Got {
	star := Undecided
	for _, v := range t.Outcomes[outcome].Verdicts {
		got := Unreachable
		if v.Reached {
			got = Reachable
		}
		if v.Profile == profile {
			return got
		}
		if v.Profile == "*" && slices.Contains(starred(t), profile) {
			star = got
		}
	}
	return star
}

// Run searches all runs of a test under a profile and answers its questions.
func Run(t *lang.Test, profile string, opt Options) (*Result, error) {
	prof, err := faults.ProfileByName(profile)
	if err != nil {
		return nil, err
	}
	p, err := resolve(t)
	if err != nil {
		return nil, err
	}
	return p.run(prof.Name, opt)
}

func (p *program) run(profile string, opt Options) (*Result, error) {
	var got collected
	start := time.Now()
	eo := explore.Options{Profile: profile, Workers: 1, MaxTime: opt.MaxTime, MaxRuns: opt.MaxRuns, Stop: opt.Stop, NoShrink: true}
	er, err := explore.Check(p.scenario(&got, nil), eo)
	if err != nil {
		return nil, err
	}
	r := &Result{Test: p.t, Profile: profile, Runs: er.Runs, States: er.States, Finals: er.Outcomes}
	r.Reason = reason(p, er, &got)
	reached := make([]bool, len(p.conds))
	for _, final := range er.Outcomes { // those of the search, without the runs of the determinism check
		for i, y := range got.states[final] {
			reached[i] = reached[i] || y
		}
	}
	for i := range p.t.Outcomes {
		o := &p.t.Outcomes[i]
		row := Row{Outcome: p.t.OutcomeName(i), Cond: lang.CondText(o.Cond), Expected: expected(p.t, i, profile), Got: Undecided}
		switch {
		case reached[i] && (r.Reason == nil || errors.Is(r.Reason, ErrLimit)):
			row.Got = Reachable
		case r.Reason == nil:
			row.Got = Unreachable
		}
		if row.Wrong() && row.Got == Reachable && !opt.NoRuns {
			if err := row.find(p, eo); err != nil {
				return nil, err
			}
		}
		r.Rows = append(r.Rows, row)
	}
	r.Elapsed = time.Since(start)
	return r, nil
}

// find searches once more, for a run that reaches the row's outcome.
func (row *Row) find(p *program, opt explore.Options) error {
	opt.NoShrink = false
	row.scenario = p.scenario(&collected{}, []string{row.Outcome})
	er, err := explore.Check(row.scenario, opt)
	if err == nil {
		row.Counterexample = er.Counterexample
	}
	return err
}

// reason is why a search decides nothing, nil if it does.
func reason(p *program, er *explore.Result, got *collected) error {
	var refused error
	if got.runner != nil {
		refused = got.runner.refused
	}
	switch {
	case refused != nil && (errors.Is(refused, errors.ErrUnsupported) || errors.Is(refused, verbs.ErrUnsupported)):
		return fmt.Errorf("%w: %w", ErrUnsupported, refused)
	case refused != nil:
		return fmt.Errorf("%w: %w", ErrRefused, refused)
	case er.Verdict == explore.RanOut:
		return ErrLimit
	case er.Verdict == explore.Violated:
		return fmt.Errorf("%w: %s: %s", ErrRefused, er.Counterexample.Class, er.Counterexample.Message)
	case er.Verdict != explore.Verified:
		return er.Reason
	case len(er.Outcomes) == 0:
		return fmt.Errorf("%w: %s", ErrStuck, stuck(p, got.runner))
	}
	return nil
}

// stuck names the loops that no run got through.
func stuck(p *program, m *runner) string {
	var out []string
	for i, text := range p.untils {
		if !m.passed[i] {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "each loop ends in some run, and no run ends all of them"
	}
	sort.Strings(out)
	return strings.Join(out, ", ") + ", and it holds in no run"
}
