// Package leasecheck says what to check of package lease: see docs/time.md.
package leasecheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/examples/lease"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenarios are those that verbatim check lease checks.
func Scenarios() []*explore.Scenario {
	return []*explore.Scenario{
		Locked("trusting", "idle", 2, "Two writers count under a lock with a lease, and trust the lease. It is wrong, and yet verified as long as timers are idle.",
			(*lease.Lock).AddTrusting),
		Locked("fenced", "free", 2, "Two writers count under a lock with a lease, and the word that they write refuses the token of an earlier holder.",
			(*lease.Lock).Add),
		Cached("margin", lease.Margin),
	}
}

// The conditions of Scenario.Sometimes.
const (
	takenOver = iota
	refused
)

// Locked is two writers that count under the lock, and a reader that reads so many times.
func Locked(name, timers string, reads int, doc string, add func(*lease.Lock) (uint64, error)) *explore.Scenario {
	return &explore.Scenario{
		Name: "lease/" + name, Doc: doc, Profile: "strong", Faults: "crash(writer*)<=1", Timers: timers,
		Bounds: fmt.Sprintf("two writers that count once, a reader that reads %d times", reads),
		Sometimes: []string{"the lock was taken over from a writer that had not given it back",
			"a writer found that its lease was over"},
		Build: func(c *explore.Case) (sim.Config, error) {
			x := &counters{c: c, add: add, reads: reads}
			c.OnReset(func() { x.history = history{} })
			once := func(int, bool) bool { return false } // who crashes stays down
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: "writer1", Main: x.writer, Again: once},
				{Name: "writer2", Main: x.writer, Again: once},
				{Name: "reader", Main: x.reader, Again: once},
				{Name: "memory", Main: memory, Again: once, Daemon: true},
			}}, nil
		},
	}
}

func memory(h host.Host, _ int) { panic(lease.Serve(h)) }

// counters are the clients.
type counters struct {
	c     *explore.Case
	add   func(*lease.Lock) (uint64, error)
	reads int
	history
}

// history is what the checks remember.
type history struct {
	most    uint64 // that was counted or read
	counted uint64 // bit n: number n was
	floor   uint64 // what the reader must find at least: it was known when its read began
}

// note tells the search that the checks remember something else.
func (x *counters) note() {
	x.c.History(fingerprint.Print{}.Uint(x.most).Uint(x.counted).Uint(x.floor))
}

func (x *counters) writer(h host.Host, _ int) {
	m, err := lease.Connect(h, "memory")
	x.check(err)
	l, err := lease.Take(m)
	x.check(err)
	if l.Inherited {
		x.c.Sometimes(takenOver)
	}
	n, err := x.add(l)
	if errors.Is(err, lease.ErrLost) {
		x.c.Sometimes(refused)
		return
	}
	x.check(err)
	if x.counted>>n&1 == 1 {
		x.c.Fail(&violation{"lost-count", fmt.Sprintf("number %d was counted twice: one count is lost", n)})
	}
	x.counted |= 1 << n
	x.most = max(x.most, n)
	x.note()
	x.check(l.Release())
}

func (x *counters) reader(h host.Host, _ int) {
	m, err := lease.Connect(h, "memory")
	x.check(err)
	for range x.reads {
		x.floor = x.most
		x.note()
		n, err := lease.Read(m)
		x.check(err)
		if n < x.floor {
			x.c.Fail(&violation{"count-went-back", fmt.Sprintf("the count is %d, and was %d before", n, x.floor)})
		}
		x.most = max(x.most, n)
		x.note()
	}
}

func (x *counters) check(err error) {
	if err != nil {
		x.c.Fail(err)
	}
}

type violation struct{ class, text string }

func (v *violation) Error() string { return v.text }

// Class implements explore.Classed.
func (v *violation) Class() string { return v.class }
