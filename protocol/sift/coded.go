package sift

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/erasure"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Erasure codes (5.1): see Layout.Chunks. The memory of the i-th memory node has the i-th
// chunk of every block. The log and the direct zone are not coded: the log has the blocks
// from which lost chunks are made again.
//
// An entry of the log has whole blocks, one in each update. A recovery may find the chunks of
// a block in different versions on different nodes, so that they mean nothing together, and
// then the log must have all of it. This is why the coordinator reads the rest of a block of
// which an application writes a part. The paper leaves it open.

// chunkSize is the size of each chunk of a block.
func (l *Layout) chunkSize() int { return l.Block / l.Chunks }

// stored is how many bytes of the memory a memory node has.
func (l *Layout) stored() int {
	if l.Chunks == 0 {
		return l.Size
	}
	return l.Size / l.Chunks
}

// chunksFit checks Chunks.
func (l *Layout) chunksFit() bool {
	return l.Chunks == 0 || l.Chunks >= 2 && l.Chunks <= MaxF+1 && l.Block%(8*l.Chunks) == 0 && l.Entry >= wal.UpdateHeader+l.Block
}

// chunkAt is where the chunk of the block at a logical address lies in a region.
func (l *Layout) chunkAt(addr int) int { return l.memoryAt() + addr/l.Chunks }

// The mirror has the parity chunks of each entry of the log, behind all else.
func (l *Layout) parityAt() int { return l.memoryAt() + stateSize }

// parityOf is the size of the parity chunks of an entry.
func (l *Layout) parityOf() int {
	if l.Chunks == 0 {
		return 0
	}
	return l.Entry / (wal.UpdateHeader + l.Block) * (l.Chunks - 1) * l.chunkSize()
}

// coding is what a coordinator needs for codes; nil: it uses none.
type coding struct {
	*erasure.Code
	parts [][]byte // of the block that is being encoded
}

// useCodes makes c.coding.
func (c *Coordinator) useCodes() error {
	if c.cfg.Chunks == 0 {
		return nil
	}
	code, err := erasure.New(c.cfg.Chunks, len(c.cfg.Memory)-c.cfg.Chunks)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.coding = &coding{Code: code, parts: make([][]byte, code.Parts())}
	for i := range c.coding.parts {
		c.coding.parts[i] = make([]byte, c.cfg.chunkSize())
	}
	return nil
}

// encode makes the chunks of an update, in c.coding.parts. It stops the coordinator if the
// update is not a block.
func (c *Coordinator) encode(u Update) bool {
	if len(u.Data) != c.cfg.Block || u.Addr%c.cfg.Block != 0 {
		_ = c.stop(fmt.Errorf("%w: an update of %d bytes at %d, in a log of blocks of %d", ErrMalformed, len(u.Data), u.Addr, c.cfg.Block))
		return false
	}
	err := c.coding.Encode(c.coding.parts, u.Data)
	if err != nil {
		_ = c.stop(fmt.Errorf("%w: %w", ErrMalformed, err))
	}
	return err == nil
}

// whole returns a list of writes of whole blocks that does the same as list, which is admitted. The
// blocks are locked while it reads what they keep, so that this is still true when the list is
// appended; but other tasks may take the room in the log, so it waits for that again.
func (c *Coordinator) whole(list []Update) ([]Update, error) {
	if c.coding == nil {
		return list, nil
	}
	c.locks.write(list, 1)
	out, err := c.blocksOf(list)
	if err == nil {
		err = c.admit(nil)
	}
	c.locks.write(list, -1) // the caller locks them again before another task looks
	if err != nil {
		c.changed.Broadcast()
	}
	return out, err
}

// blocksOf returns the blocks that a list of writes makes.
func (c *Coordinator) blocksOf(list []Update) ([]Update, error) {
	var out []Update
	for _, u := range list {
		for addr, data := u.Addr, u.Data; len(data) > 0; {
			at, n := addr%c.cfg.Block, min(len(data), c.cfg.Block-addr%c.cfg.Block)
			b, err := c.blockOf(&out, addr-at, n < c.cfg.Block)
			if err != nil {
				return nil, err
			}
			copy(b[at:], data[:n])
			addr, data = addr+n, data[n:]
		}
	}
	return out, c.fits(out)
}

// blockOf returns the block at addr from a list, to which it adds the block if it is not
// there yet, with its content if some of it is kept.
func (c *Coordinator) blockOf(list *[]Update, addr int, kept bool) ([]byte, error) {
	for _, u := range *list {
		if u.Addr == addr {
			return u.Data, nil
		}
	}
	b := make([]byte, c.cfg.Block)
	if kept {
		if err := c.fetchBlocks(addr, b); err != nil {
			return nil, err
		}
	}
	*list = append(*list, Update{Addr: addr, Data: b})
	return b, nil
}

// replayCoded posts the chunks of an entry, which the mirror has, each to its node.
func (c *Coordinator) replayCoded(e *wal.Entry) {
	parity := func(k, part int) int {
		return c.cfg.parityAt() + int(e.Index%uint64(c.cfg.Slots))*c.cfg.parityOf() + (k*(c.cfg.Chunks-1)+part-c.cfg.Chunks)*c.cfg.chunkSize()
	}
	for k, u := range e.Updates {
		if !c.encode(u) {
			return
		}
		for part := c.cfg.Chunks; part < len(c.coding.parts); part++ {
			c.mirror.Region.Store(parity(k, part), c.coding.parts[part])
		}
	}
	x := &c.log[e.Index%uint64(c.cfg.Slots)]
	x.sent = x.sent[:0]
	for _, r := range c.nodes {
		for k, u := range e.Updates {
			from, flags := parity(k, r.part), verbs.SendFlags(0)
			if r.part < c.cfg.Chunks {
				from = c.cfg.slotAt(e.Index) + e.DataAt(k) + r.part*c.cfg.chunkSize()
			}
			if k == len(e.Updates)-1 {
				flags = verbs.Signaled
			}
			c.write(r, c.cfg.chunkAt(u.Addr), c.mirror, from, c.cfg.chunkSize(), flags)
		}
		x.sent = append(x.sent, sent{r, r.Asked})
	}
}

// inStep reports whether every node that has not failed has the entry Slots-1 before the next in
// its memory.
//
// Without codes a node may fall behind by more than the log: any other node can bring it up
// to date. With codes a block is lost if fewer than F+1 nodes have chunks of one version, so a
// node that is merely slow must not count as one of the F that may fail. The paper reuses
// slots of the log without saying when.
func (c *Coordinator) inStep() bool {
	return c.coding == nil || !c.overNext().sending()
}

// fetchMemory fills p from a logical address.
func (c *Coordinator) fetchMemory(addr int, p []byte) error {
	if c.coding == nil {
		return c.fetch(c.cfg.memoryAt()+addr, p)
	}
	return c.fetchBlocks(addr, p)
}

// fetchBlocks reads blocks from F+1 nodes, and those with data chunks first, which need no
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

// rebuildable is nil if enough nodes are complete to make the chunks of the others.
func (c *Coordinator) rebuildable(p *wal.Plan) error {
	has := quorum.Count(p.Repairs, func(r wal.Repair) bool { return !r.Copy })
	if c.coding != nil && has < c.cfg.Chunks {
		return c.stop(fmt.Errorf("%w: %d memory nodes are up to date, and with codes it takes %d to rebuild a block", ErrUnavailable, has, c.cfg.Chunks))
	}
	return nil
}

// replaceChunks makes all chunks of a node from those of others. It reports false if a node
// has failed meanwhile.
//
// Blocks of the log may be made of chunks of different versions. The log is replayed before
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

// loadChunk makes the chunk of a locked block for a node that comes back, and puts it into j.buf. It
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
