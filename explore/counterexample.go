package explore

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/whole"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// FileVersion is the version of the counterexample's file.
const FileVersion = 1

// Counterexample is a run that violates a promise. Its file is small: it holds the
// decisions at which the run left the default, by names that survive edits.
type Counterexample struct {
	Version  int    `json:"version"`
	Scenario string `json:"scenario"`
	Profile  string `json:"profile"`
	Faults   string `json:"faults"`
	// Strengthen names what the cards did, as sim.ParseStrengthen reads it.
	Strengthen string `json:"strengthen,omitempty"`
	// Timers is the regime of timers; empty, in older files, means idle.
	Timers    string     `json:"timers"`
	Class     string     `json:"class"`
	Message   string     `json:"message"`
	Decisions []Decision `json:"decisions"`
	// Trace is a hash of all states of the run, to detect a replay that differs.
	Trace string `json:"trace"`
	// Found counts the decisions before shrinking, and Tries the runs that
	// shrinking took.
	Found int `json:"found"`
	Tries int `json:"tries"`
	// Text is the text of the scenario, if it has one.
	Text string `json:"text,omitempty"`
	// Mutant is the name of the mutant in which the run fails; empty for the unchanged code.
	Mutant string `json:"mutant,omitempty"`
}

// Errors about counterexample files.
var (
	ErrFile    = errors.New("explore: not a counterexample file")
	ErrVersion = errors.New("explore: a file of another version")
	// ErrNotReproduced: the run no longer fails in this way, since the code changed.
	ErrNotReproduced = errors.New("explore: the run no longer fails in this way")
)

// newCounterexample repeats the run of pol, under names.
func newCounterexample(c *Case, r *Result, pol sim.Policy) (*Counterexample, error) {
	g := newGuide(c.w, nil)
	g.raw = pol
	_, err := c.run(g)
	if err == nil {
		return nil, ErrNotDeterministic
	}
	ce := &Counterexample{Version: FileVersion, Scenario: r.Scenario, Profile: r.Profile, Faults: r.Faults,
		Strengthen: r.Strengthen.String(), Timers: r.Timers.String(), Class: ClassOf(err), Message: err.Error(), Decisions: g.taken, Found: len(g.taken), Text: c.scenario.Text}
	ce.Trace = fmt.Sprintf("%016x", g.trace)
	return ce, nil
}

// try runs decisions and reports whether they fail in ce's class. If so, ce becomes
// that run, whose own decisions may be fewer still.
func (ce *Counterexample) try(c *Case, ds []Decision, best *int) bool {
	ce.Tries++
	g := newGuide(c.w, ds)
	g.limit = 4000
	_, err := c.run(g)
	if !ce.fails(err) {
		return false
	}
	if len(g.taken) > len(ce.Decisions) || len(g.taken) == len(ce.Decisions) && g.steps >= *best {
		return false
	}
	ce.Decisions, ce.Message, *best = g.taken, err.Error(), g.steps
	ce.Trace = fmt.Sprintf("%016x", g.trace)
	if c.dog.best.Load() != nil {
		c.dog.keep(ce)
	}
	return true
}

// fails reports whether a run failed like the counterexample.
func (ce *Counterexample) fails(err error) bool {
	return err != nil && ClassOf(err) == ce.Class
}

// again makes the run in a fresh world, as a replay does. A violation that does not
// reappear depends on a variable that earlier runs have changed.
func (ce *Counterexample) again(c *Case) error {
	f, err := newCase(c.dog, c.scenario, c.setting)
	if err != nil {
		return err
	}
	defer f.close()
	if _, err := f.run(newGuide(f.w, ce.Decisions)); !ce.fails(err) {
		return ErrNotDeterministic
	}
	return nil
}

// Bounds of shrinking: the number of runs, and for long runs the time.
const (
	maxTries = 3000
	maxTime  = 15 * time.Second
)

// shrink removes decisions as long as the run fails in the same class: first ranges,
// then single ones (delta debugging, Zeller and Hildebrandt 2002).
func (ce *Counterexample) shrink(c *Case) {
	best := 1 << 30
	end := time.Now().Add(maxTime)
	more := func() bool { return ce.Tries < maxTries && !c.dog.hung.Load() && time.Now().Before(end) }
	for size := len(ce.Decisions) / 2; size > 0 && more(); {
		again := false
		for at := 0; at < len(ce.Decisions) && more(); {
			to := min(at+size, len(ce.Decisions))
			rest := slices.Concat(ce.Decisions[:at], ce.Decisions[to:])
			if ce.try(c, rest, &best) {
				again = true
			} else {
				at = to
			}
		}
		if size == 1 && again {
			continue
		}
		size /= 2
	}
	ce.pairs(c, &best, more)
}

// pairs removes two decisions at a time, where neither can be removed alone.
func (ce *Counterexample) pairs(c *Case, best *int, more func() bool) {
	for i := 0; i < len(ce.Decisions); i++ {
		for j := i + 1; j < len(ce.Decisions) && more(); j++ {
			rest := slices.Concat(ce.Decisions[:i], ce.Decisions[i+1:j], ce.Decisions[j+1:])
			if ce.try(c, rest, best) {
				i = -1
				break
			}
		}
	}
}

// Save writes ce to a file.
func (ce *Counterexample) Save(path string) error {
	b, err := json.MarshalIndent(ce, "", "  ")
	if err != nil {
		return err
	}
	return whole.Write(path, func(w io.Writer) error { _, err := w.Write(append(b, '\n')); return err })
}

// maxFile is the largest file that Load reads.
const maxFile = 16 << 20

// Load reads a counterexample's file.
func Load(path string) (*Counterexample, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() || st.Size() > maxFile {
		return nil, fmt.Errorf("%w: %s is a directory or larger than %d bytes", ErrFile, path, maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ce, err := ParseCounterexample(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ce, nil
}

// ParseCounterexample reads the content of a file.
func ParseCounterexample(b []byte) (*Counterexample, error) {
	ce := &Counterexample{}
	d := json.NewDecoder(strings.NewReader(string(b)))
	if err := d.Decode(ce); err != nil {
		return nil, fmt.Errorf("%w: %v (it must be JSON as written by `verbatim check --out`)", ErrFile, err)
	}
	if d.More() {
		return nil, fmt.Errorf("%w: trailing data after the JSON object", ErrFile)
	}
	if ce.Version == 0 || ce.Scenario == "" {
		return nil, fmt.Errorf("%w: \"version\" or \"scenario\" is missing", ErrFile)
	}
	if ce.Version != FileVersion {
		return nil, fmt.Errorf("%w: it has version %d, this program reads %d: find it again with `verbatim check %s`",
			ErrVersion, ce.Version, FileVersion, ce.Scenario)
	}
	return ce, nil
}

// timers returns the regime of the run.
func (ce *Counterexample) timers() string {
	return cmp.Or(ce.Timers, faults.Timers{}.String())
}

// Time describes in a line what the run assumes about time.
func (ce *Counterexample) Time() string {
	t, err := faults.ParseTimers(ce.Timers)
	if err != nil {
		return ce.Timers
	}
	return t.String() + ": " + t.Says()
}

// Bounded describes the bounds of the run: the profile, the faults and the regime of
// timers.
func (ce *Counterexample) Bounded() string {
	text := "profile " + ce.Profile + ", faults " + ce.Faults + " and timers " + ce.timers()
	if ce.Strengthen != "" {
		text += ", strengthened by " + ce.Strengthen
	}
	return text
}

// Replay is the result of a replay.
type Replay struct {
	Err error // the violation
	// Outcome is the outcome of a litmus test that the run reaches. Empty: the run is of a protocol, and Err breaks
	// its promise.
	Outcome string
	Events  []sim.TraceEvent
	Hosts   []string
	Trace   string
	// Same: every state was the recorded one.
	Same bool
	// Unmade counts the decisions that did not apply to the run. If there are any it
	// may be a different run, which says nothing about the recorded one.
	Unmade int
	// Profile is what the cards promised.
	Profile faults.Profile
	// Record, Operations, Taken and LastChance are set by ReplayFull only.
	Record     *sim.Record
	Operations []Operation
	Taken      []Taken
	LastChance *LastChance
}

// Timeline returns what a timeline of the run shows.
func (r *Replay) Timeline() *timeline.Run {
	x := &timeline.Run{Hosts: r.Hosts, Events: r.Events, Err: r.Err, Outcome: r.Outcome}
	if r.Err != nil {
		x.Class = ClassOf(r.Err)
	}
	return x
}

// Taken is a decision of a run and its step.
type Taken struct {
	Step int
	Decision
}

// Replay runs the counterexample again. The error wraps ErrNotReproduced if the run
// does not fail in the recorded class, and is a [HangError] if a step takes longer than
// DefaultStepTimeout; a Replay comes only with the former.
func (ce *Counterexample) Replay(s *Scenario) (*Replay, error) {
	return ce.replay(s, DefaultStepTimeout, false)
}

// ReplayFull is Replay for viewers: it records memory and requests, and looks for the
// last step after which the promise could still be kept.
func (ce *Counterexample) ReplayFull(s *Scenario) (*Replay, error) {
	return ce.replay(s, DefaultStepTimeout, true)
}

func (ce *Counterexample) replay(s *Scenario, limit time.Duration, full bool) (*Replay, error) {
	if s.Name != ce.Scenario {
		return nil, fmt.Errorf("%w: it is about scenario %q, not %q", ErrFile, ce.Scenario, s.Name)
	}
	x, err := settingOf(ce.Profile, ce.Faults, ce.Timers)
	if err == nil {
		x.strengthen, err = sim.ParseStrengthen(ce.Strengthen)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	var r *Replay
	err = with(s, x, limit, func(c *Case) {
		var t sim.Tracer
		if full {
			t.Record = &sim.Record{}
		}
		c.w.SetTracer(&t)
		g := newGuide(c.w, ce.Decisions)
		_, err := c.run(g)
		r = &Replay{Err: err, Events: t.Events, Hosts: c.w.HostNames(), Trace: fmt.Sprintf("%016x", g.trace), Profile: x.profile}
		r.Same, r.Unmade = r.Trace == ce.Trace, g.unmade()
		if full {
			c.full(r, &t, g, append([]Decision{}, ce.Decisions...))
		}
	})
	if err != nil {
		return nil, err
	}
	if !ce.fails(r.Err) {
		return r, fmt.Errorf("%w: expected %s, got %v", ErrNotReproduced, ce.Class, r.Err)
	}
	return r, nil
}

// chances is how many continuations are tried after each step of a run.
const chances = 64

// full adds to r what a viewer shows besides the events. Without ds it does not look
// for the last chance.
func (c *Case) full(r *Replay, t *sim.Tracer, g *guide, ds []Decision) {
	r.Record, r.Taken = t.Record, g.takenAt()
	for _, f := range c.shows {
		r.Operations = append(r.Operations, f()...)
	}
	c.w.SetTracer(nil) // the following are other runs
	if r.Err != nil && ds != nil {
		r.LastChance = c.lastChance(ds, c.w.Steps(), chances)
	}
}
