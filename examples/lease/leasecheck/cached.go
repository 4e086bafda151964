package leasecheck

import (
	"time"

	"github.com/verbatim-rdma/verbatim/examples/lease"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Cached is a scenario of a value that is changed, and a reader that caches it under a lease.
func Cached(name string, margin time.Duration) *explore.Scenario {
	const cached = "a read found the value in the cache after the change had begun"
	return &explore.Scenario{
		Name: "lease/" + name, Timers: "skew(1.5)",
		Doc:       "A reader uses its cached value while it holds a lease, and a writer waits one and a half leases before it changes the value.",
		Bounds:    "one change, three reads",
		Sometimes: []string{cached},
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			x := scenario.Memory[struct {
				begun, changed bool
				late           bool // the change was complete when the read began
			}](k)
			return k.World(
				k.Server("keeper", func(h host.Host) error { return lease.Keep(h, margin) }),
				k.Host("changer", func(h host.Host) error {
					x.begun = true
					k.History()
					if err := lease.Change(h, "keeper", 1); err != nil {
						return err
					}
					x.changed = true
					k.History()
					return nil
				}),
				k.Host("reader", func(h host.Host) error {
					cache := lease.NewCache(h, "keeper")
					for range 3 {
						x.late = x.changed
						k.History()
						v, err := cache.Get()
						if err != nil {
							return err
						}
						if x.begun && v == 0 {
							k.Meet(cached)
						}
						if x.late && v == 0 {
							k.Failf("stale-read", "the value is 1, but the cache returned %d", v)
						}
					}
					return nil
				}),
			), nil
		},
	}
}
