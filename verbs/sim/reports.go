package sim

import (
	"errors"
	"math"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// The reports of a run to the checks, and its counters.

// Stats counts the work of runs, over the life of the world.
type Stats struct {
	Steps   uint64 // events
	Posts   uint64 // send work requests
	Choices uint64 // choices with more than one option inside steps
	// LogAvoided is the natural logarithm of the number of eager placement states per run
	// that late resolution did not visit, for the last run.
	LogAvoided float64
	// Exercised are the promises of cards that the programs relied on.
	Exercised faults.Exercise
	// MaxPayload is the longest payload of a Write or Send.
	MaxPayload int
	// TimedWaits counts the waits with a finite deadline, and ClockReads the calls of
	// Now. Their meaning depends on Config.Timers.
	TimedWaits, ClockReads uint64
	// VainPolls counts the polls that had to return a completion because the maxVain polls before had not.
	VainPolls uint64
	// InTime counts the service calls whose timeout was not explored (see Service.Slow).
	InTime uint64
	// CutShort counts the messages and stores that span more cells than Config.MaxPieces and, if that
	// is set, the loads and Reads of several cells: not all ways in which they tear were explored.
	CutShort uint64
	// NotInline counts the requests that Inlined had to leave unchanged.
	NotInline uint64
}

// Add adds the counts of another world, except LogAvoided, which belongs to one run.
func (s *Stats) Add(o *Stats) {
	s.Steps += o.Steps
	s.Posts += o.Posts
	s.Choices += o.Choices
	s.Exercised |= o.Exercised
	s.MaxPayload = max(s.MaxPayload, o.MaxPayload)
	s.TimedWaits += o.TimedWaits
	s.ClockReads += o.ClockReads
	s.VainPolls += o.VainPolls
	s.InTime += o.InTime
	s.CutShort += o.CutShort
	s.NotInline += o.NotInline
}

// MaxPieces returns the bound of the configuration.
func (w *World) MaxPieces() int { return w.cfg.MaxPieces }

// Steps returns the number of events of this run so far.
func (w *World) Steps() int { return w.steps }

// Stats returns the counters.
func (w *World) Stats() *Stats { return &w.stats }

// Fail stops the run with a violation. Scenarios call it through the checker.
func (w *World) Fail(err error) {
	if err == nil {
		err = ErrFailNil
	}
	if w.fail == nil && !w.dying() {
		w.fail = err
		if w.cur != nil {
			if w.tracer != nil {
				w.trace(w.cur.h, "violation", "%v", err)
				if p, ok := errors.AsType[*PanicError](err); ok { // its line is no longer on the stack
					e := &w.tracer.Events[w.lastEvent()]
					e.Source, e.File = p.source, p.file
				}
			}
		}
	}
}

// Failure returns the error that stopped the run, if it failed.
func (w *World) Failure() error { return w.fail }

// SetHistory sets the fingerprint of everything that the scenario's checks remember; it is part of the state. To the
// search, all of it is one object: the order of any two calls matters. A call belongs to the task's last operation
// before it, so no task reads the memory of the checks before the fingerprint includes the change. The call ends the
// step: other tasks can run before the code continues, even if all it does next is to call SetHistory again.
func (w *World) SetHistory(p fingerprint.Print) {
	if t := w.cur; t != nil && !w.preparing {
		if w.dying() {
			return
		}
		if t.h.node.spec.Daemon {
			w.Fail(ErrDaemonReports)
		}
		w.toldAt = w.seams
		w.touch(object(objChecks, 0, 0), Write) // a zombie and its successor both report
		w.hist = p
		t.reach()
		t.wait(op{kind: opRun})
		t.fresh = true
		return
	}
	w.touch(object(objChecks, 0, 0), Write) // Node.Again runs as part of a step
	w.hist = p
}

// ErrUnreported means that the memory of the checks or the outcome has changed, and the fingerprint
// does not include the change. The search could merge two different states, so there is no verdict.
var ErrUnreported = errors.New("sim: a step changed the memory of the checks or the outcome and did not report it: change the memory first and then call History, in the same step")

// unreported fails the run if the fingerprint misses a change of the checks' memory.
func (w *World) unreported() bool {
	if w.over || w.cfg.Unreported == nil || !w.cfg.Unreported() {
		return false // if the run is over, no state follows
	}
	w.Fail(ErrUnreported)
	return true
}

// LookAtHistory notes that the running task looks at the checks' memory, as last reported:
// its later actions may depend on it, and its step comes before or after another that reports
// more. Like a call of SetHistory, the look belongs to the task's last operation before it.
func (w *World) LookAtHistory() {
	t := w.cur
	if t == nil || w.dying() {
		return // between steps: Node.Again and gates may look without this
	}
	if t.h.node.spec.Daemon {
		w.Fail(ErrDaemonReports)
	}
	w.toldAt = w.seams
	w.touch(object(objChecks, 0, 0), Read)
	t.obs.see(-1, w.hist)
	t.looked = true
}

// LookAtLives notes that the running task observes which lives of a host have begun. A check can
// know this from Node.Again. Like LookAtHistory, it belongs to the task's last operation before it.
func (w *World) LookAtLives(name string) {
	t, at := w.cur, slices.Index(w.places, name)
	if t == nil || w.preparing || w.dying() || at < 0 || at >= len(w.nodes) {
		return
	}
	if t.h.node.spec.Daemon {
		w.Fail(ErrDaemonReports) // its steps have no seams
	}
	n := w.nodes[at]
	w.toldAt = w.seams
	w.touch(n.current(), Read)
	t.obs.see(n.sym, print{}.Int(n.life).Bool(n.wantsLife))
	t.looked = true
}

// Seams returns how often the last step could have ended earlier with a difference that only the checks can
// observe. A post is one step with the task's earlier actions, because others that come in between could as well
// have come before both. But if the task then reports the post to the checks, others may have reported nothing
// before the actions and everything before the post. Which operations a report follows is known only at the
// report. So a policy that leaves nothing out repeats the step for each seam, and has it stop there (StopAt).
func (w *World) Seams() int { return w.toldAt }

// StopAt makes the next step end at its n-th seam, counted from 1. A policy calls it before it returns the step.
func (w *World) StopAt(n int) { w.stopAt = n }

// Report adds to the fingerprint everything that the running task has reported to the checks so far. Unlike
// SetHistory it ignores the order in which tasks report, so reports of different tasks do not conflict, and
// it stays when the task ends. Others may run after it: a crash must be tried between two reports.
func (w *World) Report(p fingerprint.Print) {
	t := w.cur
	if t == nil {
		w.Fail(ErrNobodyReports)
		return
	}
	if w.dying() {
		return
	}
	n := t.h.node
	if n.spec.Daemon {
		w.Fail(ErrDaemonReports)
	}
	if t.dirty {
		t.wait(op{kind: opRun}) // its host may die in between
	} else {
		t.passes()
	}
	key := fingerprint.Print{}.Int(t.h.life).Int(t.ord).Print(p)
	n.reports = n.reports.Minus(t.report).Plus(key)
	t.report = key
	w.touch(object(objChecks, n.idx, 1+ofLife(t.h.life, t.ord)), Write)
	t.reach()
}

// Dying reports whether a task is being unwound: its deferred functions have no effect.
func (w *World) Dying() bool { return w.dying() }

// EagerStates returns the number of states that correspond to this one in a machine that
// places each piece of a message in a step of its own.
func (w *World) EagerStates() float64 {
	n := 1.0
	for _, q := range w.qps {
		open := 0
		for _, e := range q.elems {
			if e.kind != elemSample && !e.over() {
				open++
			}
		}
		switch {
		case open == 0:
		case w.cfg.Profile.Placement == faults.InOrder:
			n *= float64(open + 1)
		default:
			n *= math.Exp2(float64(open))
		}
	}
	return n
}
