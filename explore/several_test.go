package explore_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// gathering is a host that waits for answers once. Its outcome has a sign for each
// call: + answered, - unreachable, t timed out, . awaited.
func gathering(need int, timeout time.Duration, faults string, peers ...string) *explore.Scenario {
	return &explore.Scenario{Name: "test/gathering", Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		var calls []host.Call
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget}
		cfg.Nodes = []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			out := ""
			for _, x := range h.Gather(calls, timeout).Wait(need) {
				switch {
				case x.Pending():
					out += "."
				case x.Err == nil:
					out += "+"
				case errors.Is(x.Err, host.ErrTimeout):
					out += "t"
				default:
					out += "-"
				}
			}
			reports(c, out)
		}}}
		for _, name := range peers {
			calls = append(calls, host.Call{To: name, Service: "s"})
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
				l, _ := h.Listen("s")
				for {
					if r, _ := l.Accept(verbs.Forever); name != "mute" {
						r.Reply(nil)
					}
				}
			}})
		}
		return cfg, nil
	}}
}

// Wait returned exactly as many answers as needed, and no failure besides: code that
// meets both on every network never ran.
func TestGatherFindsWhateverHasCome(t *testing.T) {
	sequential(t)
	for reason, x := range map[string]struct {
		s    *explore.Scenario
		want []string
	}{
		"more than needed":        {gathering(1, verbs.Forever, "", "b", "c", "d"), []string{"+++", "++.", "+.+", "+..", ".++", ".+.", "..+"}},
		"a failure and a success": {gathering(1, verbs.Forever, "crash(c)<=1", "b", "c"), []string{"++", "+-", "+.", ".+"}},
		"a success, too late":     {gathering(2, time.Second, "", "b", "mute"), []string{"+t", "tt"}},
	} {
		r, err := explore.Check(x.s, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(x.want, r.Outcomes); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
		naive, _, done, err := explore.Naive(x.s, explore.Options{}, true, 100_000)
		if err != nil || !done {
			t.Fatal(done, err)
		}
		if d := cmp.Diff(x.want, naive); d != "" {
			t.Errorf("%s, naive (-want +got):\n%s", reason, d)
		}
	}
}

// Poll and Wait never returned two completions.
func TestPollReturnsSeveralCompletions(t *testing.T) {
	sequential(t)
	s := rigScenario("a: write b 0 1 sig; write b 8 2 sig; write b 8 3 sig; waits b | b:", "", false, 7)
	want := []string{"a: 1 b:", "a: 2 b:", "a: 3 b:"}
	r, err := explore.Check(s, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, r.Outcomes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	naive, _, _, err := explore.Naive(s, explore.Options{}, true, 100_000)
	if d := cmp.Diff(want, naive); d != "" || err != nil {
		t.Errorf("naive (-want +got): %v\n%s", err, d)
	}
}

// A fault timeout always struck the first task with a timer.
func TestTimeoutStrikesAnyTimer(t *testing.T) {
	sequential(t)
	outcomes(t, &explore.Scenario{Name: "test/timeout", Faults: "timeout(a)<=1", Build: func(c *explore.Case) (sim.Config, error) {
		order := ""
		c.OnReset(func() { order = "" })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			for i, name := range []string{"first", "second"} {
				h.Go(name, func() {
					h.Sleep(time.Duration(1+i) * time.Hour)
					order += " " + name
					c.Outcome(order)
					c.History(fingerprint.Print{}.String(order))
				})
			}
			h.Sleep(3 * time.Hour)
		}}}}, nil
	}}, " first", " first second", " second first")
}

// classed is a violation of a class.
type classed string

func (c classed) Error() string { return "of the class " + string(c) }
func (c classed) Class() string { return string(c) }

// A search for a class continues past violations of others. If it finds none of the
// class, it reports one of the others: the code is not verified.
func TestSearchForAClass(t *testing.T) {
	s := &explore.Scenario{Name: "test/classes", Build: func(c *explore.Case) (sim.Config, error) {
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			if h.Rand(4) != 3 {
				c.Fail(classed("often"))
			}
			for range 3 {
				h.Sleep(time.Second)
				if h.Rand(2) == 0 {
					return
				}
			}
			c.Fail(classed("seldom"))
		}}
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{a, {Name: "b", Main: a.Main}}}, nil
	}}
	for _, strategy := range []string{explore.Exhaustive, explore.Random, explore.Mixed} {
		for _, x := range []struct {
			seek []string
			want string
		}{
			{nil, "often"}, {[]string{"often"}, "often"}, {[]string{"seldom"}, "seldom"}, {[]string{"never"}, "often"},
			{[]string{"never", "seldom"}, "seldom"},
		} {
			r, err := explore.Check(s, explore.Options{Strategy: strategy, Seek: x.seek, Workers: 1, MaxRuns: 20_000})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Violated || r.Counterexample.Class != x.want {
				t.Errorf("%s, %q sought: %v, %+v, %v", strategy, x.seek, r.Verdict, r.Counterexample, r.Reason)
			}
			if all := strategy != explore.Random && slices.Equal(x.seek, []string{"never"}); r.Exhausted != all {
				t.Errorf("%s, %q sought: exhausted is %v", strategy, x.seek, r.Exhausted)
			}
		}
	}
}
