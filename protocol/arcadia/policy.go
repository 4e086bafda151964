package arcadia

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// Policy decides when a task that has completed a record makes it durable (4.4).
type Policy interface {
	// Force is called once for each record, by the task that has completed it.
	Force(r *Record) error
}

// Frequency forces the records whose LSN is divisible by it. Frequency(1) is the policy sync.
type Frequency int

// Force implements Policy.
func (f Frequency) Force(r *Record) error { return r.Force(int(f)) }

// Group is group commit, the alternative to Frequency: every n-th completed record is forced, with all records before
// it. The tasks share the count, under a lock.
type Group struct {
	n, count int
	last     uint64 // the largest LSN of the group
	mu       host.Mutex
}

// NewGroup returns a group commit of n records. The error wraps ErrConfig.
func NewGroup(h host.Host, n int) (*Group, error) {
	if n < 1 {
		return nil, fmt.Errorf("%w: groups of %d", ErrConfig, n)
	}
	return &Group{n: n, mu: h.NewMutex()}, nil
}

// Force implements Policy.
func (g *Group) Force(r *Record) error {
	g.mu.Lock()
	g.count++
	g.last = max(g.last, r.lsn)
	leads, last := g.count == g.n, g.last
	if leads {
		g.count = 0
	}
	g.mu.Unlock()
	if !leads {
		return nil
	}
	return r.log.force(last)
}
