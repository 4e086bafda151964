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
		counting("trusting", "idle", 1, "Two writers count under a lock with a lease, and trust the lease. It is wrong, and yet verified as long as timers are idle.",
			(*lease.Lock).AddTrusting),
		counting("fenced", "free", 1, "Two writers count under a lock with a lease, and the word that they write refuses the token of an earlier holder.",
			(*lease.Lock).Add),
	}
}

// DeepScenarios take longer.
func DeepScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		counting("fenced-deep", "free", 2, "As fenced, and the first writer counts twice.", (*lease.Lock).Add),
	}
}

// The conditions of Scenario.Sometimes.
const (
	takenOver = iota
	refused
)

// counting is two writers that count under the lock, the first of them so many times, and a
// reader.
func counting(name, timers string, times int, doc string, add func(*lease.Lock) (uint64, error)) *explore.Scenario {
	return &explore.Scenario{
		Name: "lease/" + name, Doc: doc, Profile: "strong", Faults: "crash(writer*)<=1", Timers: timers,
		Bounds: fmt.Sprintf("two writers that count, the first %d times and the second once; a reader that reads twice", times),
		Sometimes: []string{"the lock was taken over from a writer that had not given it back",
			"a writer found that its lease was over"},
		Build: func(c *explore.Case) (sim.Config, error) {
			x := &counters{c: c, add: add, times: map[string]int{"writer1": times, "writer2": 1}}
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
	times map[string]int // that a writer counts
	history
}

// history is what the checks remember.
type history struct {
	most    uint64 // that was counted or read
	counted uint64 // bit n: number n was
}

// note tells the search that the checks remember something else.
func (x *counters) note() {
	x.c.History(fingerprint.Print{}.Uint(x.most).Uint(x.counted))
}

func (x *counters) writer(h host.Host, _ int) {
	m, err := lease.Connect(h, "memory")
	x.check(err)
	for range x.times[h.Name()] {
		x.count(m)
	}
}

// count counts once.
func (x *counters) count(m *lease.Memory) {
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
	for range 2 {
		floor := x.most
		n, err := lease.Read(m)
		x.check(err)
		if n < floor {
			x.c.Fail(&violation{"count-went-back", fmt.Sprintf("the count is %d, and was %d before", n, floor)})
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
