package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Verdict is the result of a cell.
type Verdict string

// The verdicts of cells.
const (
	Holds     Verdict = "holds"
	Breaks    Verdict = "breaks"
	Undecided Verdict = "not decided"
)

// Cell says whether a protocol holds under an assumption. The names of its fields
// in JSON are stable.
type Cell struct {
	Protocol   string  `json:"protocol"`
	Assumption string  `json:"assumption"` // a named profile, or Knob=value
	Profile    string  `json:"profile"`    // that it stands for
	Verdict    Verdict `json:"verdict"`
	// Exhausted: a search that the verdict rests on was exhausted.
	Exhausted bool `json:"exhausted"`
	// Scenario is the one that is violated.
	Scenario string `json:"scenario"`
	// DerivedFrom is the search that the verdict follows from, if the cell was
	// not searched itself: its profile.
	DerivedFrom string `json:"derived_from"`
	// Reason explains the verdict, and names the promise that it is about.
	Reason string `json:"reason"`
	// Counterexample is the file of one.
	Counterexample string `json:"counterexample"`
	// Mend is the smallest strengthening with which all scenarios hold, or says
	// that none was found.
	Mend    string  `json:"mend"`
	Seconds float64 `json:"seconds"` // of searches made for this cell alone
	// Limited: it is not decided because a limit came first.
	Limited bool `json:"limited"`
	// Timers is the regime of the searches, in words, and Warning describes
	// what was not checked about time although the code depends on it.
	Timers  string `json:"timers"`
	Warning string `json:"warning"`
}

// Protocol is a row of the table: what to check.
type Protocol struct {
	Name      string
	Scenarios []*explore.Scenario
}

// Options say how to fill a table. The zero value is fine.
type Options struct {
	// MaxRuns bounds the search of a scenario, and Probe the first look at it.
	// Runs and not seconds, so that a busy machine fills in the same table. A
	// cell with finer pieces gets a fiftieth of MaxRuns.
	MaxRuns, Probe uint64 // default 1,000,000 and 5,000
	// MaxTime, if set, also bounds the search for a cell, all scenarios together.
	MaxTime time.Duration
	Workers int
	// Timers overrides the scenarios' regime: idle, free or skew(r).
	Timers string
	// Out is a directory for counterexamples; empty: they are not written.
	Out string
	// Progress, if set, is called with the current activity.
	Progress func(string)
	// Stop, if set, is asked before each run whether to stop.
	Stop func() bool
}

// ErrOptions is wrapped by errors about options.
var ErrOptions = errors.New("matrix: bad options")

// fact is the result of a search of all scenarios.
type fact struct {
	profile  faults.Profile
	with     sim.Strengthen
	verdict  Verdict
	scenario string
	reason   string
	ce       *explore.Counterexample
	file     string
	limited  bool
	seconds  float64
	left     uint64 // requests that could not be inline
}

type filler struct {
	p         Protocol
	opt       Options
	facts     []*fact
	exercised faults.Exercise
	payload   int
	order     []*explore.Scenario // the cheapest first, as far as that is known
	timers    string
	warning   string
}

// Fill fills the table's cells for one protocol, in the order of
// [faults.Profiles] and [faults.Weakenings]. The error is about the options or a
// scenario; errors of protocols are in the cells.
func Fill(p Protocol, opt Options) ([]Cell, error) {
	if opt.MaxTime < 0 {
		return nil, fmt.Errorf("%w: a time cannot be negative", ErrOptions)
	}
	if len(p.Scenarios) == 0 {
		return nil, fmt.Errorf("%w: protocol %q has no scenarios", ErrOptions, p.Name)
	}
	opt.MaxRuns = cmp.Or(opt.MaxRuns, 1_000_000)
	opt.Probe = cmp.Or(opt.Probe, 5_000)
	f := &filler{p: p, opt: opt, order: append([]*explore.Scenario(nil), p.Scenarios...)}
	rows, err := rowsOf(p.Name)
	if err != nil {
		return nil, err
	}
	if err := f.search(rows); err != nil {
		return nil, err
	}
	cells := make([]Cell, len(rows))
	for i := range rows {
		f.conclude(&rows[i])
		rows[i].Timers, rows[i].Warning = f.timers, f.warning
		cells[i] = rows[i].Cell
	}
	return cells, nil
}

// Rows returns the cells of the table for one protocol, without verdicts.
func Rows(protocol string) ([]Cell, error) {
	rows, err := rowsOf(protocol)
	var out []Cell
	for i := range rows {
		out = append(out, rows[i].Cell)
	}
	return out, err
}

// row is a cell and its assumption.
type row struct {
	Cell
	profile faults.Profile
	weak    faults.Weakening // zero for a named profile
}

// rowsOf returns the rows of the table, without verdicts.
func rowsOf(protocol string) ([]row, error) {
	var rows []row
	for _, p := range faults.Profiles() {
		rows = append(rows, row{Cell: Cell{Protocol: protocol, Assumption: p.Name, Profile: p.Name}, profile: p})
	}
	for _, w := range faults.Weakenings() {
		name := "strong+" + w.String()
		if w.Needs != "" {
			name += "+" + w.Needs
		}
		p, err := faults.ProfileByName(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{Cell: Cell{Protocol: protocol, Assumption: w.String(), Profile: p.Name}, profile: p, weak: w})
	}
	return rows, nil
}

// search makes the searches that the cells rest on.
func (f *filler) search(rows []row) error {
	var together []faults.Weakening
	for i := range rows {
		r := &rows[i]
		x, err := f.look(r.profile, 0)
		if err != nil {
			return err
		}
		if w := r.weak; w.Knob != "" && x.verdict != Breaks && !w.Finer && !w.Other && !w.Same {
			together = append(together, w)
		}
	}
	if err := f.jointly(together); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		if f.unexercised(r) || f.known(r.profile, 0) != nil {
			continue
		}
		if _, err := f.full(r.profile, 0); err != nil {
			return err
		}
	}
	return f.mends(rows)
}

// jointly decides weakenings together, and in halves if they break together.
func (f *filler) jointly(ws []faults.Weakening) error {
	p, err := joint(ws)
	if err != nil {
		return err
	}
	x, err := f.full(p, 0)
	if err != nil || x.verdict != Breaks || len(ws) < 2 {
		return err
	}
	if err := f.jointly(ws[:len(ws)/2]); err != nil {
		return err
	}
	return f.jointly(ws[len(ws)/2:])
}

// joint is strong with these weakenings, and with amounts that are the weakest of
// any named profile.
func joint(ws []faults.Weakening) (faults.Profile, error) {
	p, err := faults.ProfileByName("strong")
	for _, w := range ws {
		if err == nil {
			p, err = p.WithKnob(w.Knob, w.Value)
		}
	}
	sizes, _ := faults.Sizes()
	for _, name := range sizes {
		for _, named := range faults.Profiles() {
			for _, k := range named.Knobs() {
				if err != nil || k.Name != name {
					continue
				}
				var q faults.Profile
				if q, err = p.WithKnob(name, k.Value); err == nil && faults.WeakerOrEqual(q, p) && !faults.WeakerOrEqual(p, q) {
					p = q
				}
			}
		}
	}
	return p, err
}

// finer reports whether p splits messages into more pieces than strong.
func finer(p faults.Profile) bool {
	for _, w := range faults.Weakenings() {
		for _, k := range p.Knobs() {
			if w.Finer && !w.Same && k.Name == w.Knob && k.Value == w.Value {
				return true
			}
		}
	}
	return false
}

// unexercised reports whether no scenario exercises the row's promise.
func (f *filler) unexercised(r *row) bool {
	return r.weak.Exercised != 0 && r.weak.Exercised&f.exercised == 0
}

// conclude writes the row's cell.
func (f *filler) conclude(r *row) {
	if x := f.own(r.profile, 0); x != nil {
		r.Seconds = x.seconds
	}
	if f.unexercised(r) {
		r.Verdict, r.Reason = Undecided, "no scenario uses "+r.weak.Exercised.String()+", so the promise is not tested"
		return
	}
	x := f.known(r.profile, 0)
	switch {
	case x == nil:
		r.Verdict, r.Limited, r.Reason = Undecided, true, "a limit came first; nothing was found"
		if y := f.own(r.profile, 0); finer(r.profile) {
			// Here a single step may take so long that the checker gives it up:
			// that too is a limit.
			r.Reason = "with single pieces, no search finishes within its limit; nothing was found"
		} else if y != nil && y.reason != "" {
			r.Reason = y.reason
		}
		return
	case x.verdict == Holds && r.weak.Blind != "":
		r.Verdict, r.Exhausted, r.Reason = Undecided, true, "the simulator makes no difference: "+r.weak.Blind
		return
	}
	r.Verdict, r.Exhausted, r.Scenario, r.Reason = x.verdict, x.verdict == Holds, x.scenario, x.reason
	r.Counterexample = x.file
	if x.profile.Name != r.profile.Name {
		r.DerivedFrom = x.profile.Name
	}
}
