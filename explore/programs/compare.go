package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Limits bound one comparison.
type Limits struct {
	Runs   uint64 // of the naive search
	States uint64 // runs of a search with states
}

// DefaultLimits let nearly all generated programs be compared, in milliseconds.
var DefaultLimits = Limits{Runs: 3_000, States: 3_000}

// Mode is a search that must reach the outcomes of the naive search in eager mode.
type Mode struct {
	Name   string
	naive  bool
	opt    explore.Options
	groups bool // it differs from others only with interchangeable hosts
}

// Modes are the searches that are compared.
var Modes = []Mode{
	{Name: "naive late", naive: true},
	{Name: "late"},
	{Name: "late, no symmetry", opt: explore.Options{NoSymmetry: true}, groups: true},
	{Name: "eager", opt: explore.Options{Eager: true}},
	{Name: everyOrder, opt: explore.Options{EveryOrder: true}},
	{Name: backwards, opt: explore.Options{EveryOrder: true, Backwards: true}},
	{Name: asleep, opt: explore.Options{NoPrivate: true}},
}

// everyOrder omits no edge. The modes below must find as many states as it does.
const everyOrder = "late, every order"

// backwards visits the states in another order than the mode above it, so a fingerprint that merges
// two different states does so elsewhere. Both must find the same number of states, and each step
// from a state must lead to the same ones (see successors).
const backwards = "late, backwards"

// asleep omits edges of steps that should commute, and never a state: that a step omits a use shows
// here although the outcomes are the same.
const asleep = "late, none alone"

// The causes of a difference, by what the modes that differ omit.
const (
	LateResolution = "late resolution"
	Fingerprint    = "fingerprint"
	EagerStates    = "fingerprint of the eager machine"
	Symmetry       = "symmetry"
	Orders         = "sleep sets or steps taken alone"
)

// Cause returns the cause of the first difference. Naive searches recognise no states, and
// only a few modes omit anything else.
func (c *Comparison) Cause() string {
	bad := func(mode string) bool {
		return slices.ContainsFunc(c.Diffs, func(d Diff) bool { return d.Mode == mode })
	}
	switch {
	case len(c.Diffs) == 0:
		return ""
	case bad("naive late"):
		return LateResolution
	case bad("eager"):
		return EagerStates
	case (bad(everyOrder) || bad(backwards)) && !bad("late, no symmetry") && slices.Contains(c.Modes, "late, no symmetry"):
		return Symmetry
	case bad(everyOrder) || bad(backwards):
		return Fingerprint
	}
	return Orders
}

// Diff lists the outcomes that a mode lost, or added to the truth.
type Diff struct {
	Mode        string
	Lost, Added []string
}

// Comparison is the result for one program.
type Comparison struct {
	Truth    Truth
	Runs     uint64 // of the naive search
	Outcomes []string
	// Modes were compared. Unfinished are those that met a limit, and were not.
	Modes, Unfinished []string
	Diffs             []Diff
}

// Truth is the reference of a comparison.
type Truth int

// The references of a comparison.
const (
	TooLarge Truth = iota // nothing was compared
	Stated                // the eager machine with states that are recognised
	Naive                 // the naive search of the eager machine
)

// Compare runs the program in all modes. The error is about the program itself.
func Compare(p *Program, l Limits) (*Comparison, error) {
	s := p.Scenario()
	c := &Comparison{}
	if err := c.settle(s, l); err != nil || c.Truth == TooLarge {
		return c, err
	}
	var every uint64 // the states of everyOrder
	var usual successors
	for _, m := range Modes {
		if m.groups && !p.symmetric() || c.Truth == Stated && m.opt.Eager {
			continue
		}
		next := successors{}
		if m.opt.EveryOrder && !p.symmetric() {
			m.opt.Edges = next.add
		}
		got, states, done, err := m.run(s, l)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Name == everyOrder:
			every, usual = states, next
		case m.Name != backwards && m.Name != asleep || !done || every == 0 || p.symmetric():
		case states != every:
			got = append(got, fmt.Sprintf("%d states, and with every order %d", states, every))
		case m.Name == backwards && usual.differ(next) > 0:
			got = append(got, fmt.Sprintf("%d steps that lead elsewhere than in the usual order", usual.differ(next)))
		}
		if !done {
			c.Unfinished = append(c.Unfinished, m.Name)
			continue
		}
		c.Modes = append(c.Modes, m.Name)
		if d := diff(m, c.Outcomes, got); d != nil {
			c.Diffs = append(c.Diffs, *d)
		}
	}
	return c, nil
}

// settle determines the truth: by the naive search, unless the program is estimated to be
// much too large for it, or turns out to be.
func (c *Comparison) settle(s *explore.Scenario, l Limits) error {
	size, err := estimate(s)
	if err != nil {
		return err
	}
	var done bool
	if size <= 4*float64(l.Runs) {
		c.Outcomes, c.Runs, done, err = explore.Naive(s, explore.Options{}, true, l.Runs)
		if done || err != nil {
			c.Truth = Naive
			return err
		}
	}
	if c.Outcomes, _, done, err = search(s, explore.Options{Eager: true}, l); done {
		c.Truth = Stated
	}
	return err
}

func (p *Program) symmetric() bool {
	return slices.ContainsFunc(p.Hosts, func(h Host) bool { return h.Copies > 0 })
}

func (m *Mode) run(s *explore.Scenario, l Limits) (outcomes []string, states uint64, done bool, err error) {
	if m.naive {
		outcomes, _, done, err = explore.Naive(s, m.opt, false, l.Runs)
		return outcomes, 0, done, err
	}
	return search(s, m.opt, l)
}

// violation is how the naive search names a run that failed.
const violation = "violation: "

// search is a search with states, and the number of those. A violation ends it: then that is all it
// found, and the number is 0.
func search(s *explore.Scenario, opt explore.Options, l Limits) (outcomes []string, states uint64, done bool, err error) {
	opt.Workers, opt.MaxRuns, opt.NoShrink = 1, l.States, true
	r, err := explore.Check(s, opt)
	if err != nil {
		return nil, 0, false, err
	}
	switch r.Verdict {
	case explore.RanOut:
		return nil, 0, false, nil
	case explore.Verified:
		return r.Outcomes, r.States, true, nil
	case explore.Violated:
		return []string{violation + r.Counterexample.Class}, 0, true, nil
	}
	return []string{fmt.Sprint(r.Verdict, ": ", r.Reason)}, 0, true, nil
}

// diff compares the outcomes of a mode with the truth. A search that a violation
// stopped is right if there is that violation.
func diff(m Mode, want, got []string) *Diff {
	d := Diff{Mode: m.Name, Lost: slices.DeleteFunc(without(want, got), inVain), Added: without(got, want)}
	if !m.naive && len(got) == 1 && strings.HasPrefix(got[0], violation) {
		d.Lost = nil
	}
	if len(d.Lost)+len(d.Added) == 0 {
		return nil
	}
	return &d
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return slices.Contains(b, x) })
}

// String describes the differences.
func (d Diff) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s:\n", d.Mode)
	for _, o := range d.Lost {
		fmt.Fprintf(&out, "  lost  %s\n", o)
	}
	for _, o := range d.Added {
		fmt.Fprintf(&out, "  added %s\n", o)
	}
	return out.String()
}
