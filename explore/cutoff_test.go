package explore_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// outcomes compares the outcomes of the search and of the naive one with those wanted.
func outcomes(t *testing.T, s *explore.Scenario, want ...string) {
	t.Helper()
	r, err := explore.Check(s, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, r.Outcomes); d != "" || r.Verdict != explore.Verified {
		t.Errorf("%v, outcomes (-want +got):\n%s", r.Verdict, d)
	}
	naive, _, done, err := explore.Naive(s, explore.Options{}, true, 100_000)
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if d := cmp.Diff(want, naive); d != "" {
		t.Errorf("naive outcomes (-want +got):\n%s", d)
	}
}

// A request in flight when its link was cut was delivered in any case, unless its
// caller gave up.
func TestRequestUnderWayAtACut(t *testing.T) {
	sequential(t)
	outcomes(t, &explore.Scenario{Name: "test/cut", Faults: "cut(a,b)<=1", Build: func(c *explore.Case) (sim.Config, error) {
		sent, out := false, ""
		c.OnReset(func() { sent, out = false, "" })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
			{Name: "a", Main: func(h host.Host, _ int) {
				h.Gather([]host.Call{{To: "b", Service: "s"}}, verbs.Forever)
				sent = true
				c.History(fingerprint.Print{}.Bool(sent))
				_, _ = h.Call("c", "s", nil, verbs.Forever) // the link is up when it is sent
			}},
			{Name: "b", Main: func(h host.Host, _ int) {
				l, _ := h.Listen("s")
				if _, err := l.Accept(time.Second); err != nil {
					out = "nothing comes"
				} else {
					out = "it comes"
				}
				reports(c, out)
			}},
			{Name: "c", Daemon: true, Main: func(h host.Host, _ int) {
				l, _ := h.Listen("s")
				r, _ := l.Accept(verbs.Forever)
				r.Reply(nil)
			}},
		}}, nil
	}}, "it comes", "nothing comes")
}

// counted is a service that counts its calls.
func counted(c *explore.Case) (sim.Service, *int) {
	n := new(int)
	return sim.Service{Host: "coord", Name: "count", Reset: func() { *n = 0 },
		Apply: func(string, []byte) []byte { *n++; return []byte{byte(*n)} },
		Hash:  func() fingerprint.Print { return fingerprint.Print{}.Int(*n) }}, n
}

// No fault could cut a host off from a service.
func TestServiceThatIsCutOff(t *testing.T) {
	sequential(t)
	for budget, want := range map[string][]string{
		"cut(a,coord)<=1":       {"0 of 2 after --", "1 of 2 after +-", "1 of 2 after --", "2 of 2 after ++", "2 of 2 after +-"},
		"partition(a,coord)<=1": {"0 of 2 after --", "1 of 2 after +-", "1 of 2 after -+", "1 of 2 after --", "2 of 2 after ++", "2 of 2 after +-", "2 of 2 after -+"},
		"cut(a,b)<=1":           {"2 of 2 after ++"},
	} {
		outcomes(t, &explore.Scenario{Name: "test/service", Faults: budget, Build: func(c *explore.Case) (sim.Config, error) {
			service, n := counted(c)
			b := sim.Node{Name: "b", Main: func(host.Host, int) {}}
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{service}, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
				log := ""
				for range 2 {
					switch _, err := h.Call("coord", "count", nil, verbs.Forever); {
					case err == nil:
						log += "+"
					case errors.Is(err, host.ErrUnreachable):
						log += "-"
					}
				}
				reports(c, strconv.Itoa(*n)+" of 2 after "+log)
			}}, b}}, nil
		}}, want...)
	}
}

// A service has no power to lose, and a rule that says so would never apply.
func TestServiceDoesNotCrash(t *testing.T) {
	s := &explore.Scenario{Name: "test/service", Faults: "crash(coord)<=1", Build: func(c *explore.Case) (sim.Config, error) {
		service, _ := counted(c)
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{service}, Nodes: []sim.Node{{Name: "a", Main: func(host.Host, int) {}}}}, nil
	}}
	if _, err := explore.Check(s, explore.Options{}); !errors.Is(err, sim.ErrConfig) || !errors.Is(err, faults.ErrUnknownHost) {
		t.Error(err)
	}
}

// A call to a name whose only machine is believed dead could wait forever.
func TestCallToANameThatOnlyAZombieHas(t *testing.T) {
	sequential(t)
	outcomes(t, &explore.Scenario{Name: "test/zombie", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
			{Name: "a", Main: func(h host.Host, _ int) {
				if err := c.Inject(faults.Suspect, "b"); err != nil {
					c.Fail(err)
				}
				_, err := h.Call("b", "s", nil, verbs.Forever)
				reports(c, map[bool]string{true: "unreachable", false: "reached"}[errors.Is(err, host.ErrUnreachable)])
			}},
			{Name: "b", Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
				l, _ := h.Listen("s")
				_, _ = l.Accept(verbs.Forever)
			}},
		}}, nil
	}}, "unreachable")
}
