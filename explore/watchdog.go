package explore

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/stuck"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// DefaultStepTimeout is how much real time one step of a run may take.
const DefaultStepTimeout = 30 * time.Second

// ErrHang is wrapped by every [HangError].
var ErrHang = errors.New("explore: a step does not return")

// HangError: a step of a scenario did not return within [Options].StepTimeout of real
// time. Its code loops or blocks without a call to packages host or verbs, so it cannot
// be interrupted. Its goroutine is abandoned and keeps running.
type HangError struct {
	Scenario string
	Task     string        // such as app.0/main: host, life and task; or another activity
	Line     string        // file:line of the code nearest to the hang; empty if not found
	Timeout  time.Duration // how long the check waited
}

func (e *HangError) Error() string {
	at := ""
	if e.Line != "" {
		at = " at " + e.Line
	}
	return fmt.Sprintf("%v: %s: %s has been%s for %v without a call of host or verbs: an endless loop, or a wait for something else "+
		"than host and verbs; if the step is only slow, raise StepTimeout (--step-timeout)",
		ErrHang, e.Scenario, e.Task, at, e.Timeout)
}

func (e *HangError) Unwrap() error { return ErrHang }

// pulse shows a watchdog that the code of a case makes progress. It costs a few atomic
// operations per step and does not read the clock.
type pulse struct {
	beats atomic.Uint64 // odd while code of the scenario may run
	actor atomic.Uint64 // whose step it is; 0 between the steps
}

// begin and end enclose code that may hang.
func (p *pulse) begin() { p.actor.Store(0); p.beats.Add(1) }
func (p *pulse) end()   { p.actor.Store(0); p.beats.Add(1) }

// step records that actor a makes the next step.
func (p *pulse) step(a sim.Actor) { p.actor.Store(uint64(a)); p.beats.Add(2) }

// think records that the last step returned, and that the policy runs.
func (p *pulse) think() { p.beats.Add(2) }

// run makes one run of the world under pol, watched by the watchdog. Walkers record
// their steps themselves.
func (c *Case) run(pol sim.Policy) (sim.End, error) {
	if _, ok := pol.(*walker); !ok {
		knows, _ := pol.(sim.KnowingPolicy)
		b := beating{pol, knows, &c.pulse}
		if n, ok := pol.(chooser); ok {
			pol = namedBeating{b, n}
		} else {
			pol = b
		}
	}
	c.pulse.begin()
	defer c.pulse.end()
	return c.w.Run(pol)
}

// close closes the world, which unwinds the tasks: their deferred functions run.
func (c *Case) close() {
	c.pulse.begin()
	defer c.pulse.end()
	c.w.Close()
}

// beating is a policy whose steps are recorded.
type beating struct {
	sim.Policy
	knows sim.KnowingPolicy // the same, or nil
	pulse *pulse
}

// namedBeating is the same for a policy that needs the names of options.
type namedBeating struct {
	beating
	chooser
}

// chooser is what a sim.NamedPolicy has besides Policy.
type chooser interface {
	ChooseNamed(k sim.ChoiceKind, names []string) int
}

// Next implements sim.KnowingPolicy.
func (b beating) Next() (sim.Actor, bool) {
	if b.knows == nil {
		return 0, false
	}
	b.pulse.think()
	a, ok := b.knows.Next()
	if ok {
		b.pulse.step(a)
	}
	return a, ok
}

// Pick implements sim.Policy.
func (b beating) Pick(evs []sim.Event) int {
	b.pulse.think()
	i := b.Policy.Pick(evs)
	if i >= 0 {
		b.pulse.step(evs[i].Actor)
	}
	return i
}

// watchdog waits for the steps of some cases.
type watchdog struct {
	scenario string
	limit    time.Duration
	hung     atomic.Bool
	best     atomic.Pointer[Counterexample] // found, and shrunk so far

	mu    sync.Mutex
	cases []*Case
	atEnd []func()
}

// watched calls f, and waits until it has returned or hangs: a step of a case that f
// makes takes longer than limit of real time (0: the default; negative: no limit). Then
// the error is a [HangError], and f keeps running: do not read anything that it writes.
func watched(s *Scenario, limit time.Duration, f func(*watchdog)) (*watchdog, error) {
	if limit == 0 {
		limit = DefaultStepTimeout
	}
	d := &watchdog{scenario: s.Name, limit: limit}
	done := make(chan bool, 1)
	go func() {
		came := false
		defer func() { done <- came }()
		f(d)
		came = true
	}()
	every := max(limit/8, time.Millisecond)
	if limit < 0 {
		every = time.Hour
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := map[*Case]sighting{}
	for {
		select {
		case came := <-done:
			if !came {
				runtime.Goexit() // as f did: a test failed in Build
			}
			return d, nil
		case now := <-tick.C:
			if c := d.look(last, now); c != nil {
				return d, d.hang(c)
			}
		}
	}
}

// sighting is when a pulse had reached a value.
type sighting struct {
	beats uint64
	since time.Time
}

// look returns the case whose step takes too long, or nil.
func (d *watchdog) look(last map[*Case]sighting, now time.Time) *Case {
	if d.limit < 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.cases {
		n := c.pulse.beats.Load()
		if x, ok := last[c]; !ok || x.beats != n {
			last[c] = sighting{n, now}
		} else if n%2 == 1 && now.Sub(x.since) >= d.limit {
			return c
		}
	}
	return nil
}

// settle is how long the other workers have to finish their runs, so that only the
// hanging one is visible.
const settle = time.Second

// hang stops the check and describes what hangs.
func (d *watchdog) hang(c *Case) error {
	d.hung.Store(true)
	d.mu.Lock()
	end, cases := d.atEnd, d.cases
	d.mu.Unlock()
	for _, f := range end {
		f()
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(settle); time.Now().Before(until) && busy(cases) > 1; {
		<-tick.C
	}
	return &HangError{Scenario: d.scenario, Task: c.doing(), Line: stuck.Line(), Timeout: d.limit}
}

// busy counts the cases whose code may be running.
func busy(cases []*Case) int {
	n := 0
	for _, c := range cases {
		n += int(c.pulse.beats.Load() % 2)
	}
	return n
}

// doing names the task whose step it is. It does not read the world, which the hanging
// step may be changing.
func (c *Case) doing() string {
	a := sim.Actor(c.pulse.actor.Load())
	if a == 0 || c.w == nil {
		return "the scenario (Build, OnReset, or a deferred function of a task that was ended)"
	}
	life, number, ok := a.Task()
	if !ok {
		return c.w.ActorName(a)
	}
	name := "main"
	if number > 0 {
		name = fmt.Sprint("task", number)
	}
	return fmt.Sprintf("%s.%d/%s", c.w.HostNames()[a.Node()], life, name)
}

// watch adds a case before any of its code runs.
func (d *watchdog) watch(c *Case) {
	d.mu.Lock()
	d.cases = append(d.cases, c)
	d.mu.Unlock()
}

// atHang registers f to be called if the check is given up.
func (d *watchdog) atHang(f func()) {
	d.mu.Lock()
	d.atEnd = append(d.atEnd, f)
	d.mu.Unlock()
}

// keep remembers a counterexample that must not be lost if shrinking hangs.
func (d *watchdog) keep(ce *Counterexample) {
	x := *ce
	d.best.Store(&x)
}

// stop reports whether to stop: because of a hang, or because f returns true.
func (d *watchdog) stop(f func() bool) func() bool {
	return func() bool { return d.hung.Load() || f != nil && f() }
}
