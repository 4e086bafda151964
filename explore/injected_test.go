package explore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Faults that code injects, heals of links, and what the checks decide of lives. explore/programs
// has none of these, so each is a scenario here, with the outcomes that every way to search finds.

// agree runs a scenario in all ways, and wants these outcomes.
func agree(t *testing.T, s *explore.Scenario, want ...string) {
	t.Helper()
	searchesAgree(t, s, want...)
	if testing.Short() {
		return // Naive has one goroutine: the race detector would find nothing; go test ./... runs it
	}
	got, runs, done, err := explore.Naive(s, explore.Options{}, true, 100_000)
	if err != nil || !done || !slices.Equal(got, want) {
		t.Errorf("%s, all %d runs (%v): %v: %q, want %q", s.Name, runs, done, err, got, want)
	}
}

// searchesAgree is agree without Naive, for scenarios with too many runs to enumerate. In the opposite
// order a search must find the same number of states.
func searchesAgree(t *testing.T, s *explore.Scenario, want ...string) {
	t.Helper()
	slices.Sort(want)
	var states uint64
	for _, o := range []explore.Options{{}, {EveryOrder: true}, {Eager: true}, {NoSymmetry: true}, {Backwards: true},
		{EveryOrder: true, NoSymmetry: true}, {EveryOrder: true, NoSymmetry: true, Backwards: true}} {
		r, err := explore.Check(s, o)
		if err != nil || r.Verdict != explore.Verified || !slices.Equal(r.Outcomes, want) {
			t.Errorf("%s, every order %v, eager %v, no symmetry %v, backwards %v: %v, %v (%v): %q, want %q", s.Name, o.EveryOrder, o.Eager, o.NoSymmetry, o.Backwards,
				err, r.Verdict, r.Reason, r.Outcomes, want)
			if x := r.Counterexample; x != nil {
				t.Error(x.Message)
			}
		}
		if o.Backwards && o.EveryOrder && r.States != states {
			t.Errorf("%s: %d states, and backwards %d", s.Name, states, r.States)
		}
		states = r.States
	}
}

// spoken is a scenario whose outcome is what its hosts have said.
func spoken(name, budget string, build func(k *kit.Kit, say func(format string, args ...any)) sim.Config) *explore.Scenario {
	return &explore.Scenario{Name: "test/" + name, Faults: budget, Build: func(c *explore.Case) (sim.Config, error) {
		k := kit.New(c)
		all := kit.Memory[string](k)
		return build(k, func(format string, args ...any) {
			*all += fmt.Sprintf(format, args...) + ";"
			k.Outcome(*all)
			k.History()
		}), nil
	}}
}

// answers accepts calls until its host ends.
func answers(h host.Host) error {
	l, err := h.Listen("ask")
	for err == nil {
		var r host.Request
		if r, err = l.Accept(verbs.Forever); err == nil {
			r.Reply(nil)
		}
	}
	return err
}

// counter is a service that adds up what it is sent.
func counter(w *sim.Config) func(h host.Host, add byte) (int, error) {
	value := 0
	w.Services = []sim.Service{{Host: "services", Name: "counter", Apply: func(_ string, r []byte) []byte { value += int(r[0]); return []byte{byte(value)} },
		Hash: func() fingerprint.Print { return fingerprint.Print{}.Int(value) }, Reset: func() { value = 0 }}}
	return func(h host.Host, add byte) (int, error) {
		v, err := h.Call("services", "counter", []byte{add}, verbs.Forever)
		if err != nil {
			return 0, err
		}
		return int(v[0]), nil
	}
}

// A link that heals before it was cut is cut afterwards: the heal is no step that changes nothing.
func TestHealOfALinkThatIsNotCut(t *testing.T) {
	s := spoken("heal", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		var count func(host.Host, byte) (int, error)
		w := k.World(
			k.Host("a", func(h host.Host) error {
				l, err := h.Listen("ask")
				if err == nil {
					_, err = count(h, 1)
				}
				if err != nil {
					return err
				}
				k.Heal("a", "b")
				r, err := l.Accept(verbs.Forever)
				if err == nil {
					r.Reply(nil)
				}
				return err
			}),
			k.Host("b", func(h host.Host) error {
				v, err := count(h, 0)
				if err == nil && v == 1 {
					err = k.Inject(faults.Cut, "a", "b")
				}
				if err != nil {
					return err
				}
				_, err = h.Call("a", "ask", nil, verbs.Forever)
				say("cut %v, reached %v", v == 1, err == nil)
				if err != nil {
					k.Heal("a", "b")
					_, _ = h.Call("a", "ask", nil, verbs.Forever) // so that it ends
				}
				return nil
			}))
		count = counter(&w)
		return w
	})
	agree(t, s, "cut false, reached true;", "cut false, reached false;", "cut true, reached true;", "cut true, reached false;") // an answer may be lost when a ends
}

// What a task does when it could not reach a service need not come before the link heals.
func TestHealBetweenAFailedCallAndWhatFollows(t *testing.T) {
	s := spoken("unreachable", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		var count func(host.Host, byte) (int, error)
		w := k.World(kit.StayDown(
			k.Host("a", func(h host.Host) error {
				if _, err := count(h, 1); err == nil {
					return nil
				}
				if err := k.Inject(faults.Crash, "b"); err != nil {
					return err
				}
				if v, err := count(h, 0); err == nil {
					say("stopped b, counted %d", v)
				}
				return nil
			}),
			k.Host("b", func(h host.Host) error {
				l, err := h.Listen("ask")
				if err == nil {
					_, err = l.Accept(verbs.Forever)
				}
				if err == nil {
					say("b knows")
				}
				return err
			}),
			k.Host("c", func(h host.Host) error {
				k.Point()
				if err := k.Inject(faults.Cut, "a", "services"); err != nil {
					return err
				}
				k.Point()
				k.Heal("a", "services")
				_, _ = h.Call("b", "ask", nil, verbs.Forever)
				return nil
			}))...)
		w.Hung = func([]string) {}
		count = counter(&w)
		return w
	})
	agree(t, s, "b knows;", "b knows;stopped b, counted 0;", "b knows;stopped b, counted 1;", "stopped b, counted 0;", "stopped b, counted 1;")
}

// A link that is cut twice, or while a host is down, is cut: one heal makes it whole.
func TestCutsOfOneLink(t *testing.T) {
	for n := range 3 {
		agree(t, spoken("cuts", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			return k.World(
				k.Host("a", func(h host.Host) error {
					for range n {
						if err := k.Inject(faults.Cut, "a", "b"); err != nil {
							return err
						}
					}
					k.Heal("a", "b")
					_, err := h.Call("b", "ask", nil, verbs.Forever)
					say("%v", err)
					return nil
				}), k.Server("b", answers))
		}), "<nil>;")
	}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		agree(t, spoken("cut-down", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			var count func(host.Host, byte) (int, error)
			app := sim.Node{Name: "app", Again: func(life int, crashed bool) bool { return life == 0 || crashed }, Main: func(h host.Host, life int) {
				if v, err := count(h, 0); life == 1 && err == nil && v == 1 {
					_, err = h.Call("peer", "ask", nil, verbs.Forever)
					say("after the cut: %v", errors.Is(err, host.ErrUnreachable))
				}
			}}
			nodes := []sim.Node{app, k.Server("peer", answers)}
			w := k.World(nodes[order[0]], nodes[order[1]], k.Host("admin", func(h host.Host) error {
				err := k.Inject(faults.Cut, "app", "peer")
				if err == nil {
					_, err = count(h, 1)
				}
				return err
			}))
			count = counter(&w)
			return w
		}), "after the cut: true;")
	}
}

// A crash of a host that is down comes too late, or not.
func TestCrashOfAHostThatIsDown(t *testing.T) {
	s := spoken("twice", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		return k.World(
			k.Host("a", func(h host.Host) error {
				err := errors.Join(k.Inject(faults.Crash, "b"), k.Inject(faults.Crash, "b"))
				k.Point()
				return err
			}),
			sim.Node{Name: "b", Again: func(_ int, crashed bool) bool { return crashed }, Main: func(_ host.Host, life int) { say("%d", life) }})
	})
	agree(t, s, "0;", "0;1;", "0;1;2;", "0;2;", "1;", "1;2;", "2;")
}

// Whether a host lives again may depend on what the checks remember, which another host changes.
func TestLivesThatTheChecksDecide(t *testing.T) {
	s := spoken("again", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		m := kit.Memory[struct{ Done bool }](k)
		a := k.Lives(2, func() bool { k.Look(); return m.Done }).Node("a", func(h host.Host, life int) {
			if life == 1 {
				say("a again")
			}
		})
		return k.World(a, k.Host("b", func(h host.Host) error {
			m.Done = true
			say("done")
			k.Point()
			say("end")
			return nil
		}))
	})
	agree(t, s, "done;end;", "a again;done;end;", "done;a again;end;", "done;end;a again;")
}

// A power failure that code injects loses what was not flushed, and must be announced.
func TestInjectedPowerFailure(t *testing.T) {
	lose := func(announced faults.Budget) *explore.Scenario {
		return spoken("power", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			w := k.World(sim.Node{Name: "a", Again: func(_ int, crashed bool) bool { return crashed }, Main: func(h host.Host, life int) {
				r := got(h.OpenPMEM("log", 64))
				if life > 0 {
					say("%d", r.Load64(0))
					return
				}
				for v := range uint64(2) {
					r.Store64(0, v+1)
					r.Fence()
				}
				_ = k.Inject(faults.Power, "a")
			}})
			w.Injects = announced
			return w
		})
	}
	agree(t, lose(faults.Budget{{Kind: faults.Power, Hosts: []string{"*"}}}), "0;", "1;", "2;")
	if r, err := explore.Check(lose(faults.Budget{{Kind: faults.Revoke, Hosts: []string{"a"}}}), explore.Options{}); err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrInjects) {
		t.Errorf("not announced: %v, %+v", err, r)
	}
}

// A report by nobody, and a timeout where no timer runs, are no reason for a verdict.
func TestNothingToInjectAndNobodyWhoReports(t *testing.T) {
	injects := faults.Budget{{Kind: faults.Timeout, Hosts: []string{"b"}}}
	timeout := spoken("timeout", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		w := k.World(k.Host("a", func(host.Host) error { say("a"); return k.Inject(faults.Timeout, "b") }), k.Host("b", func(host.Host) error { k.Point(); return nil }))
		w.Injects = injects
		return w
	})
	agree(t, timeout, "a;")
	injects = nil
	if r, err := explore.Check(timeout, explore.Options{}); err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrInjects) {
		t.Errorf("not announced: %v, %+v", err, r)
	}
	s := spoken("nobody", "none", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		return k.World(k.Lives(2, func() bool { k.Report(fingerprint.Print{}); return true }).Node("a", func(host.Host, int) {}))
	})
	if r, err := explore.Check(s, explore.Options{}); err != nil || r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrNobodyReports) {
		t.Errorf("%v, %+v", err, r)
	}
}

// A deferred function of a dead task that waits for a condition ends all the same.
func TestTheDeadWaitForNothing(t *testing.T) {
	s := spoken("deferred", "crash(a)<=1", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		w := k.World(kit.StayDown(k.Host("a", func(h host.Host) error {
			mu := h.NewMutex()
			cond := h.NewCond(mu)
			left := 1
			h.Go("child", func() {
				h.Sleep(time.Second)
				mu.Lock()
				left--
				cond.Broadcast()
				mu.Unlock()
			})
			defer func() {
				mu.Lock()
				for left > 0 {
					cond.Wait()
				}
				mu.Unlock()
			}()
			say("a")
			return nil
		}))...)
		return w
	})
	if r, err := explore.Check(s, explore.Options{StepTimeout: 5 * time.Second}); err != nil || r.Verdict != explore.Verified {
		t.Errorf("%v, %+v", err, r)
	}
}

// A channel reports a completion that is there: what happens before the poll takes it away no more.
func TestAChannelReportsWhatStays(t *testing.T) {
	for _, budget := range []string{"crash(b)<=1", "partition(a,b)<=1", "cut(a,b)<=1"} {
		s := spoken("channel", budget, func(k *kit.Kit, say func(string, ...any)) sim.Config {
			var sender verbs.QP
			var channel verbs.CompChannel
			w := k.World(
				k.Host("a", func(host.Host) error {
					cq, err := channel.Wait(verbs.Forever)
					if err != nil {
						return err
					}
					k.Point()
					var wcs [1]verbs.WC
					if n, err := cq.Poll(wcs[:]); n != 1 || err != nil {
						return fmt.Errorf("the channel reported a completion, and there are %d: %w", n, err)
					}
					say("%v", wcs[0].Status)
					return nil
				}),
				sim.Node{Name: "b", Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
					_ = sender.PostSend([]verbs.SendWR{{Op: verbs.OpSend}})
					_, _ = got(h.Listen("x")).Accept(verbs.Forever)
				}})
			w.Hung = func([]string) { k.Outcome("hung") }
			w.Setup = func(hosts []*sim.Host) {
				channel = got(hosts[0].Device().CreateCompChannel())
				to, from := joined(hosts[0], hosts[1], channel)
				postRecv(to)
				sender = from
			}
			return w
		})
		agree(t, s, "SUCCESS;", "hung")
	}
}
