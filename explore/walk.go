package explore

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Walk is a run by hand: the first Steps steps of the run of the decisions.
type Walk struct {
	Steps     int        `json:"steps"`
	Decisions []Decision `json:"decisions"`
}

// ErrWalk is wrapped by errors about walks.
var ErrWalk = errors.New("explore: no such walk")

// maxWalk bounds the steps of a walk.
const maxWalk = 10_000

// Stand is the position of a walk.
type Stand struct {
	Walk   Walk    // the actual walk, without decisions that did not apply
	Replay *Replay // without a last chance
	Ended  bool    // the run has finished
	// Outcome is the scenario's name for the end of a finished run.
	Outcome string
	// Next lists what can happen next. The first is the default.
	Next []Way
	// Inside are the choices in the last step, with their alternatives.
	Inside []Fork
}

// Way is a possible next step, and the walk that includes it.
type Way struct {
	Name  string
	Fault bool // charged to the fault budget
	Walk  Walk
}

// Fork is a choice that was made, with its options; Taken is the one taken.
type Fork struct {
	Kind  string
	Taken int
	Ways  []Way
}

// hand follows a walk and stops after it.
type hand struct {
	*guide
	steps int
	stand *Stand
}

// Pick implements sim.Policy.
func (h *hand) Pick(evs []sim.Event) int {
	if h.w.Steps() >= h.steps {
		h.look(evs)
		return -1
	}
	h.stand.Inside = nil
	return h.guide.Pick(evs)
}

// look lists the possible next events.
func (h *hand) look(evs []sim.Event) {
	at := h.place(&evs[0])
	for i := range evs {
		x := Way{Name: h.w.EventName(&evs[i]), Fault: evs[i].Fault, Walk: Walk{Steps: h.steps + 1, Decisions: slices.Clone(h.taken)}}
		if i > 0 {
			x.Walk.Decisions = append(x.Walk.Decisions, Decision{at, x.Name})
		}
		h.stand.Next = append(h.stand.Next, x)
	}
}

// ChooseNamed implements sim.NamedPolicy.
func (h *hand) ChooseNamed(k sim.ChoiceKind, names []string) int {
	before := slices.Clone(h.taken)
	i := h.guide.ChooseNamed(k, names)
	f := Fork{Kind: k.String(), Taken: i}
	at := h.inner(k, h.kinds[k]-1)
	for j, n := range names {
		w := Walk{Steps: h.steps, Decisions: slices.Clone(before)}
		if j > 0 {
			w.Decisions = append(w.Decisions, Decision{at, n})
		}
		f.Ways = append(f.Ways, Way{Name: n, Walk: w})
	}
	h.stand.Inside = append(h.stand.Inside, f)
	return i
}

// Go makes a walk in a scenario, with the options' profile, faults and strengthening.
// It skips decisions that do not apply. The error is about the scenario, the options or
// the walk, or a [HangError].
func (wk Walk) Go(s *Scenario, opt Options) (*Stand, error) {
	var out *Stand
	err := wk.with(s, opt, func(c *Case) { out = c.stand(wk) })
	return out, err
}

// with calls f with a new case.
func (wk Walk) with(s *Scenario, opt Options, f func(*Case)) error {
	if wk.Steps < 0 || wk.Steps > maxWalk || len(wk.Decisions) > maxWalk {
		return fmt.Errorf("%w: %d steps and %d decisions; a walk has at most %d", ErrWalk, wk.Steps, len(wk.Decisions), maxWalk)
	}
	return With(s, opt, f)
}

// With calls f with a new case, whose runs f makes with [Case.Run]. It uses the options
// Profile, Faults, Timers, Strengthen, Eager, NoSymmetry and StepTimeout. The error is
// about the scenario or the options, or a [HangError].
func With(s *Scenario, opt Options, f func(*Case)) error {
	x, err := opt.resolve(s)
	if err != nil {
		return err
	}
	return with(s, x, opt.StepTimeout, f)
}

func with(s *Scenario, x setting, limit time.Duration, f func(*Case)) error {
	var failed error
	_, hang := watched(s, limit, func(d *watchdog) {
		var c *Case
		if c, failed = newCase(d, s, x); failed == nil {
			defer c.close()
			f(c)
		}
	})
	if hang != nil {
		return hang
	}
	return failed
}

// Run makes one run of the case's world under a policy. It returns how the run ended,
// the violation, and the outcome of a completed run.
func (c *Case) Run(pol sim.Policy) (end sim.End, outcome string, err error) {
	end, err = c.run(pol)
	if end == sim.Finished {
		outcome = c.outcome
	}
	return end, outcome, err
}

// World returns the case's world. Only policies, and code between runs, may use it.
func (c *Case) World() *sim.World { return c.w }

func (c *Case) stand(wk Walk) *Stand {
	t := sim.Tracer{Record: &sim.Record{}}
	c.w.SetTracer(&t)
	g := newGuide(c.w, wk.Decisions)
	h := &hand{guide: g, steps: wk.Steps, stand: &Stand{}}
	end, err := c.run(h)
	s := h.stand
	if s.Ended = end != sim.Stopped; s.Ended {
		s.Outcome = c.outcome
	}
	s.Walk = Walk{Steps: c.w.Steps(), Decisions: append([]Decision{}, g.taken...)}
	s.Replay = &Replay{Err: err, Events: t.Events, Hosts: c.w.HostNames(), Profile: c.Profile}
	c.full(s.Replay, &t, g, nil)
	return s
}

// Search is the result of a search from a walk.
type Search struct {
	Tried int   // number of continuations
	Found *Walk // the first that broke the promise, in full; nil: none did
}

// Search tries continuations of a walk: the default one, and random ones.
func (wk Walk) Search(s *Scenario, opt Options, tries int) (*Search, error) {
	out := &Search{}
	err := wk.with(s, opt, func(c *Case) {
		for ; out.Tried < tries && out.Found == nil && (opt.Stop == nil || !opt.Stop()); out.Tried++ {
			p := c.leave(wk.Decisions, wk.Steps, uint64(out.Tried))
			if _, err := c.run(p); err != nil {
				out.Found = &Walk{Steps: c.w.Steps(), Decisions: p.taken}
			}
		}
	})
	return out, err
}
