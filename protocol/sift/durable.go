package sift

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Durable is a store that outlives the memory nodes (3.5). The coordinator gives it all committed
// writes in the background, and [Node.Restart] reads them when all memory nodes have lost theirs.
//
// All coordinators of a group use one store. Each method is atomic and durable when it returns. Calls of
// a coordinator that has been replaced may still arrive, so an index or a term never decreases: a call
// with nothing later than the store's content is ignored without an error, except Begin.
type Durable interface {
	// Load returns the content of the store: a zero Snapshot at first.
	Load() (Snapshot, error)
	// Begin records the start of a coordinator. It is an error if one of a later term has started.
	Begin(term uint16) error
	// Persist adds the updates of the entry with the next index.
	Persist(e Entry) error
	// Replace replaces everything: the store lacks entries that no log has any more.
	Replace(s Snapshot) error
}

// Entry is an entry of the log: a list of writes that commit together.
type Entry = wal.Entry

// Snapshot is the memory after an entry of the log.
type Snapshot struct {
	Term   uint16 // the latest that has begun
	Index  uint64 // of the entry; 0: none
	Memory []byte // Layout.Size bytes; nil if Index is 0
}

// ErrNotLost: a majority of the memory nodes may still have the memory, so the group must not start
// again from a snapshot.
var ErrNotLost = errors.New("sift: the memory is not lost")

// PersistOne gives the oldest entry that is committed and not durable to the store. It reports whether
// there was one.
func (c *Coordinator) PersistOne() bool {
	c.enter()
	defer c.leave()
	if c.stopped != nil || !c.persistable() {
		return false
	}
	c.persistNext()
	return true
}

// persistable reports whether an entry can be persisted: only a committed one, because a later
// coordinator may have another entry otherwise, and one at a time.
func (c *Coordinator) persistable() bool {
	return c.cfg.Durable != nil && c.persisted < c.committed && !c.persisting
}

// persist makes the next entry durable, or waits until another task has changed something.
func (c *Coordinator) persist() {
	if c.persistable() {
		c.persistNext()
	} else {
		c.changed.Wait()
	}
}

func (c *Coordinator) persistNext() {
	slot := make([]byte, c.shape.SlotSize())
	c.mirror.Region.Load(c.cfg.slotAt(c.persisted+1), slot)
	e, _ := c.shape.Decode(slot) // the caller of Write may have changed its data since
	c.persisting = true
	c.mu.Unlock()
	err := c.cfg.Durable.Persist(e)
	c.mu.Lock()
	c.persisting = false
	if err != nil {
		_ = c.stop(fmt.Errorf("sift: persist entry %d: %w", e.Index, err)) // a waiting caller finds out
		return
	}
	c.persisted++
	c.changed.Broadcast()
}

// unpersisted reports whether an entry must become durable before the next one may take its slot: so at
// most Slots entries are outstanding (3.5).
func (c *Coordinator) unpersisted() bool {
	return c.cfg.Durable != nil && c.last+1 > c.persisted+uint64(c.cfg.Slots)
}

// enlist prepares the store for a coordinator that has recovered.
func (c *Coordinator) enlist() error {
	if c.cfg.Durable == nil {
		return nil
	}
	s, err := c.beginStored()
	switch {
	case err != nil:
		return err
	case s.Index > c.last:
		return fmt.Errorf("%w: the store has entry %d, and the log ends with %d", ErrLost, s.Index, c.last)
	case s.Index+1 >= c.known:
		c.persisted = s.Index
		return nil
	}
	memory := make([]byte, c.cfg.Size)
	if err := c.fetchMemory(0, memory); err != nil {
		return err
	}
	c.persisted = c.last
	return c.cfg.Durable.Replace(Snapshot{Term: c.term, Index: c.last, Memory: memory})
}

// beginStored begins the coordinator's term in the store, and returns the store's content.
//
// If a later term has begun, the coordinator was replaced, and follows again (3.2): the store of a group that continued
// shows neither a failure nor a lost memory.
func (c *Coordinator) beginStored() (Snapshot, error) {
	began := c.cfg.Durable.Begin(c.term)
	s, err := c.cfg.Durable.Load()
	switch {
	case err == nil && s.Term > c.term:
		return s, fmt.Errorf("%w: term %d has begun in the store", ErrReplaced, s.Term)
	case began != nil:
		return s, fmt.Errorf("sift: begin term %d in the store: %w", c.term, began)
	case err != nil:
		return s, fmt.Errorf("sift: load from the store: %w", err)
	}
	return s, nil
}

// Restart starts a group again whose memory nodes have lost their memory, from Config.Durable
// (3.5). Acknowledged writes that were not durable are lost: at most Layout.Slots. It returns a
// coordinator as [Node.Lead] does. The paper does not say who decides to restart; here the caller does.
//
// A majority must have restarted, and must still be out of the group when this node has connected to it.
// Then the group cannot continue by itself. Otherwise the error wraps [ErrNotLost]. It wraps [ErrReplaced]
// if another node has won, and [ErrUnavailable] if no majority is reached.
func (n *Node) Restart() (*Coordinator, error) {
	if n.cfg.Durable == nil {
		return nil, fmt.Errorf("%w: no durable store", ErrConfig)
	}
	s, err := n.cfg.Durable.Load()
	if err != nil {
		return nil, fmt.Errorf("sift: restart: %w", err)
	}
	if s.Index > 0 && len(s.Memory) != n.cfg.Size {
		return nil, fmt.Errorf("%w: a snapshot of %d bytes, and a memory of %d", ErrConfig, len(s.Memory), n.cfg.Size)
	}
	if err := n.claim(s.Term); err != nil {
		return nil, fmt.Errorf("sift: restart: %w", err)
	}
	c := n.coordinator()
	return c.begin(copyDoor, func() error { return c.restore(&s) })
}

// claim wins the words of a majority, including restarted nodes, for a term later than all.
func (n *Node) claim(least uint16) error {
	if err := n.connect(); err != nil {
		return err
	}
	n.onWords(func(*peer) (verbs.SendWR, bool) { return verbs.SendWR{Op: verbs.OpRead}, true }, n.sees)
	if lost := quorum.Count(n.nodes, func(p peer) bool { return p.known && p.seen == outsider }); lost < n.cfg.majority() {
		return fmt.Errorf("%w: %d of %d memory nodes have restarted", ErrNotLost, lost, len(n.nodes))
	}
	n.term = max(n.term, least)
	won, err := n.swap(func(p *peer) bool { return p.known }, func(Word) {})
	if err == nil && won < n.cfg.majority() {
		err = fmt.Errorf("%w: %d of %d words won", ErrReplaced, won, len(n.nodes))
	}
	return err
}

// restore makes the snapshot the memory of all nodes.
//
// The log begins with an entry without updates, far enough behind the snapshot that no entry of the lost
// log is next to it: a node that still has such entries is copied when it rejoins.
func (c *Coordinator) restore(s *Snapshot) error {
	if err := c.lost(); err != nil {
		return err
	}
	if _, err := c.beginStored(); err != nil {
		return err
	}
	e := Entry{Index: s.Index + uint64(c.cfg.Slots) + 1, Term: c.term}
	c.keep(&e)
	c.last, c.known = e.Index, e.Index
	c.applied = c.last
	memory := make([]byte, c.cfg.Direct+c.cfg.Size) // the direct zone is lost
	copy(memory[c.cfg.Direct:], s.Memory)
	for _, r := range c.live() {
		c.state(r, void|outside, 0)
	}
	if c.coding == nil {
		c.fillZones(c.live(), memory)
	} else if err := c.fillChunks(memory); err != nil {
		return err
	}
	for _, r := range c.live() {
		c.fill(r)
	}
	c.group.AwaitAll(conns(c.live()))
	if err := c.enough(); err != nil {
		return err
	}
	c.settled()
	c.persisted = c.last
	return c.cfg.Durable.Replace(Snapshot{Term: c.term, Index: c.last, Memory: memory[c.cfg.Direct:]})
}

// fillZones writes everything after the log to nodes.
func (c *Coordinator) fillZones(nodes []*replica, zones []byte) {
	for i := 0; i < len(zones); i += c.chunk() {
		n := min(c.chunk(), len(zones)-i)
		c.scratch.Region.Store(0, zones[i:i+n])
		for _, r := range nodes {
			c.write(r, c.cfg.directAt()+i, c.scratch, 0, n, verbs.Signaled)
		}
		c.group.AwaitAll(conns(nodes))
	}
}

// lost is nil if a majority of the nodes are still out of the group. No other coordinator can make them
// members any more, because this one has their connections.
func (c *Coordinator) lost() error {
	nodes := c.live()
	for i, r := range nodes {
		c.read(r, 0, c.scratch, 8*i, stateSize)
	}
	c.group.AwaitAll(conns(nodes))
	if err := c.enough(); err != nil {
		return err
	}
	lost := 0
	for i, r := range nodes {
		if r.Err == nil && c.scratch.Region.Load64(8*i)&outside != 0 {
			lost++
		}
	}
	if lost < c.cfg.majority() {
		return fmt.Errorf("%w: %d of %d memory nodes are out of the group", ErrNotLost, lost, len(c.cfg.Memory))
	}
	return nil
}
