package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim/zone"
)

// World is a simulated cluster. It runs again and again from its initial state;
// everything in a run follows from the policy's choices.
type World struct {
	cfg     Config
	machine machine
	nodes   []*node
	// places are the names of the nodes, followed by the names of hosts that exist only
	// because a service does: every place that a link can lead to.
	places []string
	sym    []int // indices of the symmetric nodes
	coros  []*coro
	spare  []*coro

	tasks     []*task
	qps       []*qp
	cuts      []linkState
	left      []int // how many faults each rule of the budget still allows
	cur       *task
	pol       Policy
	named     NamedPolicy
	knowing   KnowingPolicy
	replaying bool          // the step repeats a known prefix: its footprint is not needed
	now       time.Duration // in the regime idle, in which all hosts share one clock
	skew      zone.Zone     // bounds on the pending timers of all hosts, in the regime skew
	steps     int
	marks     int // the last mark of changesOthers
	ticks     int // a logical clock: posts, buffered stores, acknowledgements, freezes, power failures
	fail      error
	dead      int // operations that deferred functions have tried while their task is unwound
	last      Actor
	foot      []Access
	shown     bool // the step used something that others may use as well
	private   bool // see Private
	events    []Event
	aside     []*elem // scratch of scatter
	sends     []*elem
	leaving   []*elem // scratch of fetchPacket
	arena     []byte
	fates     []fate // scratch of gather.sets
	hist      print
	stats     Stats
	tracer    *Tracer
	fpbuf     fpScratch
	blind     bool // see SetBlind
	watch     *watch
	preparing bool // Setup or AtEnd runs
	over      bool // Linger: the run has ended
	abandoned bool
	barring   int     // the moment of a refusal that is being handled: elements barred since then do not land yet; 0: none
	seams     int     // operations of the step before which the step could end
	toldAt    int     // how many of them came before a report: see Seams
	stopAt    int     // the one at which the step ends; 0: none
	finding   bool    // the survivors of a power failure are being decided
	asked     bool    // it is decided whether the cards had fetched the bytes that change now
	landing   []*elem // the elements that are landing now: elements that must follow them cannot land yet
	placing   *elem   // the element that changes memory now
	ghosts    []ghost
	cands     []candidate
	pools     pools
}

// node is a logical host.
type node struct {
	w    *World
	idx  int
	sym  int // index among the symmetric hosts, or -1
	spec *Node
	cur  *Host // the machine that answers to the name; nil if down
	all  []*Host
	life int
	up   bool
	done bool // no life follows
	// wantsLife is set if another life may follow; crashed reports how the last one ended.
	wantsLife bool
	crashed   bool
	bank      *bank // the bank of the machine that answers to the name
	// reports is the sum of the reports of the tasks of all lives: it has no order.
	reports print
}

type linkState struct {
	a, b  int
	heals bool
}

// New builds a world. It allocates its coroutines lazily and reuses them.
func New(cfg Config) (*World, error) {
	if cfg.MaxSteps == 0 {
		cfg.MaxSteps = 100000
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w := &World{cfg: cfg}
	w.machine = newMachine(w)
	for i := range cfg.Nodes {
		n := &node{w: w, idx: i, sym: -1, spec: &w.cfg.Nodes[i]}
		w.nodes, w.places = append(w.nodes, n), append(w.places, n.spec.Name)
	}
	w.places = append(w.places, cfg.serviceHosts()...)
	for i, at := range cfg.symmetric() {
		w.nodes[at].sym = i
		w.sym = append(w.sym, at)
	}
	w.cands = w.candidates()
	return w, nil
}

// Close stops the world's coroutines.
func (w *World) Close() {
	w.reset()
	for _, c := range w.coros {
		c.stop()
	}
	w.coros, w.spare = nil, nil
}

// End is the way in which a run ended.
type End uint8

// The ways in which a run ends.
const (
	Finished  End = iota // every host that the run waits for is done
	Stopped              // the policy stopped it
	Violated             // a check failed
	Deadlock             // nothing can happen, and a task waits
	StepLimit            // it made MaxSteps events
	Abandoned            // World.Abandon was called
)

var endNames = [...]string{"finished", "stopped", "violated", "deadlock", "step limit", "abandoned"}

func (e End) String() string { return endNames[e] }

// Run runs the world once from its initial state under pol. The error is the
// violation, deadlock or step limit that ended it.
func (w *World) Run(pol Policy) (End, error) {
	w.reset()
	w.pol = pol
	w.named, _ = pol.(NamedPolicy)
	w.knowing, _ = pol.(KnowingPolicy)
	for _, n := range w.nodes {
		w.boot(n)
	}
	w.setup()
	for w.fail == nil {
		if w.abandoned {
			return Abandoned, nil
		}
		if ev, ok := w.known(); ok {
			w.replaying = true
			w.step(ev)
			w.replaying = false
			continue
		}
		if w.unreported() {
			break
		}
		if w.finished() {
			return Finished, nil
		}
		w.enabled()
		if w.over || len(w.events) == 0 || w.onlyFaults() && !w.cfg.Linger && (w.cfg.Hung == nil || w.outOfTime()) {
			if w.outOfTime() {
				w.abandoned = true
				return Abandoned, nil
			}
			if w.cfg.Hung != nil {
				w.cfg.Hung(w.waiting())
				return Finished, nil
			}
			w.fail = &DeadlockError{Waiting: w.waiting()}
			return Deadlock, w.fail
		}
		if w.steps >= w.cfg.MaxSteps {
			w.fail = &StepLimitError{Steps: w.steps}
			return StepLimit, w.fail
		}
		i := pol.Pick(w.events)
		if i < 0 {
			return Stopped, nil
		}
		w.step(w.events[i])
	}
	return Violated, w.fail
}

// known returns the next event if the policy knows it.
func (w *World) known() (Event, bool) {
	if w.knowing == nil {
		return Event{}, false
	}
	a, ok := w.knowing.Next()
	if !ok {
		return Event{}, false
	}
	ev := Event{Actor: a, a: a.a(), b: a.b()}
	switch a.kind() {
	case actTask:
		for _, t := range w.tasks {
			if t.alive && t.actor() == a {
				ev.task = t
				return ev, w.ready(t)
			}
		}
		return ev, false
	case actTimer:
		for _, t := range w.tasks {
			if t.alive && t.timer() == a {
				ev.task = t
				return ev, true
			}
		}
		return ev, false
	case actFault:
		for i := range w.cands {
			if c := &w.cands[i]; c.actor == a {
				ev.rule, ev.a, ev.b, ev.Fault = i, c.a, c.b, true
				return ev, true
			}
		}
		return ev, false
	case actRestart:
		return ev, w.nodes[ev.a].wantsLife
	case actWire, actAck:
		ev.a = a.b()
		return ev, true
	case actFail: // the options of a failure may depend on the other events
		w.enabled()
		if i := slices.IndexFunc(w.events, func(e Event) bool { return e.Actor == a }); i >= 0 {
			return w.events[i], true
		}
		return ev, false
	}
	return ev, a.kind() == actHeal
}

// reset restores the initial state and keeps the allocations.
func (w *World) reset() {
	for _, t := range w.tasks {
		w.unwind(t)
	}
	w.pools.reset()
	w.tasks, w.qps, w.cuts = w.tasks[:0], w.qps[:0], w.cuts[:0]
	w.left = w.left[:0]
	for _, r := range w.cfg.Budget {
		w.left = append(w.left, r.Max)
	}
	w.cur, w.now, w.steps, w.ticks, w.fail, w.last = nil, 0, 0, 0, nil, 0
	w.foot, w.arena, w.hist = w.foot[:0], w.arena[:0], print{}
	w.stats.LogAvoided = 0
	w.skew.Clear()
	w.seams, w.toldAt, w.stopAt = 0, 0, 0
	w.preparing, w.over, w.abandoned, w.finding, w.placing, w.barring = false, false, false, false, nil, 0
	w.ghosts, w.landing = w.ghosts[:0], w.landing[:0]
	if w.cfg.Reset != nil {
		w.cfg.Reset()
	}
	for _, s := range w.cfg.Services {
		s.Reset()
	}
	for _, n := range w.nodes {
		*n = node{w: w, idx: n.idx, sym: n.sym, spec: n.spec, all: n.all[:0], bank: w.newBank()}
	}
}

// boot starts the next life of a node.
func (w *World) boot(n *node) {
	w.bound("lives of a host", n.life, maxLives)
	h := newHost(w, n, n.life)
	n.cur, n.up, n.wantsLife = h, true, false
	n.all = append(n.all, h)
	life := n.life
	n.life++
	main := n.spec.Main
	t := w.spawn(h, "main", func() {
		main(h, life)
		if n.spec.Daemon {
			w.cur.others() // it may crash between taking a request and terminating: see serving
		} else {
			w.cur.pauseDirty() // the end of Main takes effect at once
		}
	})
	t.obs.main = t.obs.main.Int(life).Bool(n.crashed)
	if w.tracer != nil {
		w.trace(h, "start", "%s", startText(life))
	}
}

func startText(life int) string {
	if life == 0 {
		return "starts"
	}
	return fmt.Sprintf("starts again (life %d)", life)
}

// mainDone ends the life of h, whose first task has returned.
func (w *World) mainDone(h *Host) {
	n := h.node
	w.trace(h, "end", "ends")
	w.kill(h, false)
	if n.cur == h {
		w.lifeEnded(n, false)
	}
}

// lifeEnded decides whether another life follows.
func (w *World) lifeEnded(n *node, crashed bool) {
	n.up, n.crashed = false, crashed
	again := crashed
	if n.spec.Again != nil {
		w.touch(object(objChecks, 0, 0), Read) // it may look at the memory of the checks
		w.touch(object(objLast, 0, 0), Write)  // and record that this life has ended
		again = n.spec.Again(n.life-1, crashed)
	}
	n.wantsLife, n.done = again, !again
	if n.done && !n.spec.Daemon && !w.cfg.Linger && w.zombies() {
		w.touch(object(objLast, 0, 0), Write) // the last host to end cuts these short
	}
}

// zombies reports whether a machine that is believed dead is still up.
func (w *World) zombies() bool {
	return slices.ContainsFunc(w.nodes, func(n *node) bool {
		return slices.ContainsFunc(n.all, func(h *Host) bool { return h.alive && h != n.cur })
	})
}

func (w *World) finished() bool {
	if w.cfg.Linger {
		return w.over
	}
	for _, n := range w.nodes {
		if !n.spec.Daemon && !n.done {
			return false
		}
	}
	return true
}

// onlyFaults reports whether nothing but faults, and steps that may never come, can happen.
func (w *World) onlyFaults() bool {
	for i := range w.events {
		if !w.events[i].Fault && !w.vain(&w.events[i]) {
			return false
		}
	}
	return true
}

// onlyVain reports whether no event is certain to happen.
func (w *World) onlyVain() bool {
	return !slices.ContainsFunc(w.events, func(ev Event) bool { return !w.vain(&ev) })
}

func (w *World) waiting() []string {
	var out []string
	for _, t := range w.tasks {
		if t.alive && !t.h.node.spec.Daemon {
			out = append(out, t.h.node.spec.Name+"/"+t.name+" in "+t.op.kind.String())
		}
	}
	return out
}

// DeadlockError means that hosts wait and nothing can happen any more.
type DeadlockError struct{ Waiting []string }

func (e *DeadlockError) Error() string {
	return fmt.Sprintf("deadlock: nothing can happen any more while %v wait", e.Waiting)
}

// Class returns the class of the violation.
func (e *DeadlockError) Class() string { return "deadlock" }

// ErrFailNil means that a check called Fail without an error. Whether it meant a
// violation is unclear, so there is no verdict.
var ErrFailNil = errors.New("sim: Fail(nil): call Fail with an error that says what is violated, and only then")

func (w *World) choose(k ChoiceKind, n int, name func(int) string) int {
	w.bound("options of a choice", n-1, maxOptions)
	if n <= 1 || w.dying() || w.fail != nil {
		return 0
	}
	if w.preparing && !w.over { // the search has no step yet that the choice could belong to
		w.fail = fmt.Errorf("sim: %w: Setup cannot choose; choose in the code of a host", ErrConfig)
		return 0
	}
	w.stats.Choices++
	if w.named != nil {
		names := make([]string, n)
		for i := range names {
			names[i] = name(i)
		}
		return w.named.ChooseNamed(k, names)
	}
	return w.pol.Choose(k, n)
}

// dying reports whether the current task is being unwound: its deferred functions no longer have any effect.
func (w *World) dying() bool { return w.cur != nil && w.cur.co != nil && w.cur.co.kill }

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Events lists the events that can happen now. The slice belongs to the world.
func (w *World) Events() []Event {
	w.enabled()
	return w.events
}
