package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenario is something to check: a protocol, a workload, a model and faults.
type Scenario struct {
	// Name is "protocol/scenario".
	Name string
	// Doc says in a sentence or two what is checked.
	Doc string
	// Profile and Faults are the defaults; a command line can change both.
	Profile string
	Faults  string
	// Timers says when a timer may fire, as faults.ParseTimers reads it: idle, which is
	// also the default, free or skew(r). A command line can change it.
	Timers string
	// Strategy is the default strategy; empty means exhaustive.
	Strategy string
	// MaxRuns is the default number of runs of a random or pct search.
	MaxRuns uint64
	// Bounds says in words what the workload is bounded to.
	Bounds string
	// Sometimes names conditions that a search is expected to meet.
	Sometimes []string
	// Text is what the scenario was made of, if that is no Go code; its
	// counterexamples carry it.
	Text string
	// Build makes the world of one worker. The code in it reports to c.
	Build func(c *Case) (sim.Config, error)
}

// Case is one worker's side of a scenario: what its code reports to.
type Case struct {
	// Profile and Budget are what the world is to be built with.
	Profile faults.Profile
	Budget  faults.Budget
	// Strengthen is done at the cards of the world.
	Strengthen sim.Strengthen
	// Timers is when timers may fire there.
	Timers faults.Timers

	w         *sim.World
	dog       *watchdog
	pulse     pulse
	scenario  *Scenario
	setting   setting
	reset     []func()
	shows     []func() []Operation
	outcome   string
	sometimes uint64
	outcomes  map[string]bool
}

// ErrScenario is wrapped by errors about a scenario itself.
var ErrScenario = errors.New("explore: bad scenario")

// ErrUndecided is wrapped by a failure that is no violation: the checks of a scenario could not
// decide, for instance within the budget of a model. The verdict is [Unknown] then.
var ErrUndecided = errors.New("explore: the scenario's checks could not decide")

// OnReset registers f to be called before each run: it takes what the
// scenario's code keeps in variables back to its initial state.
func (c *Case) OnReset(f func()) { c.reset = append(c.reset, f) }

// Fail ends the run with a violation, which err describes. It must not be nil.
func (c *Case) Fail(err error) { c.w.Fail(err) }

// Inject makes a fault happen now, whatever the budget: see [sim.World.Inject].
func (c *Case) Inject(k faults.Kind, hosts ...string) error { return c.w.Inject(k, hosts...) }

// Heal makes the link between two hosts work again.
func (c *Case) Heal(a, b string) { c.w.Heal(a, b) }

// Abandon ends the run without an outcome: see [sim.World.Abandon].
func (c *Case) Abandon() { c.w.Abandon() }

// Point lets others go on here: see [sim.World.Point].
func (c *Case) Point() { c.w.Point() }

// Waiting lists the tasks that wait, as host/task in operation.
func (c *Case) Waiting() []string { return c.w.Waiting() }

// Sometimes notes that the i-th condition of Scenario.Sometimes was met.
func (c *Case) Sometimes(i int) { c.sometimes |= 1 << i }

// Meet notes that a condition of Scenario.Sometimes was met. One that is not among them is
// none of this scenario's: scenarios may share code that meets the conditions of all.
func (c *Case) Meet(condition string) {
	if i := slices.Index(c.scenario.Sometimes, condition); i >= 0 {
		c.Sometimes(i)
	}
}

// Outcome names the outcome of this run; the checker collects the set of them. It must follow
// from what was told with History or Report, since it is no part of a state by itself.
func (c *Case) Outcome(s string) { c.outcome = s }

// History tells the fingerprint of all that the scenario's checks remember. It
// must be called as soon as that has changed: states that differ in it are different.
// The change belongs to the task's last operation before the call. The call ends the step: other
// hosts can act, and this one can crash, before the code goes on. So change all that the checks
// remember, and set the outcome ([Case.Outcome]), before the call.
func (c *Case) History(p fingerprint.Print) { c.w.SetHistory(p) }

// Look says that the code looks at what the scenario's checks remember, and History was told. Call it
// before, unless the code calls History before its next operation and keeps no copy: otherwise the
// search does not know that what it does, or whether it fails, follows from that. The look belongs to
// the task's last operation before the call.
func (c *Case) Look() { c.w.LookAtHistory() }

// Report tells the fingerprint all that the running task has told the checks so far.
// It must be called when the task ends, and whenever it may die and be remembered. Use
// it, and not History, if the checks take the reports of different tasks together at the
// end of a run only, so that the order in which tasks report does not matter.
func (c *Case) Report(p fingerprint.Print) { c.w.Report(p) }

// Step is the number of the current event, to be used as a time.
func (c *Case) Step() int64 { return int64(c.w.Steps()) }

// setting is what the worlds of a check are built with.
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
	}
	cfg.Services = c.honest(cfg.Services)
	if c.w, err = sim.New(cfg); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, s.Name, err)
	}
	if x.apart {
		c.w.ForgetSymmetry()
	}
	return c, nil
}

// ErrReadOnly says that a service's ReadOnly is wrong. Calls that it names commute in a search,
// so there is no verdict then.
var ErrReadOnly = fmt.Errorf("%w: a service's ReadOnly names a request that changes its Hash", ErrScenario)

// honest makes services look whether what they call read-only is.
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

// endRunIf notes the outcome of a run that came to its end.
func (c *Case) endRunIf(finished bool) {
	if finished && c.outcome != "" {
		c.outcomes[c.outcome] = true
	}
}

// Classed is implemented by violations that have a class: a short stable name.
// Shrinking keeps the class.
type Classed interface{ Class() string }

// ClassOf is the class of a violation.
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
