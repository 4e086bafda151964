package matrix

import (
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// look searches each scenario for a moment, unless the answer is known.
func (f *filler) look(p faults.Profile, with sim.Strengthen) (*fact, error) {
	if x := f.known(p, with); x != nil {
		return x, nil
	}
	return f.run(p, with, f.opt.Probe)
}

// full searches all scenarios to the end, unless the answer is known.
func (f *filler) full(p faults.Profile, with sim.Strengthen) (*fact, error) {
	if x := f.known(p, with); x != nil {
		return x, nil
	}
	if finer(p) {
		return f.run(p, with, max(1, f.opt.MaxRuns/50))
	}
	return f.run(p, with, f.opt.MaxRuns)
}

// run searches the scenarios until one is violated, each with so many runs. If a
// limit comes first, the others are still looked at: one may be violated.
func (f *filler) run(p faults.Profile, with sim.Strengthen, runs uint64) (*fact, error) {
	x := &fact{profile: p, with: with, verdict: Holds}
	spent := time.Duration(0)
	cost := map[*explore.Scenario]time.Duration{}
	for _, s := range f.order {
		if f.opt.Stop != nil && f.opt.Stop() || f.opt.MaxTime > 0 && spent >= f.opt.MaxTime {
			x.verdict, x.limited = Undecided, true
			break
		}
		r, err := f.check(s, p, with, runs, spent)
		if err != nil {
			return nil, err
		}
		f.noteTime(r)
		spent += r.Elapsed
		cost[s] = r.Elapsed
		if with == 0 { // a strengthening uses fences that the protocol does not
			f.exercised |= r.Exercised
		}
		f.payload = max(f.payload, r.MaxPayload)
		x.left += r.NotInline
		if x.note(r); x.verdict == Breaks {
			break
		}
	}
	x.seconds = math.Round(spent.Seconds()*100) / 100
	if x.verdict == Holds {
		sort.SliceStable(f.order, func(i, j int) bool { return cost[f.order[i]] < cost[f.order[j]] })
	}
	if x.ce != nil && f.opt.Out != "" && with == 0 {
		if err := f.save(x); err != nil {
			return nil, err
		}
	}
	f.facts = append(f.facts, x)
	return x, nil
}

func (f *filler) check(s *explore.Scenario, p faults.Profile, with sim.Strengthen, runs uint64, spent time.Duration) (*explore.Result, error) {
	what := s.Name + " with " + p.Name
	if with != 0 {
		what += " and " + with.String()
	}
	opt := explore.Options{Profile: p.Name, Timers: f.opt.Timers, Strategy: explore.Exhaustive, Strengthen: with, MaxRuns: runs,
		Workers: f.opt.Workers, Stop: f.opt.Stop, NoShrink: f.opt.Out == "" || with != 0}
	if f.opt.MaxTime > 0 {
		opt.MaxTime = f.opt.MaxTime - spent
	}
	if f.opt.Progress != nil {
		f.opt.Progress(what)
	}
	return explore.Check(s, opt)
}

// noteTime records the time regime of a search, each regime once.
func (f *filler) noteTime(r *explore.Result) {
	if says := r.Timers.String() + ": " + r.Timers.Says(); !strings.Contains(f.timers, says) {
		f.timers = strings.TrimPrefix(f.timers+"; "+says, "; ")
	}
	if f.warning == "" {
		f.warning = r.Warning()
	}
}

// note records the result of one scenario.
func (x *fact) note(r *explore.Result) {
	switch r.Verdict {
	case explore.Verified:
	case explore.Violated:
		x.verdict, x.scenario, x.ce, x.limited = Breaks, r.Scenario, r.Counterexample, false
		x.reason = r.Counterexample.Class
	case explore.RanOut:
		x.verdict, x.limited = Undecided, true
	default:
		x.verdict, x.limited = Undecided, true
		x.reason = "the check of " + r.Scenario + " could not decide"
		if r.Reason != nil {
			x.reason += ": " + r.Reason.Error()
		}
	}
}

// save writes the counterexample to a file named after its scenario and profile.
func (f *filler) save(x *fact) error {
	x.file = f.opt.Out + "/" + explore.FileName(x.scenario+"-"+x.profile.Name)
	return x.ce.Save(x.file)
}

// own returns the last search of exactly this, or nil.
func (f *filler) own(p faults.Profile, with sim.Strengthen) *fact {
	for _, x := range slices.Backward(f.facts) {
		if x.profile.Name == p.Name && x.with == with {
			return x
		}
	}
	return nil
}

// known returns a search that decides this, itself or by monotonicity, or nil.
func (f *filler) known(p faults.Profile, with sim.Strengthen) *fact {
	if x := f.own(p, with); x != nil && x.verdict != Undecided {
		return x
	}
	for _, x := range f.facts {
		switch {
		case !f.alike(p, x.profile):
		case x.verdict == Holds && x.with&^with == 0 && faults.WeakerOrEqual(x.profile, p):
			return x
		case x.verdict == Breaks && with&^x.with == 0 && faults.WeakerOrEqual(p, x.profile):
			return x
		}
	}
	return nil
}

// alike reports whether a program behaves the same with both cards. Different inline
// limits matter only to a program with a payload between them. Different units of
// persistence matter only to a program with media errors: neither card is then weaker,
// see [faults.WeakerOrEqual].
func (f *filler) alike(a, b faults.Profile) bool {
	if a.TornLines != b.TornLines && slices.ContainsFunc(f.order, mediaErrors) {
		return false
	}
	for _, name := range faults.Unordered(a, b) {
		if name != "MaxInline" || f.payload > min(a.MaxInline, b.MaxInline) {
			return false
		}
	}
	return true
}

// mediaErrors reports whether bits may flip in a scenario, or memory become unreadable.
func mediaErrors(s *explore.Scenario) bool {
	b, err := faults.ParseBudget(s.Faults)
	return err != nil || slices.ContainsFunc(b, func(r faults.Rule) bool { return r.Kind == faults.Flip || r.Kind == faults.Poison })
}
