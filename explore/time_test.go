package explore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// order is a scenario that records the order in which tasks wake up, in a single list.
func order(name, timers, faults string, build func(c *explore.Case, say func(string)) []sim.Node) *explore.Scenario {
	return &explore.Scenario{Name: "time/" + name, Timers: timers, Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		var said []string
		say := func(s string) {
			said = append(said, s)
			text := strings.Join(said, " ")
			c.Outcome(text)
			c.History(fingerprint.Print{}.String(text))
		}
		c.OnReset(func() { said = nil; c.Outcome("nothing") })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: build(c, say)}, nil
	}}
}

// sleepers are hosts that sleep for several spans, and say their names.
func sleepers(say func(string), spans map[string][]int) []sim.Node {
	var out []sim.Node
	for _, name := range []string{"a", "b", "c"} {
		if spans[name] == nil {
			continue
		}
		out = append(out, sim.Node{Name: name, Main: func(h host.Host, _ int) {
			for i, ms := range spans[name] {
				h.Sleep(time.Duration(ms) * time.Millisecond)
				say(fmt.Sprint(name, i))
			}
		}})
	}
	return out
}

// same checks that the naive search, the search, and the search without reduction all
// have the outcomes want, or if it is nil the same ones.
func same(t *testing.T, s *explore.Scenario, want []string) {
	t.Helper()
	sequential(t)
	naive, runs, done, err := explore.Naive(s, explore.Options{}, true, 300_000)
	if err != nil || !done {
		t.Fatalf("naive: %v after %d runs, done %v", err, runs, done)
	}
	if want == nil {
		want = naive
	}
	slices.Sort(want)
	if d := cmp.Diff(want, naive); d != "" {
		t.Errorf("naive outcomes differ (-want +naive):\n%s", d)
	}
	for _, full := range []bool{true, false} {
		r, err := explore.Check(s, explore.Options{Workers: 1, EveryOrder: full})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.Verified {
			t.Fatalf("verdict %s: %v %v", r.Verdict, r.Reason, r.Counterexample)
		}
		if d := cmp.Diff(want, r.Outcomes); d != "" {
			t.Errorf("outcomes differ with EveryOrder=%v (-want +search):\n%s", full, d)
		}
	}
	t.Logf("naive %d runs, outcomes %q", runs, want)
}

// Equal timers fired only in the order of their tasks.
func TestEqualTimersFireInAnyOrder(t *testing.T) {
	same(t, order("equal", "idle", "", func(_ *explore.Case, say func(string)) []sim.Node {
		return sleepers(say, map[string][]int{"a": {5}, "b": {5}, "c": {7}})
	}), []string{"a0 b0 c0", "b0 a0 c0"})
	same(t, order("equal-on-one-host", "idle", "", func(_ *explore.Case, say func(string)) []sim.Node {
		return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			h.Go("t", func() { h.Sleep(5); say("t") })
			h.Sleep(5)
			say("m")
			h.Sleep(5)
		}}}
	}), []string{"m t", "t m"})
}

func TestTimersOfDifferentHostsAreFree(t *testing.T) {
	same(t, order("free", "free", "", func(_ *explore.Case, say func(string)) []sim.Node {
		return sleepers(say, map[string][]int{"a": {5, 5}, "b": {1000}})
	}), []string{"a0 a1 b0", "a0 b0 a1", "b0 a0 a1"})
}

// A host may pause before it begins to wait, so 3 milliseconds can elapse before 2
// whose start nobody observed. Its clock never runs backwards: nobody sees t end at 3
// before m ends at 2.
func TestTimersOfOneHostKeepTheOrderOfTheirDeadlines(t *testing.T) {
	for _, timers := range []string{"free", "skew(1)", "skew(3)"} {
		same(t, order("one-host-"+timers, timers, "", func(_ *explore.Case, say func(string)) []sim.Node {
			return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
				from := h.Now()
				at := func(name string) {
					if d := h.Now() - from; d < 10 { // as early as possible
						say(fmt.Sprint(name, int64(d)))
					} else {
						say(name + "later")
					}
				}
				h.Go("t", func() { h.Sleep(3); at("t") })
				h.Sleep(2)
				at("m")
				h.Sleep(8)
			}}}
		}), []string{"m2", "m2 t3", "m2 t5", "m2 tlater", "m3", "m3 t3", "m3 tlater", "m5", "m5 t5", "m5 tlater", "mlater", "mlater tlater",
			"t3 m3", "t3 m5", "t3 mlater", "t5 m5", "t5 mlater", "tlater mlater"})
	}
}

// In the regime idle time stands still while code can run, and so while a completion is
// on its way to it; a Write that nobody awaits can take longer than any timer. The
// eager machine let no timer fire before everything had landed.
func TestIdleDoesNotWaitForWritesThatNobodyAwaits(t *testing.T) {
	late := func(name string, f func(h host.Host, w *wire, x *tiny)) *explore.Scenario {
		return scenario(name, "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				f(h, w, x)
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				h.Sleep(2 * time.Second)
				x.say(1, "x=%d", r.Load64(0))
			})}
		})
	}
	same(t, late("unsignaled-then-sleep", func(h host.Host, w *wire, x *tiny) {
		w.post(verbs.OpWrite, inl, 0, 8, 0)
		h.Sleep(5 * time.Second)
	}), []string{" | x=0", " | x=1"})
	same(t, late("unsignaled-then-wait", func(h host.Host, w *wire, x *tiny) {
		w.post(verbs.OpWrite, inl, 0, 8, 0)
		var wc [1]verbs.WC
		_, err := w.cq.Wait(wc[:], time.Second)
		x.say(0, "%v", err == nil)
	}), []string{"false | x=0", "false | x=1"})
	same(t, late("signaled", func(h host.Host, w *wire, x *tiny) {
		w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
		var wc [1]verbs.WC
		_, err := w.cq.Wait(wc[:], time.Second)
		x.say(0, "%v", err == nil)
	}), []string{"true | x=0", "true | x=1"}) // acknowledged does not mean placed
}

// mute is a host that listens and never answers; it terminates when nobody waits for
// it.
func mute(name string) sim.Node {
	return sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
		l, _ := h.Listen("s")
		r, err := l.Accept(-1)
		_, _ = r, err
		l2, _ := h.Listen("never")
		_, _ = l2.Accept(-1)
	}}
}

// calls is a host that calls b with a deadline and reports the result.
func calls(name string, say func(string)) sim.Node {
	return sim.Node{Name: name, Main: func(h host.Host, _ int) {
		_, err := h.Call("b", "s", nil, time.Second)
		switch {
		case errors.Is(err, host.ErrTimeout):
			say("timeout")
		case errors.Is(err, host.ErrUnreachable):
			say("unreachable")
		default:
			say("answer")
		}
	}}
}

var regimes = []string{"idle", "free", "skew(1.1)"}

// A timer conflicted with nothing: other events that end the wait were never tried
// first.
func TestTimerAgainstWhatElseEndsTheWait(t *testing.T) {
	both := []string{"timeout", "unreachable"}
	for _, timers := range regimes {
		for _, faults := range []string{"cut(a,b)<=1", "partition(a,b)<=1", "crash(b)<=1", "timeout(a)<=1, cut(a,b)<=1"} {
			t.Run(timers+"/"+faults, func(t *testing.T) {
				same(t, order("mute", timers, faults, func(_ *explore.Case, say func(string)) []sim.Node {
					return []sim.Node{calls("a", say), mute("b")}
				}), both)
			})
		}
	}
}

// An answer delayed by a partition arrives with the heal, or after the deadline.
func TestTimerAgainstHeal(t *testing.T) {
	for _, timers := range regimes {
		t.Run(timers, func(t *testing.T) {
			same(t, order("heal", timers, "partition(a,b)<=1", func(_ *explore.Case, say func(string)) []sim.Node {
				return []sim.Node{calls("a", say), {Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
					l, _ := h.Listen("s")
					for {
						r, err := l.Accept(-1)
						if err != nil {
							return
						}
						r.Reply(nil)
					}
				}}}
			}), nil)
		})
	}
}

// The first life of b answers nothing and crashes; a caller that retries after its
// deadline finds the second, or is too late.
func TestTimerAgainstRestart(t *testing.T) {
	for _, timers := range regimes {
		t.Run(timers, func(t *testing.T) {
			same(t, order("restart", timers, "crash(b)<=1", func(_ *explore.Case, say func(string)) []sim.Node {
				return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
					for range 2 {
						_, err := h.Call("b", "s", nil, time.Second)
						say(fmt.Sprint(err == nil))
					}
				}}, {Name: "b", Daemon: true, Main: func(h host.Host, life int) {
					l, _ := h.Listen("s")
					for life > 0 {
						if r, err := l.Accept(-1); err == nil {
							r.Reply(nil)
						}
					}
					r, _ := l.Accept(-1)
					_ = r
					l, _ = h.Listen("never")
					_, _ = l.Accept(-1)
				}}}
			}), nil)
		})
	}
}

// A wait for a completion ends by its deadline or by the error of a broken connection.
func TestWaitForCompletionWithDeadlineAgainstBreak(t *testing.T) {
	for _, timers := range regimes {
		t.Run(timers, func(t *testing.T) {
			s := scenario("cq-wait", "break(a,b)<=1", func(x *tiny) []sim.Node {
				return []sim.Node{client("a", func(h host.Host, w *wire) {
					w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
					var wc [1]verbs.WC
					_, err := w.cq.Wait(wc[:], time.Second)
					x.say(0, "%v %v", err, wc[0].Status)
				}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {})}
			})
			s.Timers = timers
			same(t, s, nil)
		})
	}
}

// A clock stood still between the timers of its host: code whose timers had not fired
// never saw time pass.
func TestALookFindsThatTimeHasPassed(t *testing.T) {
	for timers, want := range map[string][]string{"idle": {"soon"}, "free": {"late", "soon"}, "skew(1)": {"late", "soon"}, "skew(2)": {"late", "soon"}} {
		t.Run(timers, func(t *testing.T) {
			same(t, order("look", timers, "", func(_ *explore.Case, say func(string)) []sim.Node {
				return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
					start := h.Now()
					if _, err := h.Call("b", "x", nil, -1); err != nil && h.Now()-start > time.Hour {
						say("late")
					} else {
						say("soon")
					}
				}}, {Name: "b", Main: func(host.Host, int) {}}}
			}), want)
		})
	}
}

// A lease by the clock of its holder, with a margin. The ratio of the clocks decides
// whether the margin suffices, to the nanosecond on the holder's clock.
func TestLeaseByTheClock(t *testing.T) {
	const lease = 10 * time.Millisecond
	for _, tt := range []struct {
		timers string
		waits  time.Duration
		holds  bool
	}{
		{"skew(1)", lease, true}, {"skew(1)", lease - 1, false},
		{"skew(1.5)", lease + lease/2, true}, {"skew(1.5)", lease + lease/2 - 2, false},
		{"free", 1000 * lease, false},
		{"idle", lease - 1, false}, {"idle", lease, true},
	} {
		s := order("lease", tt.timers, "", func(c *explore.Case, say func(string)) []sim.Node {
			over := false
			c.OnReset(func() { over = false })
			return []sim.Node{{Name: "holder", Main: func(h host.Host, _ int) {
				until := h.Now() + lease
				if _, err := h.Call("giver", "lease", nil, -1); err != nil {
					return
				}
				for range 2 {
					if h.Now() < until && over {
						c.Fail(errors.New("it is used after it was given to somebody else"))
					}
					h.Sleep(lease - 1)
				}
			}}, {Name: "giver", Daemon: false, Main: func(h host.Host, _ int) {
				l, err := h.Listen("lease")
				if err != nil {
					return
				}
				r, err := l.Accept(-1)
				if err != nil {
					return
				}
				r.Reply(nil)
				h.Sleep(tt.waits)
				over = true
				say("over")
			}}}
		})
		r, err := explore.Check(s, explore.Options{})
		if err != nil || (r.Verdict == explore.Verified) != tt.holds || r.Verdict == explore.Unknown {
			t.Errorf("%s, and %v are waited for %v: %v %v %v", tt.timers, tt.waits, lease, r.Verdict, r.Reason, err)
		}
	}
}
