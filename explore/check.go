package explore

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Strategies of a search.
const (
	Exhaustive = "exhaustive"
	Random     = "random"
	PCT        = "pct"
)

// Options say how to check a scenario. The zero value checks it exhaustively
// with the scenario's own profile and faults on all cores.
type Options struct {
	Profile  string // overrides the scenario's
	Faults   string // overrides the scenario's; "none" for no faults
	Timers   string // overrides the scenario's: idle, free or skew(r)
	Strategy string
	// Strengthen applies remedies to the requests of the protocol.
	Strengthen sim.Strengthen
	Seed       uint64
	MaxRuns    uint64        // 0: no limit (random and pct: 10,000; mixed: of both searches together)
	MaxTime    time.Duration // 0: no limit
	// MaxMemory is an approximate limit of the memory of the process, in bytes. An exhaustive search that reaches it
	// stops with [RanOut]; it can be saved, and resumed with a higher limit. 0: no limit.
	MaxMemory uint64
	Workers   int // 0: one for each core
	// NoSymmetry distinguishes interchangeable hosts, to show what symmetry saves and
	// that it loses nothing.
	NoSymmetry bool
	// EveryOrder makes the search try every event at every state: it omits no edge
	// (sleep.go), and takes no step alone (chain.go). It shows what these rules save
	// and that they lose nothing.
	EveryOrder bool
	// NoPrivate makes the search take no step alone, but it uses sleep sets, which omit edges
	// and never a state: it finds as many states as with EveryOrder.
	NoPrivate bool
	// Backwards makes the search try what can happen at each state in the opposite order. It finds
	// the same, and with EveryOrder and NoSymmetry in the same number of states: a fingerprint that
	// takes two states for one is likely to lose something else.
	Backwards bool
	// Edges, if set, is called for each step of an exhaustive search. It serves to compare or draw
	// state graphs. Workers call it concurrently.
	Edges func(*Edge)
	// Eager makes each arrival, placement and acknowledgement a separate step, to show
	// that late resolution loses nothing. It implies EveryOrder.
	Eager bool
	// Resume continues a search from a file; Save writes one if a limit stops the
	// search.
	Resume, Save string
	// Seek, if not empty, lists the classes of violations that stop the search. It
	// continues past others, as if the run ended there. If it finds none of these
	// classes, it reports the first of the others when it finishes, or before it
	// reports a limit.
	Seek []string
	// NoShrink keeps a counterexample as it was found.
	NoShrink bool
	// StepTimeout is how much real time one step may take before the check gives up
	// with verdict Unknown and a [HangError]. 0 means DefaultStepTimeout; a negative
	// value means no limit.
	StepTimeout time.Duration
	// Progress, if set, is called about ten times a second.
	Progress func(Progress)
	// Stop, if set, is called before each run, and now and then during a long one; the
	// check stops if it returns true. Workers call it concurrently.
	Stop func() bool

	// tree: the search does not recognise states, so it makes one complete run for each
	// class of runs that differ only in the order of commuting steps. They are counted
	// here.
	tree *atomic.Uint64
}

// Verdict is the result of a check as a word.
type Verdict string

// The verdicts.
const (
	Verified Verdict = "verified" // exhausted within the stated bounds
	Clean    Verdict = "clean"    // sampled, nothing found
	Violated Verdict = "violated"
	RanOut   Verdict = "ran-out" // a limit stopped an exhaustive search, or Stop any search
	Unknown  Verdict = "unknown" // the check could not decide
)

// Result is the result of a check.
type Result struct {
	Scenario  string
	Profile   string
	Faults    string
	Timers    faults.Timers
	Strategy  string
	Bounds    string
	Verdict   Verdict
	Exhausted bool   // nothing remains to be searched
	Runs      uint64 // like all other numbers, Sometimes and Outcomes: over all parts of a resumed search
	Resumed   uint64 // how many of the runs were made before the search was resumed
	Sampled   uint64 // how many random runs [Mixed] made first
	States    uint64
	Edges     uint64
	Choices   uint64
	MaxDepth  int
	Elapsed   time.Duration
	Workers   int
	Seed      uint64
	// EagerLog10 is the decimal logarithm of the number of eager states that the states
	// of the search represent.
	EagerLog10 float64
	// Remaining is the number of runs that a sampling search did not make because it ran out. It is
	// negative if it is unknown, as it always is for an exhaustive search.
	Remaining float64
	Space     Space
	Sometimes []Condition
	Outcomes  []string
	// Counterexample is set if the verdict is Violated.
	Counterexample *Counterexample
	// Reason explains the verdict Unknown, or the verdict RanOut if MaxMemory is the cause.
	Reason error
	Steps  uint64 // simulated events
	Posts  uint64 // simulated send work requests
	// Strengthen are the applied remedies; Strengthen.Inlined had to leave NotInline
	// requests unchanged.
	Strengthen sim.Strengthen
	NotInline  uint64
	// Exercised are the promises of cards that the code relied on, and MaxPayload is
	// the longest payload that it posted.
	Exercised  faults.Exercise
	MaxPayload int
	// TimedWaits counts the waits with a finite deadline that ran, and ClockReads the
	// calls of Now.
	TimedWaits, ClockReads uint64
	// VainPolls counts the polls that had to return an available completion, because
	// the three polls before had not.
	VainPolls uint64
	// InTime counts the service calls whose timeout was not explored: see sim.Service.Slow.
	InTime uint64
	// CutShort counts the messages, stores and loads that did not tear in all ways: see sim.Config.MaxPieces.
	CutShort uint64
	// MaxPieces is that of the scenario, if CutShort is not 0.
	MaxPieces int
}

// Condition is a `sometimes` condition and whether it was met.
type Condition struct {
	Name string
	Met  bool
}

// ErrNotDeterministic: a scenario failed the determinism check.
var ErrNotDeterministic = errors.New("explore: the scenario is not deterministic: the same choices led to a different run; " +
	"look for a clock, a map order, a goroutine, or a variable that OnReset does not reset")

// ErrOptions is wrapped by errors about options.
var ErrOptions = errors.New("explore: bad options")

// Check checks one scenario. The error is about the scenario or the options; a
// violation is a Result, not an error. Result and error are both set only if
// Options.Save could not be written.
func Check(s *Scenario, opt Options) (*Result, error) {
	if cmp.Or(opt.Strategy, s.Strategy) == Mixed {
		return mixed(s, opt)
	}
	x, err := opt.resolve(s)
	if err != nil {
		return nil, err
	}
	head := Result{Scenario: s.Name, Profile: x.profile.Name, Faults: x.budget.String(), Timers: x.timers, Strategy: opt.Strategy,
		Bounds: s.Bounds, Workers: opt.Workers, Seed: opt.Seed, Strengthen: x.strengthen}
	r, start := head, time.Now()
	var failed error
	d, hang := watched(s, opt.StepTimeout, func(d *watchdog) { failed = r.check(d, s, x, opt) })
	if hang != nil {
		return head.hung(d, hang, time.Since(start)), nil
	}
	if failed != nil && r.Verdict == "" {
		return nil, failed
	}
	return &r, failed
}

// hung returns the result of a check that was given up. It keeps earlier findings.
func (r *Result) hung(d *watchdog, hang error, took time.Duration) *Result {
	r.Verdict, r.Reason, r.Elapsed = Unknown, hang, took
	if ce := d.best.Load(); ce != nil {
		r.Verdict, r.Counterexample = Violated, ce
	}
	return r
}

// check runs the check. An error with a verdict means that there is a result
// nevertheless.
func (r *Result) check(d *watchdog, s *Scenario, x setting, opt Options) (err error) {
	cases := make([]*Case, opt.Workers)
	for i := range cases {
		if cases[i], err = newCase(d, s, x); err != nil {
			return err
		}
		defer cases[i].close()
	}
	if err := selfCheck(cases[0]); err != nil {
		r.Verdict, r.Reason = Unknown, err
		return nil
	}
	opt.Stop = d.stop(opt.Stop)
	start := time.Now()
	if opt.Strategy != Exhaustive {
		checkSampling(cases, opt, r, start)
		r.Elapsed = time.Since(start)
		return nil
	}
	search, err := checkExhaustive(s, cases, opt, r, start)
	if err != nil {
		return err
	}
	search.totals.Elapsed += time.Since(start)
	r.Elapsed = search.totals.Elapsed
	// After a failure the workers' unfinished jobs are lost.
	if r.Verdict == RanOut && opt.Save != "" && !d.hung.Load() {
		return search.save(opt.Save, r, &opt, cases[0])
	}
	return nil
}

// resolve fills in the defaults and checks the options.
func (o *Options) resolve(s *Scenario) (setting, error) {
	o.Strategy = cmp.Or(o.Strategy, s.Strategy, Exhaustive)
	x, err := settingOf(cmp.Or(o.Profile, s.Profile, "strong"), cmp.Or(o.Faults, s.Faults), cmp.Or(o.Timers, s.Timers))
	x.strengthen, x.eager, x.apart = o.Strengthen, o.Eager, o.NoSymmetry
	switch {
	case err != nil:
		return x, fmt.Errorf("%w: %w", ErrOptions, err)
	case !slices.Contains([]string{Exhaustive, Random, PCT}, o.Strategy):
		return x, fmt.Errorf("%w: unknown strategy %q; known: exhaustive, random, pct and mixed", ErrOptions, o.Strategy)
	case o.Workers < 0 || o.Workers > 1024:
		return x, fmt.Errorf("%w: %d workers; 1 to 1024, or 0 for one per core", ErrOptions, o.Workers)
	}
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	if o.Strategy != Exhaustive && o.MaxTime == 0 {
		o.MaxRuns = cmp.Or(o.MaxRuns, s.MaxRuns, 10000)
	}
	return x, nil
}

func checkExhaustive(s *Scenario, cases []*Case, opt Options, r *Result, start time.Time) (*search, error) {
	x := newSearch(cases[0], opt.tree)
	x.every, x.backwards, x.edges, x.seek = opt.EveryOrder || opt.Eager, opt.Backwards, opt.Edges, opt.Seek
	x.noPrivate = opt.NoPrivate
	x.limit = opt.limits(start)
	defer x.memory.bound(opt.MaxMemory)()
	x.push(&chain{At: noState, Todo: []sim.Actor{0}})
	if opt.Resume != "" {
		if err := x.load(opt.Resume, r, &opt, cases[0]); err != nil {
			return nil, err
		}
	}
	done := cases[0].dog.watchProgress(opt.Progress, func() Progress {
		x.mu.Lock()
		defer x.mu.Unlock()
		return Progress{Scenario: s.Name, Runs: x.runs, States: x.states.len(), Frontier: x.left,
			Remaining: unknown, Elapsed: x.totals.Elapsed + time.Since(start)}
	})
	inParallel(cases, x.work)
	done()
	r.Resumed = x.totals.Runs
	x.totals.Runs = x.runs
	r.collect(cases, &x.totals, &x.tally)
	r.Runs, r.States = x.runs, x.states.len()
	r.EagerLog10 = math.Log10(max(x.tally.Eager, 1))
	if x.failed == nil {
		x.failed, x.bad = x.passed, x.past
		r.Exhausted = !x.ranOut
	}
	switch {
	case x.broken != nil:
		r.Verdict, r.Reason, r.Exhausted = Unknown, x.broken, false
	case x.failed != nil:
		r.violated(cases[0], opt, x.failed, &moves{path: x.bad})
	case x.ranOut:
		r.Verdict, r.Remaining, r.Reason = RanOut, unknown, x.full
	default:
		r.Verdict, r.Exhausted = Verified, true
	}
	return x, nil
}

// violated records and shrinks a counterexample.
func (r *Result) violated(c *Case, opt Options, err error, pol sim.Policy) {
	ce, rerr := newCounterexample(c, r, pol)
	if rerr != nil {
		r.Verdict, r.Reason = Unknown, fmt.Errorf("%w (it had failed with: %v)", rerr, err)
		return
	}
	unknown := undecided(err)
	if !unknown {
		c.dog.keep(ce)
	}
	if !opt.NoShrink {
		ce.shrink(c)
	}
	r.Verdict, r.Counterexample = Violated, ce
	if unknown {
		r.Verdict, r.Reason = Unknown, err
	} else if again := ce.again(c); again != nil {
		r.Verdict, r.Reason, r.Counterexample = Unknown, fmt.Errorf("%w (it had failed with: %v)", again, err), nil
	}
}

// undecided reports whether a failure is about the scenario or the simulator rather
// than about the promise.
func undecided(err error) bool {
	return slices.ContainsFunc([]error{sim.ErrLimit, sim.ErrFailNil, sim.ErrDaemonReports, sim.ErrNobodyReports, sim.ErrNobodyInjects, sim.ErrInjects, sim.ErrUnreported, sim.ErrConfig, ErrScenario, ErrUndecided},
		func(x error) bool { return errors.Is(err, x) })
}
