package explore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The memory of the checks could change without a report. States that differed only in that memory had the
// same fingerprint, so the search lost the outcomes that follow a crash there.
func TestUnreportedMemory(t *testing.T) {
	late := func(k *kit.Kit, x *int) { k.History(); *x = 1 } // the report ends the step
	early := func(k *kit.Kit, x *int) { *x = 1; k.History() }
	never := func(_ *kit.Kit, x *int) { *x = 1 }
	for name, c := range map[string]struct {
		change   func(k *kit.Kit, x *int)
		reported bool
	}{"early": {early, true}, "late": {late, false}, "never": {never, false}} {
		s := &explore.Scenario{Name: "test/unreported", Faults: "crash(a)<=1", Build: func(x *explore.Case) (sim.Config, error) {
			k := kit.New(x)
			v := kit.Memory[int](k)
			return k.World(sim.Node{Name: "a", Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
				if life == 0 {
					c.change(k, v)
					h.Sleep(time.Second)
				}
			}}), nil
		}}
		for _, o := range []explore.Options{{}, {Strategy: explore.Random, MaxRuns: 10}} {
			r, err := explore.Check(s, o)
			if err != nil {
				t.Fatal(err)
			}
			if ok := r.Verdict != explore.Unknown; ok != c.reported || !ok && !errors.Is(r.Reason, sim.ErrUnreported) {
				t.Errorf("%s, %s: %v, %v", name, o.Strategy, r.Verdict, r.Reason)
			}
		}
	}
}

// The outcome could change after the last report, and the state did not contain the change.
func TestUnreportedOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		end      func(c *explore.Case)
		reported bool
	}{
		"no report":            {func(c *explore.Case) { c.Outcome("x") }, false},
		"before History":       {func(c *explore.Case) { c.Outcome("x"); c.History(fingerprint.Print{}.Int(1)) }, true},
		"after History":        {func(c *explore.Case) { c.History(fingerprint.Print{}.Int(1)); c.Outcome("x") }, false},
		"after Report":         {func(c *explore.Case) { c.Report(fingerprint.Print{}.Int(1)); c.Outcome("x") }, true},
		"a step after Report":  {func(c *explore.Case) { c.Report(fingerprint.Print{}.Int(1)); c.Point(); c.Outcome("x") }, false},
		"as it was in History": {func(c *explore.Case) { c.Outcome("x"); c.History(fingerprint.Print{}.Int(1)); c.Outcome("x") }, true},
	} {
		s := &explore.Scenario{Name: "test/unreported", Build: func(x *explore.Case) (sim.Config, error) {
			main := func(host.Host, int) { c.end(x) }
			return sim.Config{Profile: x.Profile, Nodes: []sim.Node{{Name: "a", Main: main}, {Name: "b", Main: main}}}, nil
		}}
		r, err := explore.Check(s, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if ok := r.Verdict == explore.Verified; ok != c.reported || !ok && !errors.Is(r.Reason, sim.ErrUnreported) {
			t.Errorf("%s: %v, %v", name, r.Verdict, r.Reason)
		}
	}
}

// Node.Again could call History, but its step had no access to the checks' memory in its footprint. So it commuted
// with a step that looks at that memory, and the search lost one order.
func TestAgainThatReports(t *testing.T) {
	agree(t, &explore.Scenario{Name: "test/again", Build: func(c *explore.Case) (sim.Config, error) {
		k := kit.New(c)
		m := kit.Memory[struct {
			Ended bool
			Said  string
		}](k)
		a := sim.Node{Name: "a", Main: func(host.Host, int) {}, Again: func(int, bool) bool { m.Ended = true; k.History(); return false }}
		return k.World(k.Host("b", func(host.Host) error {
			k.Look()
			saw := m.Ended
			k.Point()
			m.Said = fmt.Sprint("saw ", saw)
			k.Outcome(m.Said)
			k.History()
			return nil
		}), a), nil
	}}, "saw false", "saw true")
}

// A change of the checks' memory by Setup counted as unreported. If the first host was a daemon, Setup could not report it.
func TestSetupMayChangeTheMemory(t *testing.T) {
	for name, set := range map[string]func(k *kit.Kit, v *int){
		"unreported": func(_ *kit.Kit, v *int) { *v = 7 },
		"reported":   func(k *kit.Kit, v *int) { *v = 7; k.History() },
		"outcome":    func(k *kit.Kit, _ *int) { k.Outcome("nothing") },
	} {
		s := &explore.Scenario{Name: "test/setup", Build: func(c *explore.Case) (sim.Config, error) {
			k := kit.New(c)
			v := kit.Memory[int](k)
			w := k.World(sim.Node{Name: "a", Daemon: true, Main: func(host.Host, int) {}}, k.Host("b", func(host.Host) error { return nil }))
			w.Setup = func([]*sim.Host) { set(k, v) }
			return w, nil
		}}
		if r, err := explore.Check(s, explore.Options{}); err != nil || r.Verdict != explore.Verified {
			t.Errorf("%s: %v, %v, %v", name, r.Verdict, r.Reason, err)
		}
	}
}

// Two hosts could set different outcomes and report the same memory. The search tried only one order.
func TestOutcomeIsPartOfWhatHistoryReports(t *testing.T) {
	agree(t, &explore.Scenario{Name: "test/outcomes", Build: func(c *explore.Case) (sim.Config, error) {
		n := 0
		c.OnReset(func() { n = 0 })
		main := func(h host.Host, _ int) {
			n++
			c.Outcome(h.Name())
			c.History(fingerprint.Print{}.Int(n))
		}
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: main}, {Name: "b", Main: main}}}, nil
	}}, "a", "b")
}

// A choice in Setup, which runs before the first step, was never varied, and a replay panicked.
func TestSetupCannotChoose(t *testing.T) {
	s := &explore.Scenario{Name: "test/choice", Build: func(c *explore.Case) (sim.Config, error) {
		x := 0
		return sim.Config{Profile: c.Profile, Setup: func(hosts []*sim.Host) { x = hosts[0].Rand(2) },
			Nodes: []sim.Node{{Name: "a", Main: func(host.Host, int) {
				if x == 1 {
					c.Fail(errors.New("x is 1"))
				}
			}}}}, nil
	}}
	for _, o := range []explore.Options{{}, {Backwards: true}, {EveryOrder: true}, {Eager: true}, {Strategy: explore.Random, MaxRuns: 10}} {
		if r, err := explore.Check(s, o); err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrConfig) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
