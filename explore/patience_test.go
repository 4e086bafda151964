package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Timeouts of calls and waits.

// afterAnHour answers each call after an hour.
func afterAnHour(h host.Host) error {
	l, err := h.Listen("ask")
	for err == nil {
		var q host.Request
		if q, err = l.Accept(verbs.Forever); err == nil {
			h.Sleep(time.Hour)
			q.Reply(nil)
		}
	}
	return err
}

var two = []host.Call{{To: "b", Service: "ask"}, {To: "c", Service: "ask"}}

// A second Wait for the answers of a Gather expires one timeout after the calls, and not earlier.
func TestTheTimeoutOfAGatherBeginsWithItsCalls(t *testing.T) {
	late := func(g host.Gather) bool {
		x := g.Wait(2)
		return errors.Is(x[0].Err, host.ErrTimeout) || errors.Is(x[1].Err, host.ErrTimeout)
	}
	for timers, want := range map[string][]string{ //lint:ordered each is checked
		"idle": {"late;"}, "free": {"late;", "in time;"}, "skew(1)": {"late;", "in time;"}, "skew(2)": {"late;", "in time;"},
	} {
		s := spoken("gather "+timers, "", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			return k.World(k.Host("a", func(h host.Host) error {
				from := h.Now()
				g := h.Gather(two, 10*time.Second)
				g.Wait(1)
				if !late(g) {
					say("in time")
					return nil
				}
				if d := h.Now() - from; d < 10*time.Second {
					k.Failf("early", "a timeout of 10s expired after %v", d)
				}
				say("late")
				return nil
			}), k.Server("b", answers), k.Server("c", afterAnHour))
		})
		s.Timers = timers
		searchesAgree(t, s, want...)
	}
}

// A service call fails with ErrTimeout if its timer fires before the answer arrives.
func TestCallsOfServicesTimeOut(t *testing.T) {
	for _, x := range []struct {
		timers, budget string
		slow, late     bool
	}{{"idle", "", true, false}, {"idle", "timeout(a)<=1", true, true}, {"free", "", true, true}, {"skew(1)", "", true, true}, {"free", "", false, false}} {
		s := spoken("service", x.budget, func(k *kit.Kit, say func(string, ...any)) sim.Config {
			value := 0
			w := k.World(k.Host("a", func(h host.Host) error {
				_, err := h.Call("services", "counter", []byte{1}, time.Second)
				answer, err2 := h.Call("services", "counter", []byte{0}, verbs.Forever)
				say("%v %v", errors.Is(err, host.ErrTimeout), answer)
				return err2
			}))
			w.Services = []sim.Service{{Host: "services", Name: "counter", Slow: x.slow, Apply: func(_ string, r []byte) []byte { value += int(r[0]); return []byte{byte(value)} },
				Hash: func() fingerprint.Print { return fingerprint.Print{}.Int(value) }, Reset: func() { value = 0 }}}
			return w
		})
		want := []string{"false [1];"}
		if x.late { // the service may still execute it, even later
			want = append(want, "true [0];", "true [1];")
		}
		s.Timers = x.timers
		agree(t, s, want...)
		r, err := explore.Check(s, explore.Options{})
		if said := strings.Contains(r.Warning(), "service call is answered in time"); err != nil || said == x.slow {
			t.Errorf("%+v: %q, %v", x, r.Warning(), err)
		}
	}
}

// Several tasks may wait for one Gather at the same time. One that goes on leaves its timer to the others: a longer one
// does not fire before it.
func TestATaskThatGoesOnLeavesTheTimerOfAGatherToOthers(t *testing.T) {
	for _, timers := range []string{"idle", "free", "skew(1)"} {
		s := spoken("shared "+timers, "", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			return k.World(k.Host("a", func(h host.Host) error {
				var g host.Gather
				begun := h.NewMutex()
				begun.Lock()
				begins := func() { begun.Lock(); defer begun.Unlock() }
				h.Go("one", func() {
					begins()
					if x := g.Wait(1); x[0].Err == nil && x[1].Pending() {
						say("in time")
					}
				})
				h.Go("sleeps", func() { begins(); h.Sleep(3 * time.Second); say("slept") })
				g = h.Gather([]host.Call{{To: "b", Service: "ask"}, {To: "c", Service: "mute"}}, 2*time.Second)
				begun.Unlock()
				g.Wait(2)
				say("late")
				return nil
			}), k.Server("b", answers), k.Server("c", answers))
		})
		s.Timers = timers
		r, err := explore.Check(s, explore.Options{})
		if err != nil || r.Verdict != explore.Verified || !slices.Contains(r.Outcomes, "in time;late;") {
			t.Fatalf("%s: %v, %v: %q", timers, r.Verdict, err, r.Outcomes)
		}
		for _, o := range r.Outcomes {
			if strings.HasPrefix(o, "in time;slept;") {
				t.Errorf("%s: %q", timers, o)
			}
		}
	}
}

// A hang after two tasks have waited for one Gather is a hang.
func TestAHangAfterTwoTasksHaveWaitedForAGather(t *testing.T) {
	for _, timers := range []string{"idle", "free", "skew(1)", "skew(2)"} {
		s := spoken("shared and hung "+timers, "", func(k *kit.Kit, _ func(string, ...any)) sim.Config {
			return k.World(k.Host("a", func(h host.Host) error {
				mu, waiting, from := h.NewMutex(), 0, h.Now()
				more := h.NewCond(mu)
				until := func(n int) {
					mu.Lock()
					for waiting < n {
						more.Wait()
					}
					mu.Unlock()
				}
				g := h.Gather([]host.Call{{To: "b", Service: "ask"}}, 10*time.Second)
				waits := func() bool {
					mu.Lock()
					waiting++
					more.Broadcast()
					mu.Unlock()
					return g.Wait(1)[0].Err == nil
				}
				h.Go("other", func() { waits() })
				h.Go("both wait", func() {
					until(2)
					_, _ = h.Call("b", "go", nil, verbs.Forever)
				})
				if waits() && h.Now()-from < 5*time.Second {
					until(3) // it never comes
				}
				return nil
			}), k.Server("b", func(h host.Host) error {
				ask, err := h.Listen("ask")
				if err != nil {
					return err
				}
				goes, err := h.Listen("go")
				if err != nil {
					return err
				}
				asked, err := ask.Accept(verbs.Forever)
				if err != nil {
					return err
				}
				if _, err := goes.Accept(verbs.Forever); err != nil {
					return err
				}
				asked.Reply(nil)
				_, err = ask.Accept(verbs.Forever)
				return err
			}))
		})
		s.Timers = timers
		if r, err := explore.Check(s, explore.Options{}); err != nil || r.Verdict != explore.Violated {
			t.Errorf("%s: %v, %v", timers, r.Verdict, err)
		}
	}
}
