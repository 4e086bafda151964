package sift

import (
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Read fills p from addr (3.3.1). It reads one memory node, one-sided.
//
// During the lease no other coordinator can have been elected. Otherwise a heartbeat after the
// read shows it: see Config.Lease.
func (c *Coordinator) Read(addr int, p []byte) error {
	if err := inside(addr, len(p), c.cfg.Size); err != nil {
		return err
	}
	until, err := c.readMemory(addr, p)
	return c.confirm(until, err)
}

// readMemory reads while it locks what it reads, and returns the end of the lease.
func (c *Coordinator) readMemory(addr int, p []byte) (time.Duration, error) {
	c.enter()
	defer c.leave()
	for c.stopped == nil && c.locks.writing(addr, len(p)) {
		c.advance()
	}
	c.locks.read(addr, len(p), 1)
	err := c.fetchMemory(addr, p)
	c.locks.read(addr, len(p), -1)
	c.changed.Broadcast()
	return c.lease, err
}

// ReadDirect fills p from addr of the direct zone.
func (c *Coordinator) ReadDirect(addr int, p []byte) error {
	if err := inside(addr, len(p), c.cfg.Direct); err != nil {
		return err
	}
	c.enter()
	err := c.fetch(c.cfg.directAt()+addr, p)
	until := c.lease
	c.leave()
	return c.confirm(until, err)
}

// fetch reads from any of the nodes. Each of them has received everything that this coordinator
// has posted, and a Read does not overtake an earlier Write.
func (c *Coordinator) fetch(at int, p []byte) error {
	for len(p) > 0 {
		if c.stopped != nil {
			return c.stopped
		}
		if err := c.enough(); err != nil {
			return err
		}
		if n := min(len(p), c.chunk()); c.load(c.any(), at, p[:n]) {
			at, p = at+n, p[n:]
		}
	}
	return c.stopped
}

// any returns one of the nodes that have not failed.
func (c *Coordinator) any() *replica {
	for r := range c.each(c.live()) {
		return r
	}
	return nil
}

// load reads a part of a node's region, of at most a chunk, and reports success.
func (c *Coordinator) load(r *replica, at int, p []byte) bool {
	to, ok := c.place()
	if !ok {
		return false
	}
	c.read(r, at, c.scratch, to, len(p))
	whole := c.await(r, r.Asked)
	if whole {
		c.scratch.Region.Load(to, p)
	}
	c.release(to)
	return whole
}

// place waits for a place of the scratch memory; false: the coordinator has stopped.
func (c *Coordinator) place() (at int, ok bool) {
	for len(c.places) == 0 && c.stopped == nil {
		c.changed.Wait()
	}
	if c.stopped != nil {
		return 0, false
	}
	at, c.places = c.places[0], c.places[1:]
	return at, true
}

// release releases a place.
func (c *Coordinator) release(place int) {
	c.places = append(c.places, place)
	c.changed.Broadcast()
}

// confirm checks that the coordinator had not been replaced when it read.
func (c *Coordinator) confirm(until time.Duration, err error) error {
	if err != nil {
		return err
	}
	if c.cfg.Lease > 0 && c.h.Now() < until {
		return nil
	}
	return c.Beat()
}

// WriteDirect writes data at addr of the direct zone, without the log (3.3.2). It returns
// when a majority of the memory nodes has it: one round trip. It waits only if a node that
// rejoins already has a copy of one of the blocks. A failure may leave part of the data on some nodes: see
// [Coordinator.Copies].
func (c *Coordinator) WriteDirect(addr int, data []byte) error {
	if err := inside(addr, len(data), c.cfg.Direct); err != nil {
		return err
	}
	c.enter()
	defer c.leave()
	for c.stopped == nil && (c.directs.reading(addr, len(data)) || c.queuesFull()) {
		if c.queuesFull() {
			c.poll()
		} else {
			c.changed.Wait()
		}
	}
	if c.stopped != nil || len(data) == 0 {
		return c.stopped
	}
	at := c.cfg.directAt() + addr
	c.mirror.Region.Store(at, data)
	var posted []sent
	for _, r := range c.nodes {
		c.write(r, at, c.mirror, at, len(data), verbs.Signaled)
		r.direct = r.Asked
		posted = append(posted, sent{r, r.direct})
	}
	return c.commit(func() bool { return c.majorityDid(posted) })
}

// majorityDid reports whether requests to a majority are done.
func (c *Coordinator) majorityDid(requests []sent) bool {
	return quorum.Count(requests, sent.done) >= c.cfg.majority()
}

// Copies returns the direct zones of at least a majority of the nodes. After
// a change of the coordinator they may differ: every acknowledged write is on at least one of
// them. The application chooses the content, and rewrites it, before its first
// logged write (3.3.2: applications manage the fault tolerance of this zone themselves).
func (c *Coordinator) Copies(addr, n int) ([][]byte, error) {
	if err := inside(addr, n, c.cfg.Direct); err != nil {
		return nil, err
	}
	c.enter()
	defer c.leave()
	_, copies, err := c.readAll(c.cfg.directAt()+addr, n)
	return copies, err
}

// readAll reads the same part of every node, one after the other.
func (c *Coordinator) readAll(at, n int) (names []string, copies [][]byte, err error) {
	if c.stopped != nil {
		return nil, nil, c.stopped
	}
	for r := range c.each(c.live()) {
		p, whole := make([]byte, n), true
		for i := 0; i < n && whole; i += c.chunk() {
			whole = c.load(r, at+i, p[i:min(i+c.chunk(), n)])
		}
		if whole {
			names, copies = append(names, r.Peer), append(copies, p)
		}
	}
	if err := c.enough(); err != nil {
		return nil, nil, fmt.Errorf("read all: %w", err)
	}
	return names, copies, nil
}
