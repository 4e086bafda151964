package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// CutAtRandom is a test in which the link between its first two hosts may be cut at any
// moment, or nil for one that has faults of its own. A rig with Links cuts it at a random
// moment, and the simulator at each.
func CutAtRandom(t *lang.Test) *lang.Test {
	if t.Faults != "" || len(t.Hosts) < 2 || slices.ContainsFunc(t.Threads, func(th lang.Thread) bool { return slices.ContainsFunc(th.Body, faulty) }) {
		return nil
	}
	x := t.WithFaults(fmt.Sprintf("cut(%s,%s)<=1", t.Hosts[0], t.Hosts[1]))
	x.Name += "+cut"
	return x
}

// faulty reports whether a statement makes a fault happen, or ends one.
func faulty(s lang.Stmt) bool {
	switch s := s.(type) {
	case lang.Maybe:
		return faulty(s.Then)
	case lang.If:
		return faulty(s.Then)
	case lang.Fault, lang.Heal:
		return true
	}
	return false
}

// cutAnywhere is the link that the faults of a test may cut.
func cutAnywhere(t *lang.Test) (hosts []string, ok bool) {
	b, err := faults.ParseBudget(t.Faults)
	if err != nil || len(b) != 1 || b[0].Kind != faults.Cut || len(t.Hosts) < 2 {
		return nil, false
	}
	return t.Hosts[:2], b.Allows(faults.Spent{}, faults.Cut, t.Hosts[0], t.Hosts[1])
}

// moment is the moment of a run at which a link is cut: before one of its statements, or
// never.
type moment struct {
	left  atomic.Int64 // statements before it
	hosts []string
	err   error
}

// newMoment picks one of a run of so many statements; every fourth run has none.
func newMoment(r *rand.Rand, hosts []string, statements int) *moment {
	m := &moment{hosts: hosts}
	m.left.Store(1 + r.Int64N(int64(statements+statements/3+1)))
	return m
}

// pass is called before each statement, by any thread.
func (m *moment) pass(live *litmus.Live) {
	if m.left.Add(-1) == 0 {
		m.err = live.Strike(faults.Cut, m.hosts...)
	}
}

// struck reports whether the moment came, once the run is over.
func (m *moment) struck() bool { return m.left.Load() <= 0 }

// cuts are the links that a run has cut: between cards, and for messages.
type cuts struct {
	links Links
	net   *network
	hosts []string
	mu    sync.Mutex
	open  [][2]string
}

func (c *cuts) index(host string) int { return slices.Index(c.hosts, host) }

func (c *cuts) strike(_ faults.Kind, hosts ...string) error {
	a, b := hosts[0], hosts[1]
	c.mu.Lock()
	c.open = append(c.open, [2]string{a, b})
	c.mu.Unlock()
	c.net.setCut(a, b, true)
	return c.links.Cut(c.index(a), c.index(b))
}

func (c *cuts) heal(a, b string) error {
	c.net.setCut(a, b, false)
	return c.links.Heal(c.index(a), c.index(b))
}

// healAll heals the links that the run has cut.
func (c *cuts) healAll() error {
	var all []error
	for _, p := range c.open {
		all = append(all, c.heal(p[0], p[1]))
	}
	c.open = nil
	return errors.Join(all...)
}
