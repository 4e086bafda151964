package sift

import (
	"fmt"
	"slices"

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
// Writes of several tasks are under way together, unless they concern the same blocks. They commit in
// the order of the log, and return in any order.
//
// A list is one entry of the log. The error wraps [ErrTooLong] if it does not fit. After
// [ErrUnavailable] or [ErrReplaced] the writes may take effect or not.
func (c *Coordinator) WriteAll(list []Update) error {
	c.enter()
	defer c.leave()
	if err := c.fits(list); err != nil {
		return err
	}
	if err := c.admit(list); err != nil {
		return err
	}
	list, err := c.whole(slices.Clone(list)) // the caller may change it before it is applied
	if err != nil {
		return err
	}
	e := wal.Entry{Index: c.last + 1, Term: c.term, Updates: list}
	c.keep(&e)
	c.note(&e)
	c.last++
	c.locks.write(list, 1)
	for _, r := range c.nodes {
		c.append(r, &e, verbs.Signaled)
		r.appended = append(r.appended, mark{r.Asked, e.Index})
	}
	return c.commit(func() bool { return c.committed >= e.Index })
}

// admit waits until a list may be appended: nobody holds its blocks, and its slot of the log and the
// send queues have room. Other tasks may act while it waits. Its result holds until the caller waits.
func (c *Coordinator) admit(list []Update) error {
	for c.stopped == nil {
		switch {
		case c.anyLocked(list, c.locks.reading):
			c.changed.Wait()
		case c.anyLocked(list, c.locks.writing) || c.full():
			c.advance()
		case c.unpersisted():
			c.persist()
		case !c.inStep():
			c.pollAll(c.overNext().sent)
		case c.sending() || c.queuesFull():
			c.poll()
		default:
			return nil
		}
	}
	return c.stopped
}

func (c *Coordinator) anyLocked(list []Update, locked func(addr, n int) bool) bool {
	return slices.ContainsFunc(list, func(u Update) bool { return locked(u.Addr, len(u.Data)) })
}

// full reports whether entries must be applied before the next one may be appended.
//
// All entries but the last Slots-1 are applied before an entry is posted. So on every node
// an entry has been applied when another one begins to take its slot; and if a node has an
// entry, the one Slots-1 before it was committed, which [wal.Choose] needs.
func (c *Coordinator) full() bool { return c.last+1 >= c.applied+uint64(c.cfg.Slots) }

// sending reports whether a card may still read the next slot of the mirror.
func (c *Coordinator) sending() bool { return c.log[(c.last+1)%uint64(c.cfg.Slots)].sending() }

// overNext is the slot after that of the next entry.
func (c *Coordinator) overNext() *logged { return &c.log[(c.last+2)%uint64(c.cfg.Slots)] }

// sending reports whether requests that read the slot of the mirror are under way.
func (l *logged) sending() bool {
	return len(underWay(l.sent)) > 0
}

func (c *Coordinator) queuesFull() bool {
	return slices.ContainsFunc(c.nodes, func(r *replica) bool { return r.Err == nil && r.Free() == 0 })
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

// commit waits until a majority has what was posted.
func (c *Coordinator) commit(committed func() bool) error {
	c.until(func() bool { return committed() || c.enough() != nil })
	if committed() {
		return nil
	}
	return c.stopped
}

// ApplyOne submits the updates of the oldest entry that is not applied to the memory of all
// nodes, and unlocks its blocks (3.3.2). It reports whether there was one that is committed.
func (c *Coordinator) ApplyOne() bool {
	c.enter()
	defer c.leave()
	if c.stopped != nil || !c.applicable() {
		return false
	}
	c.applyNext()
	return true
}

func (c *Coordinator) applyNext() {
	c.applying = true
	e := &c.log[(c.applied+1)%uint64(c.cfg.Slots)].entry
	c.replay(e)
	c.applied++
	c.applying = false
	c.locks.write(e.Updates, -1)
	c.changed.Broadcast()
}
