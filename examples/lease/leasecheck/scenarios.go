// Package leasecheck has the scenarios of package lease: see docs/lease.md.
package leasecheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/examples/lease"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenarios are the scenarios of `verbatim check lease`.
func Scenarios() []*explore.Scenario {
	return []*explore.Scenario{
		Locked("trusting", "idle", 2, "Two writers count under a lock with a lease, and trust the lease. This is wrong, but verified under the timers idle.",
			(*lease.Lock).AddTrusting),
		Locked("fenced", "free", 2, "Two writers count under a lock with a lease, and the count word rejects the token of an earlier holder.",
			(*lease.Lock).Add),
		Cached("margin", lease.Margin),
	}
}

// The conditions of [Locked].
const (
	takenOver = "the lock was taken over from a writer that had not released it"
	refused   = "a writer found that its lease had expired"
)

// Locked is a scenario of two writers that count under the lock, and a reader that reads the given number of times.
func Locked(name, timers string, reads int, doc string, add func(*lease.Lock) (uint64, error)) *explore.Scenario {
	return &explore.Scenario{
		Name: "lease/" + name, Doc: doc, Profile: "strong", Faults: "crash(writer*)<=1", Timers: timers,
		Bounds:    fmt.Sprintf("two writers that count once, a reader that reads %d times", reads),
		Sometimes: []string{takenOver, refused},
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			x := &counters{k, add, reads, scenario.Memory[history](k)}
			return k.World(scenario.StayDown(
				k.Host("writer1", x.writer), k.Host("writer2", x.writer), k.Host("reader", x.reader), k.Server("memory", lease.Serve),
			)...), nil
		},
	}
}

// counters are the clients.
type counters struct {
	*scenario.Kit
	add   func(*lease.Lock) (uint64, error)
	reads int
	*history
}

// history is the memory of the checks.
type history struct {
	most    uint64 // that was counted or read
	counted uint64 // bit n: number n was
	floor   uint64 // the least count that the reader must find: it was known when the read began
}

func (x *counters) writer(h host.Host) error {
	m, err := lease.Connect(h, "memory")
	if err != nil {
		return err
	}
	l, err := lease.Take(m)
	if err != nil {
		return err
	}
	if l.Inherited {
		x.Meet(takenOver)
	}
	n, err := x.add(l)
	if errors.Is(err, lease.ErrLost) {
		x.Meet(refused)
		return nil
	}
	if err != nil {
		return err
	}
	if x.counted>>n&1 == 1 {
		x.Failf("lost-count", "number %d was counted twice: one count is lost", n)
	}
	x.counted |= 1 << n
	x.most = max(x.most, n)
	x.History()
	return l.Release()
}

func (x *counters) reader(h host.Host) error {
	m, err := lease.Connect(h, "memory")
	if err != nil {
		return err
	}
	for range x.reads {
		x.floor = x.most
		x.History()
		n, err := lease.Read(m)
		if err != nil {
			return err
		}
		if n < x.floor {
			x.Failf("count-went-back", "the count is %d, but it was %d before", n, x.floor)
		}
		x.most = max(x.most, n)
		x.History()
	}
	return nil
}
