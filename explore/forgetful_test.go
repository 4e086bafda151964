package explore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// forgetful has runs that differ from the 41st on; the first ones, which are made
// twice, do not reveal it.
func forgetful(ends func(h host.Host) bool) *explore.Scenario {
	return &explore.Scenario{Name: "test/forgetful", Build: func(c *explore.Case) (sim.Config, error) {
		runs := 0
		c.OnReset(func() { runs++ })
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			for range 3 {
				if runs > 40 && ends(h) {
					return
				}
				h.Rand(8)
				h.Sleep(time.Second)
			}
		}}}}, nil
	}}
}

// A search whose runs stop repeating themselves is unknown, wherever it notices.
func TestRunsThatStopRepeatingAreUnknown(t *testing.T) {
	sequential(t)
	for what, ends := range map[string]func(h host.Host) bool{
		"a choice comes before the others": func(h host.Host) bool { h.Rand(2); return false },
		"a choice has fewer options":       func(h host.Host) bool { h.Rand(2); h.Sleep(time.Second); return false },
		"a choice is missing":              func(h host.Host) bool { h.Sleep(time.Second); return false },
		"a task waits":                     func(h host.Host) bool { h.NewCond(locked(h)).Wait(); return false },
		"a run ends":                       func(host.Host) bool { return true },
	} {
		r, err := explore.Check(forgetful(ends), explore.Options{Workers: 1, MaxRuns: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.Unknown || !errors.Is(r.Reason, explore.ErrNotDeterministic) {
			t.Errorf("%s: %v after %d runs: %v", what, r.Verdict, r.Runs, r.Reason)
		}
	}
}

func locked(h host.Host) host.Mutex {
	m := h.NewMutex()
	m.Lock()
	return m
}
