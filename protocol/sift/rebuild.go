package sift

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Reads with erasure codes, and the computation of lost chunks: see coded.go.

// fetchMemory fills p from a logical address.
func (c *Coordinator) fetchMemory(addr int, p []byte) error {
	if c.coding == nil {
		return c.fetch(c.cfg.memoryAt()+addr, p)
	}
	return c.fetchBlocks(addr, p)
}

// fetchBlocks reads blocks from F+1 nodes, first from those with data chunks, which need no
// decoding.
func (c *Coordinator) fetchBlocks(addr int, p []byte) error {
	for len(p) > 0 {
		if c.stopped != nil {
			return c.stopped
		}
		if err := c.enough(); err != nil {
			return err
		}
		skip := addr % c.cfg.Block
		n := min(c.chunk()/c.cfg.Block, (skip+len(p)+c.cfg.Block-1)/c.cfg.Block)
		if blocks := c.loadBlocks(c.live(), addr-skip, n); blocks != nil {
			n := copy(p, blocks[skip:])
			addr, p = addr+n, p[n:]
		}
	}
	return c.stopped
}

// loadBlocks reads n blocks from the first of nodes, and returns nil if one of these fails.
func (c *Coordinator) loadBlocks(nodes []*replica, addr, n int) []byte {
	size := c.cfg.chunkSize()
	parts := c.loadParts(nodes, c.cfg.chunkAt(addr), n*size)
	if parts == nil {
		return nil
	}
	for i := range c.cfg.Chunks {
		if err := c.coding.RebuildOne(parts, i); err != nil {
			_ = c.stop(fmt.Errorf("%w: %w", ErrLost, err))
			return nil
		}
	}
	out := make([]byte, 0, n*c.cfg.Block)
	for at := 0; at < n*size; at += size {
		for _, p := range parts[:c.cfg.Chunks] {
			out = append(out, p[at:at+size]...)
		}
	}
	return out
}

// loadParts reads n bytes at the same place of the first F+1 of nodes, and returns them by
// chunk; nil if one of these nodes fails.
func (c *Coordinator) loadParts(nodes []*replica, at, n int) [][]byte {
	place, ok := c.place()
	if !ok {
		return nil
	}
	var asked []sent
	for k, r := range nodes[:min(len(nodes), c.cfg.Chunks)] {
		c.read(r, at, c.scratch, place+k*n, n)
		asked = append(asked, sent{r, r.Asked})
	}
	parts := make([][]byte, c.coding.Parts())
	c.awaitAll(asked) // then nothing arrives at the place any more
	for k, s := range asked {
		if !s.done() {
			ok = false
			continue
		}
		parts[s.to.part] = make([]byte, n)
		c.scratch.Region.Load(place+k*n, parts[s.to.part])
	}
	c.release(place)
	if !ok {
		return nil
	}
	return parts
}

// redo posts the updates of an entry that only the i-th node has, whose log is in the
// scratch memory.
func (c *Coordinator) redo(r *replica, i int, e *wal.Entry) {
	at := i*c.cfg.directAt() + c.cfg.slotAt(e.Index)
	for k, u := range e.Updates {
		from := at + e.DataAt(k)
		if c.coding == nil {
			c.write(r, c.cfg.memoryAt()+u.Addr, c.scratch, from, len(u.Data), 0)
			continue
		}
		if c.encode(u) {
			c.scratch.Region.Store(from, c.coding.parts[r.part]) // the block itself has been copied from there
			c.write(r, c.cfg.chunkAt(u.Addr), c.scratch, from, c.cfg.chunkSize(), 0)
		}
	}
}

// rebuildable is nil if enough nodes are complete to compute the chunks of the others.
func (c *Coordinator) rebuildable(p *wal.Plan) error {
	has := quorum.Count(p.Repairs, func(r wal.Repair) bool { return !r.Copy })
	if c.coding != nil && has < c.cfg.Chunks {
		return c.stop(fmt.Errorf("%w: %d memory nodes are up to date, and with codes it takes %d to rebuild a block", ErrUnavailable, has, c.cfg.Chunks))
	}
	return nil
}

// replaceChunks computes all chunks of a node from those of others. It reports false if a node
// has failed meanwhile.
//
// Blocks of the log may have chunks of different versions. The log is replayed before
// anything reads them.
func (c *Coordinator) replaceChunks(r *replica, from []*replica) bool {
	most := c.chunk() / c.cfg.Chunks &^ 7
	for at, end := c.cfg.memoryAt(), c.cfg.regionSize(); at < end; at += most {
		n := min(most, end-at)
		parts := c.loadParts(from, at, n)
		if parts == nil || c.coding.RebuildOne(parts, r.part) != nil {
			return false
		}
		c.scratch.Region.Store(0, parts[r.part])
		c.write(r, at, c.scratch, 0, n, verbs.Signaled)
		if !c.group.Await(r.Conn, r.Asked) { // then the scratch memory is free again
			return false
		}
	}
	return true
}

// loadChunk computes the chunk of a locked block for a node that rejoins, and puts it into j.buf. It
// reports false if a node that it reads has failed.
func (j *Rejoining) loadChunk(b *block) bool {
	c := j.c
	parts := c.loadParts(c.live(), b.at, b.size)
	if parts == nil {
		return false
	}
	if err := c.coding.RebuildOne(parts, j.r.part); err != nil {
		_ = c.stop(fmt.Errorf("%w: %w", ErrLost, err))
		return false
	}
	j.buf.Region.Store(0, parts[j.r.part])
	return true
}

// fillChunks is fillZones with codes: each node gets its chunk of every block.
func (c *Coordinator) fillChunks(zones []byte) error {
	memory := zones[c.cfg.Direct:]
	for _, r := range c.live() {
		own := append([]byte{}, zones[:c.cfg.Direct]...)
		for at := 0; at < len(memory); at += c.cfg.Block {
			if !c.encode(Update{Addr: at, Data: memory[at : at+c.cfg.Block]}) {
				return c.stopped
			}
			own = append(own, c.coding.parts[r.part]...)
		}
		c.fillZones([]*replica{r}, own)
	}
	return nil
}
