package sift

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
)

// Coordinator is the replicated memory as its coordinator serves it (3.3). Several tasks
// may use it. Memory operations run one after the other, and so do heartbeats.
type Coordinator struct {
	n     *Node // its connections to the words belong to beatMu
	h     host.Host
	cfg   *Config
	shape wal.Shape
	term  uint16
	group *lend.Group

	mu      host.Mutex
	work    host.Cond // something can be applied
	nodes   []*replica
	mirror  *lend.Memory // of the region, without the memory: what is sent comes from here
	scratch *lend.Memory // what is read arrives here
	log     []logged     // by slot
	last    uint64       // index of the last entry
	applied uint64       // index of the last entry that was applied
	locks   locks
	inline  int
	found   Recovery
	stopped error
	until   time.Duration // end of the lease

	beatMu host.Mutex
	beats  uint32
}

// replica is a memory node that the coordinator writes to.
type replica struct {
	*lend.Conn
	quiet int    // requests since the last signaled one
	mark  uint64 // the request that the current operation waits for
}

// logged is what a slot of the log holds.
type logged struct {
	entry wal.Entry
	// sent is the last request to each of the nodes that reads the slot of the mirror, if the
	// card may still do so.
	sent []uint64
}

// Lead makes the node that has won an election the coordinator: it connects to the memory
// nodes, which cuts off the coordinators of earlier terms, and recovers (3.4.1). It returns
// when the memory can be served. The node must send heartbeats from then on: see
// [Coordinator.Beat].
//
// The error wraps [ErrUnavailable] if fewer than a majority let the coordinator in, or
// stay, and [ErrReplaced] if a later coordinator has been there.
func (n *Node) Lead() (*Coordinator, error) {
	c := &Coordinator{n: n, h: n.h, cfg: &n.cfg, shape: n.cfg.shape(), term: n.stood, inline: n.h.Device().Attr().MaxInline,
		mu: n.h.NewMutex(), beatMu: n.h.NewMutex(), log: make([]logged, n.cfg.Slots), locks: newLocks(n.cfg.Block)}
	c.work = n.h.NewCond(c.mu)
	err := c.open()
	if err == nil {
		err = c.recover()
	}
	if err == nil {
		err = c.Beat()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sift: lead in term %d: %w", c.term, err), c.Close())
	}
	return c, nil
}

// open connects to the replicated memory regions. A majority must let it in.
func (c *Coordinator) open() error {
	if c.inline < stateSize {
		return fmt.Errorf("%w: the device takes %d bytes inline, and a word has %d", ErrConfig, c.inline, stateSize)
	}
	var err error
	if c.group, err = lend.NewGroup(c.h); err != nil {
		return err
	}
	if c.mirror, err = c.group.Register(c.cfg.memoryAt() + stateSize); err != nil {
		return err
	}
	if c.scratch, err = c.group.Register(c.scratchSize()); err != nil {
		return err
	}
	d := dialer{h: c.h, cfg: c.cfg, group: c.group, say: request{memoryDoor, c.cfg.Node, c.term}, size: c.cfg.regionSize()}
	conns, err := d.dial(c.cfg.Memory)
	if err != nil {
		return err
	}
	for _, conn := range conns {
		if conn != nil {
			c.nodes = append(c.nodes, &replica{Conn: conn})
		}
	}
	return c.enough()
}

// chunkSize is how many bytes of memory are copied at once.
const chunkSize = 64 << 10

func (c *Coordinator) chunk() int { return min(chunkSize, c.cfg.regionSize()) }

// The scratch memory has room for the state and the log of every node.
func (c *Coordinator) scratchSize() int { return max(len(c.cfg.Memory)*c.cfg.directAt(), c.chunk()) }

// live are the nodes that have not failed.
func (c *Coordinator) live() []*replica {
	var out []*replica
	for _, r := range c.nodes {
		if r.Err == nil {
			out = append(out, r)
		}
	}
	return out
}

// each yields nodes in an order that the protocol leaves open.
func (c *Coordinator) each(replicas []*replica) iter.Seq[*replica] {
	return func(yield func(*replica) bool) {
		for conn := range c.group.Each(conns(replicas)) {
			if !yield(replicas[slices.IndexFunc(replicas, func(r *replica) bool { return r.Conn == conn })]) {
				return
			}
		}
	}
}

func conns(replicas []*replica) []*lend.Conn {
	out := make([]*lend.Conn, len(replicas))
	for i, r := range replicas {
		out[i] = r.Conn
	}
	return out
}

// enough is nil if a majority has not failed. Otherwise the coordinator stops: its last
// write may be on too few nodes.
func (c *Coordinator) enough() error {
	if n := len(c.live()); n < c.cfg.majority() {
		return c.stop(fmt.Errorf("%w: %d of %d memory nodes are left", ErrUnavailable, n, len(c.cfg.Memory)))
	}
	return nil
}

// stop makes all further operations fail. It returns the first reason for that.
func (c *Coordinator) stop(why error) error {
	if c.stopped == nil {
		c.h.Logf("stops leading in term %d: %v", c.term, why)
		c.stopped = why
		c.work.Broadcast()
	}
	return c.stopped
}

// Term is the term in which it was elected.
func (c *Coordinator) Term() uint16 { return c.term }

// Live names the memory nodes that have not failed.
func (c *Coordinator) Live() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, r := range c.live() {
		out = append(out, r.Peer)
	}
	return out
}

// Close stops the coordinator and releases what it uses. The node follows again.
func (c *Coordinator) Close() error {
	c.beatMu.Lock()
	defer c.beatMu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.stop(ErrReplaced) // it has another reason if it had stopped
	c.n.misses = 0
	if c.group == nil {
		return nil
	}
	errs := []error{c.group.Drop(conns(c.nodes)...)}
	for _, m := range []*lend.Memory{c.mirror, c.scratch} {
		if m != nil {
			errs = append(errs, m.Free())
		}
	}
	errs = append(errs, c.group.Close())
	c.group, c.nodes, c.mirror, c.scratch = nil, nil, nil, nil
	return errors.Join(errs...)
}
