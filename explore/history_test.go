package explore_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// stale is a reader that caches its result forever. during runs during its reads.
func stale(during func(h host.Host, r host.Region)) *explore.Scenario {
	return &explore.Scenario{Name: "test/stale", Profile: "strong", Build: func(c *explore.Case) (sim.Config, error) {
		var changed, late bool // late: the change was complete when the read began
		value := byte(0)
		note := func() { c.History(fingerprint.Print{}.Bool(changed).Bool(late)) }
		c.OnReset(func() { changed, late = false, false })
		ask := func(h host.Host, req []byte) []byte {
			b, err := h.Call("services", "value", req, verbs.Forever)
			if err != nil {
				c.Fail(err)
			}
			return b
		}
		return sim.Config{Profile: c.Profile, Budget: c.Budget,
			Services: []sim.Service{{Host: "services", Name: "value", Apply: func(_ string, req []byte) []byte {
				if len(req) > 0 {
					value = req[0]
				}
				return []byte{value}
			}, ReadOnly: func(req []byte) bool { return len(req) == 0 },
				Hash: func() fingerprint.Print { return fingerprint.Print{}.Int(int(value)) }, Reset: func() { value = 0 }}},
			Nodes: []sim.Node{
				{Name: "changer", Main: func(h host.Host, _ int) {
					ask(h, []byte{1})
					changed = true
					note()
				}},
				{Name: "reader", Main: func(h host.Host, _ int) {
					own, err := h.Alloc(8)
					if err != nil {
						c.Fail(err)
					}
					cached := ask(h, nil)
					for range 2 {
						late = changed
						note()
						during(h, own)
						if late && cached[0] == 0 {
							c.Fail(errors.New("a stale read"))
						}
					}
				}},
			}}, nil
	}}
}

// Time passes between two reports whatever the code does there, so others can
// intervene.
func TestOthersComeBetweenTwoReports(t *testing.T) {
	for name, during := range map[string]func(host.Host, host.Region){
		"nothing":              func(host.Host, host.Region) {},
		"a store of its own":   func(_ host.Host, r host.Region) { r.Store64(0, 1) },
		"a load of its own":    func(_ host.Host, r host.Region) { r.Load64(0) },
		"a look at the clock":  func(h host.Host, _ host.Region) { h.Now() },
		"a mutex of its own":   func(h host.Host, _ host.Region) { m := h.NewMutex(); m.Lock(); defer m.Unlock() },
		"a number at random":   func(h host.Host, _ host.Region) { h.Rand(2) },
		"a compare-and-swap":   func(_ host.Host, r host.Region) { r.CompareAndSwap64(0, 0, 0) },
		"a fence for nothing":  func(_ host.Host, r host.Region) { r.Fence() },
		"memory of its own":    func(h host.Host, _ host.Region) { _, _ = h.Alloc(8) },
		"a protection domain":  func(h host.Host, _ host.Region) { _, _ = h.Device().AllocPD() },
		"a completion channel": func(h host.Host, _ host.Region) { _, _ = h.Device().CreateCompChannel() },
	} {
		for _, eager := range []bool{false, true} {
			r, err := explore.Check(stale(during), explore.Options{Workers: 1, Eager: eager})
			if err != nil || r.Verdict != explore.Violated {
				t.Errorf("a reader that never asks again, and does %s: %v, %v (eager %v)", name, r.Verdict, err, eager)
			}
		}
	}
}
