package sift

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Join makes the node, which has a full copy, one of the memory nodes again: it gets the coordinator's word,
// the log, and then the state word, which vouches for its content. From then on it counts.
//
// The word comes first. If the coordinator dies in between, the node is still out of the group, and the next one brings
// it back. With a state word alone, the next one would treat it as a member, and it would take no part in elections.
func (j *Rejoining) Join() error {
	err := j.ready()
	if err == nil {
		err = j.c.welcome(j.r.Peer, j.word)
	}
	if err == nil {
		err = j.complete()
	}
	if err == nil {
		err = j.join()
	}
	if err != nil {
		return j.fail(err)
	}
	return nil
}

// ready is nil if everything is copied.
func (j *Rejoining) ready() error {
	c := j.c
	c.enter()
	defer c.leave()
	if err := j.usable(); err != nil {
		return err
	}
	if j.next < c.cfg.blocks() {
		return fmt.Errorf("%w: %d of %d blocks are copied", ErrNotJoined, j.next, c.cfg.blocks())
	}
	return nil
}

// complete makes the log of the node equal to that of the others, and vouches for it.
func (j *Rejoining) complete() error {
	c := j.c
	c.enter()
	defer c.leave()
	if err := j.usable(); err != nil {
		return err
	}
	if c.fill(j.r); !c.await(j.r, j.r.Asked) {
		return j.gone()
	}
	return nil
}

// fill posts the log, and then the state word.
func (c *Coordinator) fill(r *replica) {
	for i := range uint64(c.cfg.Slots) {
		c.write(r, c.cfg.slotAt(i), c.mirror, c.zeroAt(), 8, 0)
	}
	for _, e := range c.entries() {
		c.append(r, e, 0)
	}
	c.state(r, uint64(c.term), verbs.Signaled)
}

// join adds the node to those that count.
func (j *Rejoining) join() error {
	c := j.c
	c.enter()
	defer c.leave()
	if err := j.usable(); err != nil {
		return err
	}
	j.r.has = c.last
	nodes := slices.Clone(c.nodes)
	if old := slices.IndexFunc(nodes, func(r *replica) bool { return r.Peer == j.r.Peer }); old >= 0 {
		c.drop(nodes[old].Conn)
		nodes[old] = j.r
	} else {
		nodes = append(nodes, j.r)
	}
	c.nodes = nodes
	return j.end()
}

// entries are the entries that the log has, oldest first.
func (c *Coordinator) entries() []*wal.Entry {
	var out []*wal.Entry
	for i := c.last + 1 - min(c.last, uint64(c.cfg.Slots)); i <= c.last; i++ {
		if e := &c.log[i%uint64(c.cfg.Slots)].entry; e.Index == i {
			out = append(out, e)
		}
	}
	return out
}
