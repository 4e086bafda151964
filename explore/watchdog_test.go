package explore

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// impatient is a StepTimeout for code that hangs for certain.
const impatient = 200 * time.Millisecond

// hanging is a scenario of two hosts. Host b loops in the runs that when selects, until
// the test is over: its goroutine cannot be stopped, and would use a core for the rest
// of the test binary.
func hanging(t *testing.T, faults string, when func(life int) bool) *Scenario {
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	return &Scenario{Name: "small/hangs", Faults: faults, Build: func(c *Case) (sim.Config, error) {
		node := func(name string, loops bool) sim.Node {
			return sim.Node{Name: name, Main: func(h host.Host, life int) {
				h.Sleep(time.Second)
				if loops && when(life) {
					for !over.Load() { // nothing of host or verbs
					}
				}
				if life > 1 {
					c.Fail(errors.New("a third life"))
				}
			}}
		}
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{node("a", false), node("b", true)}}, nil
	}}
}

func wantHang(t *testing.T, err error, task string) {
	t.Helper()
	var hang *HangError
	if !errors.As(err, &hang) || !errors.Is(err, ErrHang) || hang.Timeout != impatient || hang.Scenario != "small/hangs" {
		t.Fatalf("got %v, want a HangError", err)
	}
	if hang.Task != task || !strings.HasPrefix(hang.Line, "explore/watchdog_test.go:") {
		t.Errorf("%s at %s, want %s in this file", hang.Task, hang.Line, task)
	}
	if text := err.Error(); !strings.Contains(text, "small/hangs") || !strings.Contains(text, task) || !strings.Contains(text, hang.Line) {
		t.Errorf("the text does not name all: %s", text)
	}
}

// A step that never returns stops every kind of check, and its place is reported.
func TestHang(t *testing.T) {
	always := func(int) bool { return true }
	for _, strategy := range []string{Exhaustive, Random, PCT} {
		t.Run(strategy, func(t *testing.T) {
			progress := func(Progress) {}
			r, err := Check(hanging(t, "", always), Options{Strategy: strategy, StepTimeout: impatient, Workers: 2, Progress: progress})
			if err != nil || r.Verdict != Unknown || r.Exhausted {
				t.Fatalf("%+v, %v", r, err)
			}
			wantHang(t, r.Reason, "b.0/main")
		})
	}
	t.Run("naive", func(t *testing.T) {
		_, _, done, err := Naive(hanging(t, "", always), Options{StepTimeout: impatient}, true, 100)
		if done {
			t.Error("it is said to be done")
		}
		wantHang(t, err, "b.0/main")
	})
	t.Run("replay", func(t *testing.T) {
		ce := &Counterexample{Version: FileVersion, Scenario: "small/hangs", Profile: "strong", Faults: "none"}
		_, err := ce.replay(hanging(t, "", always), impatient, false)
		wantHang(t, err, "b.0/main")
	})
}

// After the runs of the determinism check, each strategy detects it as well.
func TestHangInSearch(t *testing.T) {
	for _, strategy := range []string{Exhaustive, Random, PCT} {
		t.Run(strategy, func(t *testing.T) {
			var begun atomic.Bool
			s := hanging(t, "crash(b)<=1", func(life int) bool { return life == 1 && begun.Load() })
			r, err := Check(s, Options{Strategy: strategy, StepTimeout: impatient, Workers: 2,
				Stop: func() bool { begun.Store(true); return false }})
			if err != nil || r.Verdict != Unknown {
				t.Fatalf("%+v, %v", r, err)
			}
			wantHang(t, r.Reason, "b.1/main")
		})
	}
}

// A task other than its host's first is named too: its number was cut off.
func TestHangOfAnotherTask(t *testing.T) {
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	s := &Scenario{Name: "small/hangs", Build: func(c *Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			h.Go("idle", func() { h.Sleep(time.Second) })
			h.Go("busy", func() {
				for !over.Load() { // nothing of host or verbs
				}
			})
			h.Sleep(time.Hour)
		}}}}, nil
	}}
	r, err := Check(s, Options{StepTimeout: impatient})
	if err != nil || r.Verdict != Unknown {
		t.Fatalf("%+v, %v", r, err)
	}
	wantHang(t, r.Reason, "a.0/task2")
}

// A violation is not lost because a run of the shrinking hangs.
func TestHangInShrinking(t *testing.T) {
	var begun atomic.Bool
	lives := 0 // third lives since the search began: it finds one, and one is recorded
	s := hanging(t, "crash(b)<=2", func(life int) bool {
		if life == 2 && begun.Load() {
			lives++
		}
		return life == 0 && lives == 2
	})
	r, err := Check(s, Options{StepTimeout: impatient, Workers: 1, Stop: func() bool { begun.Store(true); return false }})
	if err != nil || r.Verdict != Violated || r.Counterexample == nil || r.Counterexample.Message != "a third life" {
		t.Fatalf("%+v, %v", r, err)
	}
	wantHang(t, r.Reason, "b.0/main")
}

// Code of the scenario outside the steps is watched as well.
func TestHangInBuild(t *testing.T) {
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	s := &Scenario{Name: "small/hangs", Build: func(*Case) (sim.Config, error) {
		for !over.Load() {
		}
		return sim.Config{}, errors.New("over")
	}}
	r, err := Check(s, Options{StepTimeout: impatient})
	if err != nil || r.Verdict != Unknown {
		t.Fatalf("%+v, %v", r, err)
	}
	wantHang(t, r.Reason, "the scenario (Build, OnReset, or a deferred function of a task that was ended)")
}

// Many steps that each return are no hang, however long the check takes.
func TestSlowIsNoHang(t *testing.T) {
	const patient = 5 * impatient // a busy machine may let a step wait for its turn
	s := hanging(t, "crash(a)<=1", func(int) bool { return false })
	end := time.Now().Add(patient + impatient)
	r, err := Check(s, Options{Strategy: Random, MaxTime: time.Minute, StepTimeout: patient,
		Stop: func() bool { return time.Now().After(end) }})
	if err != nil || r.Verdict != RanOut {
		t.Fatalf("%+v, %v", r, err)
	}
}
