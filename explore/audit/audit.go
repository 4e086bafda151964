package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Options configure the sampling. The zero value samples for a few seconds.
type Options struct {
	// Explore has the profile, the faults and the bounds of the audited search.
	Explore explore.Options
	// Runs is how many runs are sampled; 0 means DefaultRuns. At one state of each, the
	// audit does everything that a rule omits.
	Runs int
	Seed uint64
}

// DefaultRuns is the default of [Options].Runs.
const DefaultRuns = 100

// The claims that are tested.
const (
	Commute   = "steps that use nothing in common commute"
	Alone     = "a private step can be taken alone"
	Symmetry  = "interchangeable hosts are interchangeable"
	Twins     = "states with one fingerprint have one future"
	Placement = "late placement and the moments of crashes lose nothing"
)

// Claims are all claims, in the order in which they are reported.
var Claims = []string{Commute, Alone, Symmetry, Twins, Placement}

// ErrFinding is wrapped by every [Finding].
var ErrFinding = errors.New("audit: a rule of the search does not hold")

// Finding is a claim that does not hold at some state.
type Finding struct {
	Claim string
	Why   string
	Path  []string // the steps to the state
	Steps []string // and those that show it
}

func (f *Finding) Error() string {
	return fmt.Sprintf("%v: %s: %s\n  after  %s\n  then   %s", ErrFinding, f.Claim, f.Why, strings.Join(f.Path, " · "), strings.Join(f.Steps, " · "))
}

func (f *Finding) Unwrap() error { return ErrFinding }

// Report is the result of an audit. If it has findings, the verdict of the search may
// depend on a false claim.
type Report struct {
	Scenario string
	Seed     uint64
	Result   *explore.Result
	Tried    map[string]int // how often each claim was tried
	// Of the compared states, Missed counts those that differ only in the names of interchangeable
	// hosts but that the search distinguishes: it does their work twice.
	Renamed, Missed int
	Findings        []*Finding // at most maxFindings
	// Stopped: the options' Stop stopped the audit before it had made its runs.
	Stopped bool
}

// maxFindings stops an audit: more of the same would not help. No claim gets more than maxOfClaim of
// them, so that others are tried.
const (
	maxFindings = 5
	maxOfClaim  = 2
)

// auditor makes one audit.
type auditor struct {
	c   *explore.Case
	w   *sim.World
	rng *rand.Rand
	r   *Report

	stop func() bool // of the options; nil: never
}

// enough reports whether to stop the audit.
func (a *auditor) enough() bool {
	if a.stop != nil && a.stop() {
		a.r.Stopped = true
	}
	return a.r.Stopped || a.r.full()
}

// Run searches the scenario and audits the search. The error is about the scenario or the
// options, or an [explore.HangError]; if the search was made, there is a report with it.
func Run(s *explore.Scenario, opt Options) (*Report, error) {
	opt.Runs = cmp.Or(opt.Runs, DefaultRuns)
	r := &Report{Scenario: s.Name, Seed: opt.Seed, Tried: map[string]int{}}
	o := opt.Explore
	o.Strategy = explore.Exhaustive
	var err error
	if r.Result, err = explore.Check(s, o); err != nil {
		if r.Result == nil {
			return nil, err
		}
		return r, err
	}
	o.Resume, o.Save = "", ""
	err = explore.With(s, o, func(c *explore.Case) {
		a := &auditor{c: c, w: c.World(), rng: rand.New(rand.NewPCG(opt.Seed, 1)), r: r}
		a.stop = opt.Explore.Stop
		a.sample(opt.Runs)
	})
	if err != nil {
		return r, err
	}
	for _, eager := range []bool{false, true} {
		o.Eager = eager
		err = explore.With(s, o, func(c *explore.Case) {
			a := &auditor{c: c, w: c.World(), rng: rand.New(rand.NewPCG(opt.Seed, 2)), r: r}
			a.stop = opt.Explore.Stop
			a.placed(opt.Runs)
		})
		if err != nil {
			return r, err
		}
	}
	o.Eager = false
	return r, bothWays(s, o, opt.Runs, r)
}

// sample makes random runs and tests the claims along them.
func (a *auditor) sample(runs int) {
	met := map[print]*meeting{}
	for range runs {
		t := a.run(nil, follow{}, a.rng.IntN(4) > 0)
		if len(t.sights) > 1 {
			a.pairs(t, a.rng.IntN(len(t.sights)-1))
		}
		a.permuted(t)
		a.twins(t, met)
		if a.enough() {
			return
		}
	}
}

// found records a finding.
func (a *auditor) found(claim string, t *trail, at int, why string, steps ...step) {
	f := &Finding{Claim: claim, Why: why}
	for i := range t.steps[:at] {
		f.Path = append(f.Path, t.steps[i].name)
	}
	for i := range steps {
		f.Steps = append(f.Steps, steps[i].String())
	}
	a.r.add(f)
}

// add keeps a finding, unless there are enough.
func (r *Report) add(f *Finding) {
	same := 0
	for _, x := range r.Findings {
		if x.Claim == f.Claim {
			same++
		}
	}
	if same < maxOfClaim && !r.full() {
		r.Findings = append(r.Findings, f)
	}
}

func (r *Report) full() bool { return len(r.Findings) >= maxFindings }

// placed makes random runs, in eager mode or not: none may violate a promise that the
// search has verified, or have an outcome that it has not found.
func (a *auditor) placed(runs int) {
	if a.r.Result.Verdict != explore.Verified {
		return
	}
	known := map[string]bool{}
	for _, o := range a.r.Result.Outcomes {
		known[o] = true
	}
	for range runs {
		t := a.run(nil, follow{}, a.rng.IntN(4) > 0)
		if t.end == sim.Finished || t.err != nil && !errors.Is(t.err, sim.ErrLimit) {
			a.r.Tried[Placement]++ // other runs test nothing
		}
		if t.end == sim.Finished && t.outcome != "" && !known[t.outcome] {
			a.found(Placement, t, len(t.steps), fmt.Sprintf("the search has not found the outcome %q", t.outcome))
		}
		if t.err != nil && !errors.Is(t.err, sim.ErrLimit) {
			a.found(Placement, t, len(t.steps), fmt.Sprintf("the search has verified what this run violates: %v", t.err))
		}
		if a.enough() {
			return
		}
	}
}

// Test audits a scenario in a Go test.
func Test(t testing.TB, s *explore.Scenario, opt Options) *Report {
	t.Helper()
	r, err := Run(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("%s, seed %d: %v", s.Name, opt.Seed, f)
	}
	return r
}
