package sift

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
)

// Several tasks use a coordinator at a time. Each holds c.mu, except while it waits: for the cards
// (poll) or for another task (c.changed). One task at a time waits for the cards, for all tasks, so
// that none takes a completion for which another one waits.

// enter begins an operation, and leave ends it.
func (c *Coordinator) enter() {
	c.mu.Lock()
	c.users++
}

func (c *Coordinator) leave() {
	if c.users--; c.users == 0 {
		c.changed.Broadcast()
	}
	c.mu.Unlock()
}

// until waits for completions until done, or until the coordinator has stopped. Something must be
// under way that makes done true, or fails its connection.
func (c *Coordinator) until(done func() bool) {
	for !done() && c.stopped == nil {
		c.poll()
	}
}

// poll waits for a completion, or until another task has polled one.
func (c *Coordinator) poll() {
	if c.polling {
		c.changed.Wait()
		return
	}
	c.polling = true
	c.mu.Unlock()
	cq, err := c.group.Ready()
	c.mu.Lock()
	c.polling = false
	if err != nil {
		_ = c.stop(fmt.Errorf("%w: %w", ErrUnavailable, err)) // waiting tasks find out
	} else {
		c.group.Collect(conns(c.peers()), cq)
	}
	c.acknowledge()
	c.changed.Broadcast()
}

// pollAll waits for a completion of each of the requests that are under way; at least one is. As long as no other task
// uses the coordinator, no code needs one of these completions earlier, or learns their order, so the
// checker need not try different orders. If other tasks use it, pollAll is poll: they must not wait
// for a slow node because this task does.
func (c *Coordinator) pollAll(asked []sent) {
	if c.users > 1 {
		c.poll()
		return
	}
	open := underWay(asked)
	c.polling = true
	c.mu.Unlock()
	wcs, err := c.group.ReadyAll(open)
	c.mu.Lock()
	c.polling = false
	if err != nil {
		_ = c.stop(fmt.Errorf("%w: %w", ErrUnavailable, err))
	} else {
		c.group.CollectAll(open, wcs, nil)
	}
	c.acknowledge()
	c.changed.Broadcast()
}

// underWay are the connections on which one of the requests is not complete.
func underWay(asked []sent) []*lend.Conn {
	var open []*lend.Conn
	for _, s := range asked {
		if s.to.Err == nil && s.to.Done < s.request && !slices.Contains(open, s.to.Conn) {
			open = append(open, s.to.Conn)
		}
	}
	return open
}

// acknowledge notes which entries the nodes have, and how far the log is committed.
func (c *Coordinator) acknowledge() {
	for _, r := range c.live() {
		for len(r.appended) > 0 && r.appended[0].request <= r.Done {
			r.has, r.appended = r.appended[0].index, r.appended[1:]
		}
	}
	c.committed = max(c.committed, c.onMajority())
}

// onMajority is the last entry that a majority of all nodes has. Nodes that have failed do not count.
func (c *Coordinator) onMajority() uint64 {
	var has []uint64
	for _, r := range c.live() {
		has = append(has, r.has)
	}
	return quorum.Committed(c.cfg.majority(), has)
}

// peers are all nodes that the coordinator talks to, including a node that rejoins and does not count yet.
func (c *Coordinator) peers() []*replica {
	if j := c.rejoining; j != nil && j.r != nil {
		return append(slices.Clone(c.nodes), j.r)
	}
	return c.nodes
}

// await waits until a signaled request is complete, and reports whether it has succeeded.
func (c *Coordinator) await(r *replica, id uint64) bool {
	if c.coding != nil {
		c.awaitAll([]sent{{r, id}}) // with codes a block takes a request to each node, so the orders are too many to check
	} else {
		c.until(func() bool { return r.Err != nil || r.Done >= id })
	}
	return sent{r, id}.done()
}

// awaitAll waits until all of the signaled requests are complete, or have failed.
func (c *Coordinator) awaitAll(asked []sent) {
	for c.stopped == nil && len(underWay(asked)) > 0 {
		c.pollAll(asked)
	}
}

// done reports whether the request has succeeded.
func (s sent) done() bool { return s.to.Err == nil && s.to.Done >= s.request }

// advance applies the next entry, or waits until another task has changed something: it applies one,
// or commits the next.
func (c *Coordinator) advance() {
	if c.applicable() {
		c.applyNext()
	} else {
		c.changed.Wait()
	}
}

// applicable reports whether an entry can be applied: it is committed, and no task applies one. An
// entry that is not committed may not be part of the log after a failure.
func (c *Coordinator) applicable() bool { return c.applied < c.committed && !c.applying }
