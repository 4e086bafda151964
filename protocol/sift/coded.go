package sift

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/erasure"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Erasure codes (5.1): see Layout.Chunks. The memory of the i-th memory node has the i-th
// chunk of every block. The log and the direct zone are not coded: the log has the blocks
// from which lost chunks are recomputed.
//
// An entry of the log has whole blocks, one in each update. A recovery may find the chunks of
// a block in different versions on different nodes. Together they are meaningless, so
// the log must have the whole block. This is why the coordinator reads the rest of a block when
// an application writes a part. The paper leaves it open.

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

// The mirror has the parity chunks of each entry of the log, after everything else.
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

// whole returns a list of writes of whole blocks with the same effect as list, which has been admitted.
// It locks the blocks while it reads their unchanged parts, so that these do not change before the list
// is appended. Meanwhile other tasks may take the room in the log, so whole waits for room again.
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

// blocksOf returns the new blocks that a list of writes makes.
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

// replayCoded posts the chunks of an entry, each to its node, from the mirror.
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
