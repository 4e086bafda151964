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
// may use it.
type Coordinator struct {
	n     *Node // its connections to the words belong to beatMu
	h     host.Host
	cfg   *Config
	shape wal.Shape
	term  uint16
	group *lend.Group

	mu         host.Mutex
	changed    host.Cond // of any operation below
	users      int       // operations under way
	polling    bool      // a task waits for completions
	applying   bool      // a task applies an entry
	nodes      []*replica
	mirror     *lend.Memory // of the region, without the memory: requests are sent from here
	scratch    *lend.Memory // responses arrive here
	places     []int        // of the scratch memory that no read uses, a chunk each
	log        []logged     // by slot
	last       uint64       // index of the last entry
	committed  uint64       // index of the last entry that a majority has
	applied    uint64       // index of the last entry that was applied
	persisted  uint64       // index of the last entry that the store has
	persisting bool         // a task persists an entry
	locks      locks
	directs    locks    // of the direct zone: only copies hold any
	written    []uint64 // by block: the last entry that has written it
	known      uint64   // the first entry that written knows about
	rejoining  *Rejoining
	inline     int
	coding     *coding
	found      Recovery
	stopped    error
	lease      time.Duration // its end

	beatMu host.Mutex
	beats  uint32
}

// replica is a memory node that the coordinator writes to.
type replica struct {
	*lend.Conn
	quiet    int    // requests since the last signaled one
	appended []mark // entries that it may not have yet, in the order of the log
	has      uint64 // index of the last entry that it has
	direct   uint64 // the request that is the last direct write
	part     int    // its place in Config.Memory, and the chunk of a block that it has
}

// mark is the request that appends an entry.
type mark struct{ request, index uint64 }

// sent is a request to a node.
type sent struct {
	to      *replica
	request uint64
}

// logged is what a slot of the log holds.
type logged struct {
	entry wal.Entry
	// sent are the last requests that read the slot of the mirror, as far as cards may still do so.
	sent []sent
}

// Lead makes the node that has won an election the coordinator: it connects to the memory
// nodes, which cuts off the coordinators of earlier terms, and recovers (3.4.1). It returns
// when the memory can be served. The node must send heartbeats from then on: see
// [Coordinator.Beat].
//
// The error wraps [ErrUnavailable] if fewer than a majority admit the coordinator, or
// stay, and [ErrReplaced] if a later coordinator has connected.
func (n *Node) Lead() (*Coordinator, error) {
	c := n.coordinator()
	return c.begin(memoryDoor, c.recover)
}

// coordinator returns the coordinator of the term for which the node has stood last.
func (n *Node) coordinator() *Coordinator {
	c := &Coordinator{n: n, h: n.h, cfg: &n.cfg, shape: n.cfg.shape(), term: n.stood, inline: n.h.Device().Attr().MaxInline,
		mu: n.h.NewMutex(), beatMu: n.h.NewMutex(), log: make([]logged, n.cfg.Slots), locks: newLocks(n.cfg.Block),
		directs: newLocks(n.cfg.Block), written: make([]uint64, n.cfg.Size/n.cfg.Block)}
	c.changed = n.h.NewCond(c.mu)
	return c
}

// begin connects to the memory nodes and prepares them, and checks that the coordinator leads.
func (c *Coordinator) begin(at door, prepare func() error) (*Coordinator, error) {
	err := c.open(at)
	if err == nil {
		c.enter() // preparing waits like operations do
		err = prepare()
		c.leave()
	}
	if err == nil {
		err = c.Beat()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sift: lead in term %d: %w", c.term, err), c.Close())
	}
	return c, nil
}

// open connects to the replicated memory regions. A majority must admit it.
func (c *Coordinator) open(at door) error {
	if c.inline < stateSize {
		return fmt.Errorf("%w: the device takes %d bytes inline, and a word has %d", ErrConfig, c.inline, stateSize)
	}
	if err := c.useCodes(); err != nil {
		return err
	}
	var err error
	if c.group, err = lend.NewGroup(c.h); err != nil {
		return err
	}
	if c.mirror, err = c.group.Register(c.cfg.parityAt() + c.cfg.Slots*c.cfg.parityOf()); err != nil {
		return err
	}
	if c.scratch, err = c.group.Register(c.scratchSize()); err != nil {
		return err
	}
	for i := range reads {
		c.places = append(c.places, i*c.chunk())
	}
	d := dialer{h: c.h, cfg: c.cfg, group: c.group, say: request{at, c.cfg.Node, c.term, c.cfg.print()}, size: c.cfg.regionSize()}
	conns, err := d.dial(c.cfg.Memory)
	if err != nil {
		return err
	}
	for i, conn := range conns {
		if conn != nil {
			c.nodes = append(c.nodes, &replica{Conn: conn, part: i})
		}
	}
	return c.enough()
}

// copySize is how many bytes of memory are copied at once.
const copySize = 64 << 10

// chunk is the size of a place of the scratch memory. With codes it holds the chunks of a block.
func (c *Coordinator) chunk() int {
	n := min(copySize, c.cfg.regionSize())
	if c.coding != nil {
		n = max(n, c.cfg.Block)
	}
	return n
}

// reads is how many reads may be under way at a time.
const reads = 4

// The scratch memory has room for the state and the log of every node, and later for the reads.
func (c *Coordinator) scratchSize() int {
	return max(len(c.cfg.Memory)*c.cfg.directAt(), reads*c.chunk())
}

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
		c.changed.Broadcast()
	}
	return c.stopped
}

// Term is the term in which it was elected.
func (c *Coordinator) Term() uint16 { return c.term }

// Stopped is the reason why it is no longer the coordinator, or nil.
func (c *Coordinator) Stopped() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

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

// Failed names the memory nodes that have failed, or were not reached: see [Coordinator.Rejoin].
func (c *Coordinator) Failed() []string {
	live := c.Live()
	return slices.DeleteFunc(slices.Clone(c.cfg.Memory), func(name string) bool { return slices.Contains(live, name) })
}

// Close stops the coordinator, waits for all operations and heartbeats in progress, and releases
// its resources. The node follows again.
func (c *Coordinator) Close() error {
	c.beatMu.Lock()
	defer c.beatMu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.stop(ErrReplaced) // it has another reason if it had stopped
	for c.users > 0 {
		c.changed.Wait()
	}
	c.n.misses = 0
	if c.group == nil {
		return nil
	}
	errs := []error{c.group.Drop(conns(c.peers())...)}
	if j := c.rejoining; j != nil && j.buf != nil {
		errs = append(errs, j.buf.Free())
	}
	for _, m := range []*lend.Memory{c.mirror, c.scratch} {
		if m != nil {
			errs = append(errs, m.Free())
		}
	}
	errs = append(errs, c.group.Close())
	c.group, c.nodes, c.mirror, c.scratch, c.rejoining = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
