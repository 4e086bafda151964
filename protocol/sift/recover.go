package sift

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// recover brings the nodes up to date (3.4.1): it reads all logs that it can reach,
// chooses the log, gives every node the entries that it lacks, and replays the log.
//
// An entry is replayed only when it is committed, which is when a majority has the log and
// the new state word. Until then a later recovery may choose a log without it.
func (c *Coordinator) recover() error {
	copies, err := c.readLogs()
	if err != nil {
		return err
	}
	p, ok := wal.Choose(copies)
	if !ok {
		return fmt.Errorf("%w: every memory node was being overwritten", ErrLost)
	}
	if err := c.rebuildable(&p); err != nil {
		return err
	}
	for i := range p.Log.Entries {
		c.keep(&p.Log.Entries[i])
		c.note(&p.Log.Entries[i])
	}
	c.known = p.Log.First
	c.last, c.applied = p.Log.Last(), p.Log.Last()
	nodes := c.live()
	c.found = found(&p)
	for i, r := range nodes {
		if !p.Repairs[i].Copy {
			c.repair(r, i, &p.Repairs[i])
		}
	}
	for i, r := range nodes {
		if p.Repairs[i].Copy {
			c.group.AwaitAll(conns(nodes)) // the copy goes through the scratch memory, from which repairs are sent
			c.replace(r, nodes, &p)
		}
	}
	c.group.AwaitAll(conns(nodes))
	if err := c.enough(); err != nil {
		return err
	}
	c.settled()
	for i := range p.Log.Entries {
		c.replay(&p.Log.Entries[i])
	}
	return c.enlist()
}

// settled notes that all nodes have the log.
func (c *Coordinator) settled() {
	for _, r := range c.live() {
		r.has = c.last
	}
	c.committed = c.last
}

// Recovery is what a recovery has found and done.
type Recovery struct {
	Entries  int // of the log that it continued with
	Repaired int // nodes whose log was another one
	Copied   int // nodes whose memory was replaced
}

func found(p *wal.Plan) Recovery {
	x := Recovery{Entries: len(p.Log.Entries)}
	for i := range p.Repairs {
		switch r := &p.Repairs[i]; {
		case r.Copy:
			x.Copied++
		case !r.Nothing():
			x.Repaired++
		}
	}
	return x
}

// Recovered is what the recovery of this coordinator has found and done.
func (c *Coordinator) Recovered() Recovery { return c.found }

// readLogs reads the state word and the log of every node, into the scratch memory.
func (c *Coordinator) readLogs() ([]wal.Copy, error) {
	size := c.cfg.directAt()
	asked := c.live()
	for i, r := range asked {
		c.read(r, 0, c.scratch, i*size, size)
	}
	c.group.AwaitAll(conns(asked))
	var copies []wal.Copy
	for i, r := range asked {
		if r.Err != nil {
			continue
		}
		state, zone := c.scratch.Region.Load64(i*size), make([]byte, c.cfg.logSize())
		c.scratch.Region.Load(i*size+stateSize, zone)
		x := wal.Copy{Term: uint16(state), Void: state&void != 0}
		x.Log, x.All = c.shape.Parse(zone)
		copies = append(copies, x)
		if len(copies)-1 != i { // an earlier node has failed: keep the logs in the order of the nodes
			c.scratch.Region.Store((len(copies)-1)*size+stateSize, zone)
		}
	}
	return copies, c.enough()
}

// keep puts an entry of the log into the mirror.
func (c *Coordinator) keep(e *wal.Entry) {
	b := make([]byte, c.shape.SlotSize())
	n := c.shape.Encode(b, e)
	c.mirror.Region.Store(c.cfg.slotAt(e.Index), b[:n])
	c.log[e.Index%uint64(c.cfg.Slots)] = logged{entry: *e}
}

// note notes which blocks an entry writes.
func (c *Coordinator) note(e *wal.Entry) {
	for _, u := range e.Updates {
		for b, end := c.locks.blocks(u.Addr, len(u.Data)); b < end; b++ {
			c.written[b] = e.Index
		}
	}
}

// repair posts the writes that complete the log of the i-th node: see [wal.Repair].
func (c *Coordinator) repair(r *replica, i int, plan *wal.Repair) {
	for j := range plan.Apply {
		c.redo(r, i, &plan.Apply[j])
	}
	for _, index := range plan.Clear {
		c.write(r, c.cfg.slotAt(index), c.mirror, c.zeroAt(), 8, 0)
	}
	c.finish(r, plan)
}

// finish posts the entries that the node lacks, and then the state word, which vouches for
// them.
func (c *Coordinator) finish(r *replica, plan *wal.Repair) {
	for j := range plan.Write {
		c.append(r, &plan.Write[j], 0)
	}
	c.state(r, uint64(c.term), verbs.Signaled)
}

// append posts an entry, which the mirror has.
func (c *Coordinator) append(r *replica, e *wal.Entry, flags verbs.SendFlags) {
	at := c.cfg.slotAt(e.Index)
	c.write(r, at, c.mirror, at, entrySize(e), flags)
}

// entrySize is how many bytes of its slot an entry takes.
func entrySize(e *wal.Entry) int { return e.DataAt(len(e.Updates)) - wal.UpdateHeader }

// state posts a state word. It goes inline, like all words.
func (c *Coordinator) state(r *replica, word uint64, flags verbs.SendFlags) {
	c.mirror.Region.Store64(0, word)
	c.write(r, 0, c.mirror, 0, stateSize, flags)
}

// replace copies the memory of another node over that of r, which has missed too much
// (3.4.2). Meanwhile the state word says so.
func (c *Coordinator) replace(r *replica, nodes []*replica, p *wal.Plan) {
	from := c.complete(nodes, p)
	if len(from) < max(1, c.cfg.Chunks) {
		c.group.Fail(r.Conn, fmt.Errorf("%w: too few nodes to copy from are left", ErrUnavailable))
		return
	}
	c.state(r, void, 0)
	if c.coding == nil && !c.copy(r, from[0], c.cfg.directAt(), c.cfg.regionSize()) ||
		c.coding != nil && !(c.copy(r, from[0], c.cfg.directAt(), c.cfg.memoryAt()) && c.replaceChunks(r, from)) {
		if r.Err == nil {
			c.group.Fail(r.Conn, fmt.Errorf("%w: a node to copy from has failed", ErrUnavailable))
		}
		return
	}
	for i := range uint64(c.cfg.Slots) {
		c.write(r, c.cfg.slotAt(i), c.mirror, c.zeroAt(), 8, 0)
	}
	c.finish(r, &p.Repairs[slices.Index(nodes, r)])
}

// copy copies a part of a region, and reports whether neither node has failed.
func (c *Coordinator) copy(r, from *replica, at, end int) bool {
	for ; at < end; at += c.chunk() {
		n := min(c.chunk(), end-at)
		c.read(from, at, c.scratch, 0, n)
		if !c.group.Await(from.Conn, from.Asked) {
			return false
		}
		c.write(r, at, c.scratch, 0, n, verbs.Signaled)
		if !c.group.Await(r.Conn, r.Asked) { // then the scratch memory is free again
			return false
		}
	}
	return true
}

// complete returns a node whose memory is complete up to the log; with codes, all of them.
func (c *Coordinator) complete(nodes []*replica, p *wal.Plan) []*replica {
	var from []*replica
	for i, r := range nodes {
		if !p.Repairs[i].Copy && r.Err == nil {
			from = append(from, r)
		}
	}
	if c.coding != nil {
		return from
	}
	for r := range c.each(from) {
		return []*replica{r}
	}
	return nil
}

// replay posts the updates of an entry, from the mirror, to every node.
func (c *Coordinator) replay(e *wal.Entry) {
	if c.coding != nil {
		c.replayCoded(e)
		return
	}
	x := &c.log[e.Index%uint64(c.cfg.Slots)]
	x.sent = x.sent[:0]
	late := entrySize(e) > c.inline // the card has the bytes only when the request is done
	for _, r := range c.nodes {
		for k, u := range e.Updates {
			var flags verbs.SendFlags
			if late && k == len(e.Updates)-1 {
				flags = verbs.Signaled
			}
			c.write(r, c.cfg.memoryAt()+u.Addr, c.mirror, c.cfg.slotAt(e.Index)+e.DataAt(k), len(u.Data), flags)
		}
		if late {
			x.sent = append(x.sent, sent{r, r.Asked})
		}
	}
}
