package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Time describes in a line what the verdict assumes about time.
func (r *Result) Time() string {
	text := r.Timers.String() + ": " + r.Timers.Says()
	if r.Timers.Regime != faults.Idle && r.ClockReads > 0 {
		text += "; reading a clock returns the earliest or the latest possible time"
	}
	if r.Exhausted && r.TimedWaits == 0 && r.ClockReads == 0 {
		text += "; the code sets no deadline and reads no clock"
	}
	return text
}

// Warning describes what was not checked about time, and about torn messages, although the code depends on it, or
// is empty. It covers the code that ran; a search that stopped early may have missed
// some.
func (r *Result) Warning() string {
	var all []string
	if early := r.warnsOfTimers(); early != "" {
		all = append(all, early)
	}
	if r.InTime > 0 {
		all = append(all, "every service call is answered in time; timeouts of service calls are not checked (see sim.Service.Slow)")
	}
	if r.VainPolls > 0 {
		all = append(all, "the code polls repeatedly; a completion that becomes visible only at the fifth poll or later is not checked")
	}
	if r.CutShort > 0 {
		all = append(all, fmt.Sprintf("messages tear into at most %d pieces, and a load or Read finds what has landed at one moment; "+
			"other ways to tear are not checked (see sim.Config.MaxPieces)", r.MaxPieces))
	}
	return strings.Join(all, "; ")
}

func (r *Result) warnsOfTimers() string {
	if r.Timers.Regime != faults.Idle || r.TimedWaits == 0 && r.ClockReads == 0 || r.earlyTimers() {
		return ""
	}
	what := "sets finite deadlines"
	switch {
	case r.TimedWaits == 0:
		what = "reads the clock"
	case r.ClockReads > 0:
		what += " and reads the clock"
	}
	return "the code " + what + "; what it does if a timer fires while anything else can happen is not checked: " +
		"try timers free or skew(1.1), or allow a timeout fault"
}

// earlyTimers: the budget lets timers fire although nothing is wrong.
func (r *Result) earlyTimers() bool {
	b, _ := faults.ParseBudget(r.Faults) // it was made of one
	return slices.ContainsFunc(b, func(x faults.Rule) bool { return x.Kind == faults.Timeout && x.Max > 0 })
}
