package sift

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Read fills p from addr (3.3.1). It reads one memory node, one-sided.
//
// While the lease lasts the coordinator is known not to have been replaced. Otherwise it
// finds out by a heartbeat, after the read: see Config.Lease.
func (c *Coordinator) Read(addr int, p []byte) error {
	if err := inside(addr, len(p), c.cfg.Size); err != nil {
		return err
	}
	c.mu.Lock()
	if c.stopped == nil {
		c.await(addr, len(p))
	}
	return c.confirm(c.fetchMemory(addr, p))
}

// ReadDirect fills p from addr of the direct zone.
func (c *Coordinator) ReadDirect(addr int, p []byte) error {
	if err := inside(addr, len(p), c.cfg.Direct); err != nil {
		return err
	}
	c.mu.Lock()
	return c.confirm(c.fetch(c.cfg.directAt()+addr, p))
}

// fetch reads any of the nodes. Each of them has received everything that this coordinator
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
	if c.read(r, at, 0, len(p)); !c.group.Await(r.Conn, r.Asked) {
		return false
	}
	c.scratch.Region.Load(0, p)
	return true
}

// confirm unlocks the memory, and makes sure that the coordinator had not been replaced
// when it was read.
func (c *Coordinator) confirm(err error) error {
	until := c.until
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if c.cfg.Lease > 0 && c.h.Now() < until {
		return nil
	}
	return c.Beat()
}

// WriteDirect writes data at addr of the direct zone, without the log (3.3.2). It returns
// when a majority of the memory nodes has it: one round trip. Nothing locks, and a failure
// may leave a part of it on some of the nodes: see [Coordinator.Copies].
func (c *Coordinator) WriteDirect(addr int, data []byte) error {
	if err := inside(addr, len(data), c.cfg.Direct); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped != nil || len(data) == 0 {
		return c.stopped
	}
	at := c.cfg.directAt() + addr
	c.mirror.Region.Store(at, data)
	for _, r := range c.nodes {
		c.write(r, at, c.mirror, at, len(data), verbs.Signaled)
		r.mark = r.Asked
	}
	return c.commit()
}

// Copies returns what each of at least a majority of the nodes has in the direct zone. After
// a change of the coordinator they may differ: every acknowledged write is on at least one of
// them. The application decides what the content is, and writes it again, before its first
// logged write (3.3.2: applications manage the fault tolerance of this zone themselves).
func (c *Coordinator) Copies(addr, n int) ([][]byte, error) {
	if err := inside(addr, n, c.cfg.Direct); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
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
