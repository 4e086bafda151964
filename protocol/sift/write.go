package sift

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Update is a write to the replicated memory: Data at the logical address Addr.
type Update = wal.Update

// Write writes data at addr (3.3.2): see [Coordinator.WriteAll].
func (c *Coordinator) Write(addr int, data []byte) error {
	return c.WriteAll([]Update{{Addr: addr, Data: data}})
}

// WriteAll carries out a list of writes together (3.3.2): after a failure all are there, or
// none. Other operations see all or none. It returns when a majority of the memory nodes
// has the list in its log. The memory follows in the background: see [Coordinator.ApplyOne].
//
// A list is one entry of the log. The error wraps [ErrTooLong] if it does not fit. After
// [ErrUnavailable] or [ErrReplaced] the writes may take effect or not.
func (c *Coordinator) WriteAll(list []Update) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fits(list); err != nil {
		return err
	}
	if c.stopped != nil {
		return c.stopped
	}
	for _, u := range list {
		c.await(u.Addr, len(u.Data))
	}
	list, err := c.whole(list)
	if err != nil {
		return err
	}
	c.makeRoom()
	c.inStep()
	e := wal.Entry{Index: c.last + 1, Term: c.term, Updates: list}
	c.settle(&c.log[e.Index%uint64(c.cfg.Slots)])
	c.keep(&e)
	c.last++
	c.locks.add(list, 1)
	for _, r := range c.nodes {
		c.append(r, &e, verbs.Signaled)
		r.mark = r.Asked
	}
	err = c.commit()
	if err == nil {
		c.work.Signal()
	}
	return err
}

// fits checks a list of writes.
func (c *Coordinator) fits(list []Update) error {
	size := 0
	for _, u := range list {
		if err := inside(u.Addr, len(u.Data), c.cfg.Size); err != nil {
			return err
		}
		if len(u.Data) == 0 {
			return fmt.Errorf("%w: a write of no bytes", ErrBounds)
		}
		size += u.Size()
	}
	if size > c.cfg.Entry || len(list) == 0 || len(list) > wal.MaxUpdates {
		return fmt.Errorf("%w: %d writes, which take %d bytes of %d", ErrTooLong, len(list), size, c.cfg.Entry)
	}
	return nil
}

func inside(addr, n, size int) error {
	if addr < 0 || addr > size || n > size-addr {
		return fmt.Errorf("%w: %d bytes at %d of %d", ErrBounds, n, addr, size)
	}
	return nil
}

// commit waits until a majority has what was posted last.
func (c *Coordinator) commit() error {
	all := conns(c.nodes)
	for {
		has := quorum.Count(c.nodes, func(r *replica) bool { return r.Err == nil && r.Done >= r.mark })
		if has >= c.cfg.majority() {
			return nil
		}
		if err := c.enough(); err != nil {
			return err
		}
		if _, err := c.group.Next(all); err != nil {
			return c.stop(fmt.Errorf("%w: %w", ErrUnavailable, err))
		}
	}
}

// makeRoom applies entries until the next one may be appended.
//
// All entries but the last Slots-1 are applied before an entry is posted. So on every node
// an entry has been applied when another one begins to take its slot; and if a node has an
// entry, the one Slots-1 before it was committed, which [wal.Choose] needs.
func (c *Coordinator) makeRoom() {
	for c.last+1 >= c.applied+uint64(c.cfg.Slots) {
		c.applyNext()
	}
}

// settle waits until no card needs the slot of the mirror any more.
func (c *Coordinator) settle(x *logged) {
	for i, id := range x.sent {
		if r := c.nodes[i]; id > 0 && r.Err == nil {
			c.group.Await(r.Conn, id)
		}
	}
}

// await waits until no write to n bytes at addr is unapplied, which means that it applies
// them itself: they are committed.
func (c *Coordinator) await(addr, n int) {
	for c.locks.locked(addr, n) {
		c.applyNext()
	}
}

// ApplyOne submits the updates of the oldest entry that is not applied to the memory of all
// nodes, and unlocks its blocks (3.3.2). It reports whether there was one.
func (c *Coordinator) ApplyOne() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped != nil || c.applied == c.last {
		return false
	}
	c.applyNext()
	return true
}

func (c *Coordinator) applyNext() {
	e := &c.log[(c.applied+1)%uint64(c.cfg.Slots)].entry
	c.replay(e)
	c.applied++
	c.locks.add(e.Updates, -1)
}
