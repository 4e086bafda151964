package nclcheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/strace"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Limits of a workload from a trace: a run keeps a few copies of the file.
const (
	maxTraceFile = 16 << 20
	tracePieces  = 4
	traceRuns    = 500
)

// ErrTrace is wrapped by errors about traces that cannot be a workload.
var ErrTrace = errors.New("nclcheck: the trace cannot be a workload")

// FromTrace makes a scenario from the system calls of a real program on its log file:
// each write is one record, and the application crashes during one of them, chosen at
// random. The recovered content must be the result of the writes up to some point, and
// include every acknowledged write.
//
// A truncation is recorded as zeros, a replacement of the file as its new content. NCL
// releases the file when it is unlinked or renamed away: the workload stops there. A
// sync does nothing, because a record is replicated when it returns.
func FromTrace(t *strace.Trace) (*explore.Scenario, error) {
	ops, size, err := records(t)
	if err != nil {
		return nil, err
	}
	return &explore.Scenario{
		Name:     "ncl/trace",
		Doc:      fmt.Sprintf("The %d writes that a program made to %s, with a crash during any of them.", len(ops), t.File),
		Profile:  "strong",
		Faults:   "crash(app)<=1, crash(peer*)<=1",
		Strategy: explore.Random,
		MaxRuns:  traceRuns,
		Bounds: fmt.Sprintf("f=1, three peers, %d records in a file of %d bytes, a message tears into at most %d pieces, faults during one record and the recovery",
			len(ops), size, tracePieces),
		Sometimes: afterCrash,
		Build: func(c *explore.Case) (sim.Config, error) {
			a := &replay{app: newApp(scenario.New(c), workload{f: 1, size: size, lives: [][]write{nil, nil}, meets: afterCrash}), ops: ops}
			cfg, err := newWorld(a.app, a.main)
			cfg.Gate, cfg.MaxPieces = scenario.When(a.mayStrike), tracePieces
			c.OnReset(func() { a.at, a.target = 0, 0 })
			return cfg, err
		},
	}, nil
}

// record is one write of the program.
type record struct {
	off  int
	data []byte
}

// records returns the writes of a trace, and the size of a file that holds them.
func records(t *strace.Trace) ([]record, int, error) {
	var out []record
	end := int64(0)
	for _, op := range t.Ops {
		r := record{off: int(op.Offset), data: op.Data}
		switch op.Kind {
		case strace.Write:
		case strace.Replace:
			r.off = 0
		case strace.Truncate:
			if op.Size >= end {
				continue
			}
			r = record{off: int(op.Size), data: make([]byte, end-op.Size)}
		case strace.Unlink, strace.Rename:
			if len(out) > 0 {
				return finish(out, end)
			}
			continue
		default:
			continue
		}
		if last := int64(r.off) + int64(len(r.data)); last > end {
			end = last
		}
		if end > maxTraceFile {
			return nil, 0, fmt.Errorf("%w: line %d: %s grows beyond %d bytes; record a shorter run", ErrTrace, op.Line,
				t.File, maxTraceFile)
		}
		if len(r.data) > 0 {
			out = append(out, r)
		}
	}
	return finish(out, end)
}

func finish(out []record, end int64) ([]record, int, error) {
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("%w: it has no writes", ErrTrace)
	}
	return out, int(end+7) &^ 7, nil
}

// replay is the application that repeats a trace.
type replay struct {
	*app
	ops        []record
	at, target int
}

// mayStrike permits faults during the target record and afterwards.
func (a *replay) mayStrike() bool { return a.Latest() > 0 || a.at == a.target && a.target > 0 }

func (a *replay) main(h host.Host, life int) {
	run := &run{app: a.app, h: h, life: life, file: a.files[0]}
	f := run.open()
	if f == nil || life > 0 {
		return
	}
	a.target = 1 + h.Rand(len(a.ops))
	for _, r := range a.ops {
		a.at++
		if !run.issue(f, write{r.off, len(r.data)}, r.data) {
			return
		}
	}
}
