package explore_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The deferred functions of a dead task run when its run is over, and could still send requests.
func TestTheDeadCallNobody(t *testing.T) {
	for what, call := range map[string]func(h host.Host){
		"Gather": func(h host.Host) { h.Gather([]host.Call{{To: "b", Service: "s"}}, verbs.Forever) },
		"Call":   func(h host.Host) { _, _ = h.Call("b", "s", nil, verbs.Forever) },
	} {
		s := &explore.Scenario{Name: "test/dead", Faults: "crash(a)<=1", Build: func(c *explore.Case) (sim.Config, error) {
			x := &tiny{c: c}
			c.OnReset(func() { x.logs = make([][]string, 2); c.Outcome("nothing") })
			a := sim.Node{Name: "a", Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
				defer call(h)
				_, _ = got(h.Listen("never")).Accept(verbs.Forever)
			}}
			b := sim.Node{Name: "b", Main: func(h host.Host, _ int) {
				_, _ = got(h.Listen("s")).Accept(verbs.Forever)
				x.say(1, "called")
			}}
			return sim.Config{Nodes: []sim.Node{a, b}, Profile: c.Profile, Budget: c.Budget, Linger: true}, nil
		}}
		for _, eager := range []bool{false, true} {
			r, err := explore.Check(s, explore.Options{Eager: eager})
			if err != nil || !slices.Equal(r.Outcomes, []string{"nothing"}) {
				t.Errorf("%s: %v: %q", what, err, r.Outcomes)
			}
		}
	}
}

// A host that makes itself crash does nothing after that.
func TestTheDeadDoNotGoOn(t *testing.T) {
	for _, k := range []faults.Kind{faults.Crash, faults.Power} {
		s := &explore.Scenario{Name: "test/dead", Build: func(c *explore.Case) (sim.Config, error) {
			x := &tiny{c: c}
			c.OnReset(func() { x.logs = make([][]string, 1) })
			a := sim.Node{Name: "a", Again: func(life int, crashed bool) bool { return crashed }, Main: func(h host.Host, life int) {
				if life > 0 {
					x.say(0, "next")
					return
				}
				if err := c.Inject(k, "a"); err != nil {
					c.Fail(err)
				}
				x.say(0, "goes on")
			}}
			return sim.Config{Nodes: []sim.Node{a}, Profile: c.Profile, Budget: c.Budget, Injects: faults.Budget{{Kind: faults.Power, Hosts: []string{"a"}}}}, nil
		}}
		for _, eager := range []bool{false, true} {
			r, err := explore.Check(s, explore.Options{Eager: eager})
			if err != nil || r.Verdict != explore.Verified || !slices.Equal(r.Outcomes, []string{"next"}) {
				t.Errorf("%v: %v, %+v", k, err, r)
			}
		}
	}
}

// A process that dies runs no deferred functions, so what these would do, such as setting a variable
// that a scenario shares, is seen by no later life.
func TestTheDeadRunNoDeferredFunctions(t *testing.T) {
	for _, own := range []bool{false, true} {
		s := &explore.Scenario{Name: "test/deferred", Build: func(c *explore.Case) (sim.Config, error) {
			x := &tiny{c: c}
			shared := ""
			c.OnReset(func() { x.logs, shared = make([][]string, 1), "" })
			a := sim.Node{Name: "a", Again: func(life int, crashed bool) bool { return crashed }, Main: func(h host.Host, life int) {
				if life > 0 {
					x.say(0, "%s", "next"+shared)
					return
				}
				defer func() { shared = " after a deferred function" }()
				if own {
					if err := c.Inject(faults.Crash, "a"); err != nil {
						c.Fail(err)
					}
				}
				h.Sleep(time.Second)
				x.say(0, "first")
			}}
			return sim.Config{Nodes: []sim.Node{a}, Profile: c.Profile, Budget: c.Budget, Injects: faults.Budget{{Kind: faults.Power, Hosts: []string{"a"}}}}, nil
		}}
		want := []string{"next"}
		if !own {
			s.Faults = "crash(a)<=1"
			want = []string{"first", "first next", "next"}
		}
		for _, eager := range []bool{false, true} {
			r, err := explore.Check(s, explore.Options{Eager: eager})
			if err != nil || r.Verdict != explore.Verified || !slices.Equal(r.Outcomes, want) {
				t.Errorf("own %t, eager %t: %v, %+v", own, eager, err, r)
			}
		}
	}
}

// A task that a deferred function of the dead starts never is.
func TestTheDeadStartNothing(t *testing.T) {
	most := 0
	s := &explore.Scenario{Name: "test/start", Faults: "crash(a)<=1", Build: func(c *explore.Case) (sim.Config, error) {
		c.OnReset(func() { most = max(most, runtime.NumGoroutine()) })
		a := sim.Node{Name: "a", Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
			defer h.Go("cleanup", func() {})
			h.Rand(200)
			h.Sleep(time.Second)
		}}
		return sim.Config{Nodes: []sim.Node{a}, Profile: c.Profile, Budget: c.Budget, Injects: faults.Budget{{Kind: faults.Power, Hosts: []string{"a"}}}}, nil
	}}
	before := runtime.NumGoroutine()
	if r, err := explore.Check(s, explore.Options{Workers: 1}); err != nil || r.Verdict != explore.Verified || most > before+20 {
		t.Errorf("%v, %+v, and up to %d goroutines", err, r, most)
	}
}

// What the deferred functions of the dead meet is met in no run.
func TestTheDeadMeetNothing(t *testing.T) {
	s := &explore.Scenario{Name: "test/meet", Faults: "crash(a)<=1", Sometimes: []string{"it"}, Build: func(c *explore.Case) (sim.Config, error) {
		a := sim.Node{Name: "a", Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
			alive := true
			defer func() {
				if alive {
					c.Meet("it")
				}
			}()
			h.Sleep(time.Second)
			alive = false
		}}
		return sim.Config{Nodes: []sim.Node{a}, Profile: c.Profile, Budget: c.Budget, Injects: faults.Budget{{Kind: faults.Power, Hosts: []string{"a"}}}}, nil
	}}
	if r, err := explore.Check(s, explore.Options{}); err != nil || r.Sometimes[0].Met {
		t.Errorf("%v, %+v", err, r)
	}
}
