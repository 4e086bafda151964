package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenario is a subject of checking: a protocol, a workload, a model and faults.
type Scenario struct {
	// Name is "protocol/scenario".
	Name string
	// Doc describes in a sentence or two what is checked.
	Doc string
	// Profile and Faults are the defaults; a command line can override both.
	Profile string
	Faults  string
	// Timers is the regime of timers, as faults.ParseTimers reads it: idle, which is
	// also the default, free or skew(r). A command line can override it.
	Timers string
	// Strategy is the default strategy; empty means exhaustive.
	Strategy string
	// MaxRuns is the default number of runs of a random or pct search.
	MaxRuns uint64
	// Bounds describes the bounds of the workload.
	Bounds string
	// Sometimes names conditions that a search is expected to meet.
	Sometimes []string
	// Text is the source of the scenario, if that is not Go code; its counterexamples
	// include it.
	Text string
	// Build makes the world of one worker. Its code reports to c.
	Build func(c *Case) (sim.Config, error)
}

// Case is one worker's instance of a scenario, to which its code reports.
type Case struct {
	// Profile and Budget are those to build the world with.
	Profile faults.Profile
	Budget  faults.Budget
	// Strengthen is applied to the cards of the world.
	Strengthen sim.Strengthen
	// Timers is the regime of timers there.
	Timers faults.Timers

	w          *sim.World
	dog        *watchdog
	pulse      pulse
	scenario   *Scenario
	setting    setting
	reset      []func()
	remembered func() fingerprint.Print // see Remembers
	hist       fingerprint.Print        // the argument of the last History
	named      string                   // the outcome at the last report
	reported   bool                     // this step has called Report, so it may change the outcome
	shows      []func() []Operation
	outcome    string
	sometimes  uint64
	outcomes   map[string]bool
}

// ErrScenario is wrapped by errors about the scenario itself.
var ErrScenario = errors.New("explore: bad scenario")

// ErrUndecided is wrapped by a failure that is not a violation: the checks of a scenario
// could not decide, for instance within the budget of a model. The verdict is then
// [Unknown].
var ErrUndecided = errors.New("explore: the scenario's checks could not decide")

// OnReset registers f, which is called before each run to restore the initial values of
// the scenario's variables.
func (c *Case) OnReset(f func()) { c.reset = append(c.reset, f) }

// Remembers registers f, which returns the fingerprint of the checks' memory. If a step changes that
// fingerprint and does not call History with it, the verdict is Unknown, with [sim.ErrUnreported].
func (c *Case) Remembers(f func() fingerprint.Print) { c.remembered = f }

// Fail stops the run with the violation err, which must not be nil.
func (c *Case) Fail(err error) { c.w.Fail(err) }

// Inject makes a fault happen now, regardless of the budget: see [sim.World.Inject].
func (c *Case) Inject(k faults.Kind, hosts ...string) error { return c.w.Inject(k, hosts...) }

// Heal makes the link between two hosts work again.
func (c *Case) Heal(a, b string) { c.w.Heal(a, b) }

// Abandon ends the run without an outcome: see [sim.World.Abandon].
func (c *Case) Abandon() { c.w.Abandon() }

// Point lets others run here: see [sim.World.Point].
func (c *Case) Point() { c.w.Point() }

// Sometimes records that the i-th condition of Scenario.Sometimes was met.
func (c *Case) Sometimes(i int) {
	if c.w == nil || !c.w.Dying() { // Build has no world yet
		c.sometimes |= 1 << i
	}
}

// Meet records that a condition of Scenario.Sometimes was met. Other conditions are
// ignored: scenarios may share code that meets the conditions of all.
func (c *Case) Meet(condition string) {
	if i := slices.Index(c.scenario.Sometimes, condition); i >= 0 {
		c.Sometimes(i)
	}
}

// Outcome names the outcome of this run; the checker collects the set of them. A step that
// changes the outcome must report: it calls Outcome and then History, which adds the outcome to the
// state, or Report and then Outcome. In the second case the outcome must be a function of all reports so
// far. Otherwise the verdict is Unknown, with [sim.ErrUnreported].
func (c *Case) Outcome(s string) { c.outcome = s }

// History sets the fingerprint of everything that the scenario's checks remember. Call
// it as soon as that has changed: states with different fingerprints are different. The
// change belongs to the task's last operation before the call. The call ends the step:
// other hosts can act, and this one can crash, before the code continues. So update the
// checks' memory and the outcome ([Case.Outcome]) before the call.
func (c *Case) History(p fingerprint.Print) {
	c.reports(p)
	c.w.SetHistory(p.String(c.outcome))
}

// begin makes the initial memory of the checks part of the initial state.
func (c *Case) begin() {
	c.reports(fingerprint.Print{})
	if c.remembered == nil {
		return
	}
	if c.hist = c.remembered(); c.w != nil {
		c.w.SetHistory(c.hist)
	}
}

// reports records what the latest report contained.
func (c *Case) reports(p fingerprint.Print) { c.hist, c.named, c.reported = p, c.outcome, false }

// unreported reports whether the checks' memory or the outcome has changed since the last report.
func (c *Case) unreported() bool {
	if c.reported {
		c.named, c.reported = c.outcome, false
	}
	return c.named != c.outcome || c.remembered != nil && c.remembered() != c.hist
}

// Look announces that the code reads the memory of the scenario's checks, which
// History fingerprints. Call it before the look, unless the code calls History before its next
// operation and keeps no copy. Without it the search does not know that the code's next
// operations, or its failure, depend on that memory. The look belongs to the task's last
// operation before the call.
func (c *Case) Look() { c.w.LookAtHistory() }

// LookAtLives announces that the code looks at which lives of a host have begun, which it can
// know from [sim.Node].Again. Without it the search does not know that what the code does next
// depends on that. The look belongs to the task's last operation before the call. The lives of
// package scenario call it.
func (c *Case) LookAtLives(host string) { c.w.LookAtLives(host) }

// Report sets the fingerprint of everything that the running task has reported so far.
// Call it when the task finishes, and whenever it may die and be remembered. Use it
// instead of History if the checks combine the reports of different tasks only at the
// end of a run, so that the order in which tasks report does not matter.
func (c *Case) Report(p fingerprint.Print) {
	c.w.Report(p)
	c.reported = true
}

// Step returns the number of the current event, which serves as a time.
func (c *Case) Step() int64 { return int64(c.w.Steps()) }

// setting is the configuration of a check's worlds.
type setting struct {
	profile    faults.Profile
	budget     faults.Budget
	timers     faults.Timers
	strengthen sim.Strengthen
	eager      bool
	apart      bool // Options.NoSymmetry
}

// settingOf reads the names of a profile, faults and a regime of timers.
func settingOf(profile, budget, timers string) (x setting, err error) {
	if x.profile, err = faults.ProfileByName(profile); err != nil {
		return x, err
	}
	if x.budget, err = faults.ParseBudget(budget); err != nil {
		return x, err
	}
	x.timers, err = faults.ParseTimers(timers)
	return x, err
}

// newCase builds the world of one worker, whose steps d watches.
func newCase(d *watchdog, s *Scenario, x setting) (*Case, error) {
	c := &Case{Profile: x.profile, Budget: x.budget, Strengthen: x.strengthen, Timers: x.timers,
		setting: x, scenario: s, outcomes: map[string]bool{}, dog: d}
	d.watch(c)
	c.pulse.begin()
	defer c.pulse.end()
	if len(s.Sometimes) > 64 {
		return nil, fmt.Errorf("%w: %s has %d sometimes conditions; at most 64", ErrScenario, s.Name, len(s.Sometimes))
	}
	if s.Build == nil {
		return nil, fmt.Errorf("%w: %s: Build is nil; set it to a function that returns what runs", ErrScenario, s.Name)
	}
	cfg, err := s.Build(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, s.Name, err)
	}
	cfg.Eager = cfg.Eager || x.eager
	cfg.Strengthen |= x.strengthen
	cfg.Timers = x.timers
	if x.eager {
		cfg.MaxPieces = 0
	}
	cfg.Reset = func() {
		c.outcome = ""
		for _, f := range c.reset {
			f()
		}
		c.begin()
	}
	if setup := cfg.Setup; setup != nil {
		cfg.Setup = func(hosts []*sim.Host) {
			setup(hosts)
			c.begin()
		}
	}
	cfg.Services, cfg.Unreported = c.honest(cfg.Services), c.unreported
	if c.w, err = sim.New(cfg); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, s.Name, err)
	}
	if x.apart {
		c.w.ForgetSymmetry()
	}
	return c, nil
}

// ErrReadOnly: a service's ReadOnly is wrong. Calls that it names commute in a search,
// so there is no verdict.
var ErrReadOnly = fmt.Errorf("%w: a service's ReadOnly names a request that changes its Hash", ErrScenario)

// honest makes services verify their ReadOnly.
func (c *Case) honest(services []sim.Service) []sim.Service {
	services = slices.Clone(services)
	for i := range services {
		s := services[i]
		if s.ReadOnly == nil {
			continue
		}
		services[i].Apply = func(from string, req []byte) []byte {
			if !s.ReadOnly(req) {
				return s.Apply(from, req)
			}
			before := s.Hash()
			resp := s.Apply(from, req)
			if s.Hash() != before {
				c.w.Fail(fmt.Errorf("%w: %s of %s", ErrReadOnly, s.Name, s.Host))
			}
			return resp
		}
	}
	return services
}

// endRunIf records the outcome of a completed run.
func (c *Case) endRunIf(finished bool) {
	if finished && c.outcome != "" {
		c.outcomes[c.outcome] = true
	}
}

// Classed is implemented by violations with a class: a short stable name, which
// shrinking preserves.
type Classed interface{ Class() string }

// ClassOf returns the class of a violation.
func ClassOf(err error) string {
	var c Classed
	if errors.As(err, &c) {
		return c.Class()
	}
	if undecided(err) {
		return "undecided"
	}
	return "violation"
}
