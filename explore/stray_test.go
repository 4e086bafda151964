package explore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Fail(nil) was silently no failure.
func TestFailNil(t *testing.T) {
	s := &explore.Scenario{Name: "test/nil", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(host.Host, int) { c.Fail(nil) }}}}, nil
	}}
	r, err := explore.Check(s, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrFailNil) {
		t.Errorf("%v: %v", r.Verdict, r.Reason)
	}
}

// A daemon's report is no verdict on the protocol: the scenario is wrong.
func TestDaemonsThatReport(t *testing.T) {
	for what, report := range map[string]func(c *explore.Case){
		"History": func(c *explore.Case) { c.History(fingerprint.Print{}.Int(1)) },
		"Report":  func(c *explore.Case) { c.Report(fingerprint.Print{}.Int(1)) },
	} {
		s := &explore.Scenario{Name: "test/daemon", Build: func(c *explore.Case) (sim.Config, error) {
			return sim.Config{Profile: c.Profile, Nodes: []sim.Node{
				{Name: "a", Main: func(h host.Host, _ int) { h.Sleep(time.Second) }},
				{Name: "b", Daemon: true, Main: func(host.Host, int) { report(c) }}}}, nil
		}}
		for _, strategy := range []string{"exhaustive", "random"} {
			r, err := explore.Check(s, explore.Options{Strategy: strategy, MaxRuns: 100})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrDaemonReports) {
				t.Errorf("%s, %s: %v: %v", what, strategy, r.Verdict, r.Reason)
			}
		}
	}
}

// A protocol that started a goroutine of its own crashed the checker with "sim.killed".
func TestGoroutineThatIsNoTask(t *testing.T) {
	if testing.Short() {
		t.Skip("a goroutine that races is what is tested, and the race detector would say so; go test ./... runs it")
	}
	for what, stray := range map[string]func(h host.Host){
		"sleeps": func(h host.Host) { h.Sleep(time.Second) },
		"calls":  func(h host.Host) { _, _ = h.Call("a", "s", nil, verbs.Forever) },
		"sends":  func(h host.Host) { h.Gather([]host.Call{{To: "a", Service: "s"}}, verbs.Forever) },
		"stores": func(h host.Host) { r, _ := h.Alloc(8); r.Store64(0, 1) },
		"reads":  func(h host.Host) { _ = h.Now() },
	} {
		t.Run(what, func(t *testing.T) {
			s := &explore.Scenario{Name: "test/stray", Build: func(c *explore.Case) (sim.Config, error) {
				return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
					go stray(h) //lint:bad that is what is tested
					h.Sleep(time.Second)
				}}}}, nil
			}}
			r, err := explore.Check(s, explore.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Unknown || !errors.Is(r.Reason, sim.ErrGoroutine) || !strings.Contains(r.Reason.Error(), "host.Host.Go") {
				t.Errorf("%v: %v", r.Verdict, r.Reason)
			}
		})
	}
}
