package explore_test

import (
	"errors"
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
