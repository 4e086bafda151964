package sift

import "github.com/verbatim-rdma/verbatim/verbs"

// CopyBlock copies the next block to the node, and reports whether another one is left. The block is
// locked from then on until the node has joined: clients read it, and writes to it wait (3.4.2). So when
// the last block is copied no write is under way, and the node has everything that the others have. After
// an error the copy has to start over.
func (j *Rejoining) CopyBlock() (more bool, err error) {
	if more, err = j.copyNext(); err != nil {
		err = j.fail(err)
	}
	return more, err
}

func (j *Rejoining) copyNext() (more bool, err error) {
	c := j.c
	c.enter()
	defer c.leave()
	if err := j.usable(); err != nil {
		return false, err
	}
	if j.next == c.cfg.blocks() {
		return false, nil
	}
	b := c.block(j.next)
	for c.stopped == nil && b.locks.writing(b.number*c.cfg.Block, c.cfg.Block) {
		c.advance()
	}
	if c.stopped != nil {
		return false, c.stopped
	}
	b.locks.copy(b.number, true)
	j.next++
	if j.lacks(&b) {
		err = j.copy(&b)
	}
	return j.next < c.cfg.blocks(), err
}

// lacks reports whether the node may lack what is in a block.
//
// The entries of its log may not be applied to its memory. All earlier ones are. Writes to the
// direct zone are not recorded.
func (j *Rejoining) lacks(b *block) bool {
	return b.locks == &j.c.directs || j.since == 0 || j.c.written[b.number] >= j.since
}

// copy copies a block of any other node.
func (j *Rejoining) copy(b *block) error {
	c := j.c
	for copied := false; !copied; {
		if err := c.enough(); err != nil {
			return err
		}
		copied = j.load(b)
	}
	c.write(j.r, b.at, j.buf, 0, b.size, verbs.Signaled)
	if !c.await(j.r, j.r.Asked) {
		return j.gone()
	}
	j.copied++
	return nil
}

// load puts the new content of a block of the node into j.buf, and reports success.
func (j *Rejoining) load(b *block) bool {
	c := j.c
	if c.coding != nil && b.locks == &c.locks {
		return j.loadChunk(b)
	}
	from := c.any()
	c.read(from, b.at, j.buf, 0, b.size)
	return c.await(from, from.Asked)
}

// Copied is the number of blocks that were copied: a node that has not lost its memory needs only what it missed (3.5).
func (j *Rejoining) Copied() int { return j.copied }

// blocks is the number of blocks of the direct zone and the memory together. The last of the direct zone
// may be shorter.
func (l *Layout) blocks() int { return l.directBlocks() + l.Size/l.Block }

func (l *Layout) directBlocks() int { return (l.Direct + l.Block - 1) / l.Block }

// block is a block of the direct zone or of the memory.
type block struct {
	locks  *locks // of its zone
	number int    // there
	at     int    // in the region
	size   int
}

// block is the i-th of all blocks.
func (c *Coordinator) block(i int) block {
	if d := c.cfg.directBlocks(); i >= d {
		size := c.cfg.stored() / (c.cfg.Size / c.cfg.Block) // with codes, a chunk of it
		return block{&c.locks, i - d, c.cfg.memoryAt() + (i-d)*size, size}
	}
	return block{&c.directs, i, c.cfg.directAt() + i*c.cfg.Block, min(c.cfg.Block, c.cfg.Direct-i*c.cfg.Block)}
}
