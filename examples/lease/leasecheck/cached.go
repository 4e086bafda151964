package leasecheck

import (
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/examples/lease"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Cached is a value that is changed, and a reader that holds it under a lease.
func Cached(name string, margin time.Duration) *explore.Scenario {
	return &explore.Scenario{
		Name: "lease/" + name, Timers: "skew(1.5)",
		Doc:       "A reader takes what it has cached for the value as long as it has a lease, and whoever changes the value waits a lease and a half.",
		Bounds:    "one change, three reads",
		Sometimes: []string{"a read found the value in the cache after the change had begun"},
		Build: func(c *explore.Case) (sim.Config, error) {
			var begun, changed, late bool // late: when the read began the change was over
			note := func() { c.History(fingerprint.Print{}.Bool(begun).Bool(changed).Bool(late)) }
			c.OnReset(func() { begun, changed, late = false, false, false })
			check := func(err error) {
				if err != nil {
					c.Fail(err)
				}
			}
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: "keeper", Daemon: true, Main: func(h host.Host, _ int) { check(lease.Keep(h, margin)) }},
				{Name: "changer", Main: func(h host.Host, _ int) {
					begun = true
					note()
					check(lease.Change(h, "keeper", 1))
					changed = true
					note()
				}},
				{Name: "reader", Main: func(h host.Host, _ int) {
					cache := lease.NewCache(h, "keeper")
					for range 3 {
						late = changed
						note()
						v, err := cache.Get()
						check(err)
						if begun && v == 0 {
							c.Sometimes(0)
						}
						if late && v == 0 {
							c.Fail(&violation{"stale-read", fmt.Sprintf("the value is 1, and the cache says %d", v)})
						}
					}
				}},
			}}, nil
		},
	}
}
