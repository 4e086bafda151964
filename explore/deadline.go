package explore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A long check in a Go test must stop before the test's deadline, because then go test prints goroutines and no
// verdict. With -v it must show that it is alive.

// progressEvery is how often a test with -v reports its progress.
const progressEvery = 5 * time.Second

// deadline stops a check before go test does.
type deadline struct {
	at     time.Time // zero: none
	passed atomic.Bool
}

// deadlineOf leaves a tenth of the time that a test has, and at least a second, to shrink a counterexample and print it.
func deadlineOf(t testing.TB, now time.Time) *deadline {
	d := &deadline{}
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, ok := limited.Deadline(); ok {
			d.at = at.Add(-max(at.Sub(now)/10, time.Second))
		}
	}
	return d
}

// bound makes a check stop at the deadline.
func (d *deadline) bound(opt *Options) {
	if d.at.IsZero() {
		return
	}
	asked := opt.Stop
	opt.Stop = func() bool {
		if !time.Now().Before(d.at) {
			d.passed.Store(true)
			return true
		}
		return asked != nil && asked()
	}
}

// advice describes how to continue a check that ran out of time.
func (d *deadline) advice() string {
	if d.passed.Load() {
		return "raise the timeout of go test (-timeout), bound the workload further, or sample with Strategy: explore.Random"
	}
	return "raise MaxRuns or MaxTime, bound the workload further, or sample with Strategy: explore.Random"
}

// ended names the limit that ended the check.
func (d *deadline) ended() string {
	if d.passed.Load() {
		return "the deadline of go test"
	}
	return "a limit"
}

// reporter logs a line of progress occasionally, and calls the functions that the caller of Test passed.
func reporter(t testing.TB, every time.Duration, asked func(Progress)) func(Progress) {
	var mu sync.Mutex
	var last time.Duration
	return func(p Progress) {
		if asked != nil {
			asked(p)
		}
		mu.Lock()
		defer mu.Unlock()
		if p.Elapsed-last >= every {
			last = p.Elapsed
			t.Logf("%s", progressLine(p))
		}
	}
}

func progressLine(p Progress) string {
	text := fmt.Sprintf("%s: %d runs, %d states after %v", p.Scenario, p.Runs, p.States, p.Elapsed.Round(time.Second))
	if p.Frontier > 0 {
		text += fmt.Sprintf(", %d branches open", p.Frontier)
	}
	return text
}
