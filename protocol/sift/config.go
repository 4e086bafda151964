package sift

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
)

// Errors; test for them with errors.Is.
var (
	// ErrUnavailable: a majority of the memory nodes cannot be reached. A write may or may
	// not have taken effect.
	ErrUnavailable = errors.New("sift: unavailable")
	// ErrReplaced: this node is not the coordinator, or no longer. A write may or may not
	// have taken effect.
	ErrReplaced = errors.New("sift: replaced by another coordinator")
	// ErrBounds: the address is outside the memory.
	ErrBounds = errors.New("sift: outside the memory")
	// ErrTooLong: the list does not fit into an entry of the log.
	ErrTooLong = errors.New("sift: the writes do not fit into an entry")
	// ErrExhausted: the terms, or the heartbeats of a term, are used up.
	ErrExhausted = errors.New("sift: numbers used up")
	// ErrLost: more memory nodes have failed than the group tolerates, and data is lost.
	ErrLost = errors.New("sift: the memory is lost")
	// ErrNotJoined: a memory node that has failed was not brought back.
	ErrNotJoined = errors.New("sift: the memory node was not brought back")
	// ErrServing: the backup has left the pool, and serves a group.
	ErrServing = errors.New("sift: the backup serves a group")
	// ErrClosed: the backup is closed.
	ErrClosed = errors.New("sift: closed")
	// ErrConfig: a configuration exceeds the limits.
	ErrConfig = errors.New("sift: bad configuration")
	// ErrMalformed: received bytes are malformed.
	ErrMalformed = errors.New("sift: malformed message")
)

// Limits.
const (
	MaxName = 100                // bytes of the name of a memory node
	MaxNode = math.MaxUint16 - 1 // the largest number of a CPU node
	MaxF    = 7                  // failures to tolerate
	MaxSize = 1 << 30            // bytes of each zone
)

// Layout is the shape of the replicated memory region (3.1). All nodes of a group have the
// same Layout. Sizes are in bytes, and multiples of 8.
type Layout struct {
	Size   int // of the memory: logical addresses are 0 to Size-1
	Direct int // of the zone that is written without a log, which has addresses of its own
	Block  int // of the blocks that are locked
	Chunks int // F+1: each memory node has a chunk of every block (5.1); 0: it has the block
	Slots  int // of the log, at least 2
	Entry  int // of the updates of a log entry: each takes 8, and its data
	// Use is a number that the application chooses for its use of the memory. Nodes with different numbers
	// refuse each other, even if their memories have the same shape.
	Use uint64
}

// Config configures a CPU node.
type Config struct {
	Layout
	// Node is the number of this node, from 1. No other node of the group has it.
	Node uint16
	// Memory names the memory nodes, an odd number.
	Memory []string
	// Period is the time between two heartbeats, and between two looks at them.
	Period time.Duration
	// Missed is how many heartbeats a follower misses before it stands for election.
	Missed int
	// Lease is how long after a heartbeat the coordinator answers reads without asking
	// whether it has been replaced. It must be shorter than Missed periods by as much as
	// clocks may differ. 0: it sends a heartbeat with every read, and needs no clock.
	Lease time.Duration
	// BackOff is the unit of the time for which a candidate waits after a round that nobody
	// won: 1 to 4 units.
	BackOff time.Duration
	// CallTimeout bounds each attempt to connect; negative: no limit.
	CallTimeout time.Duration
	// Durable is a store that outlives the memory nodes. nil: none.
	Durable Durable
	// QueueDepth is the length of each send queue, at least 4. Default [DefaultQueueDepth].
	QueueDepth int
}

// DefaultQueueDepth is the default of Config.QueueDepth.
const DefaultQueueDepth = 64

// Validate checks l. Its error wraps [ErrConfig].
func (l *Layout) Validate() error {
	whole := func(n int) bool { return n >= 0 && n <= MaxSize && n%8 == 0 }
	switch {
	case l.Size == 0 || !whole(l.Size) || !whole(l.Direct):
		return fmt.Errorf("%w: zones of %d and %d bytes: words, at most %d bytes", ErrConfig, l.Size, l.Direct, MaxSize)
	case l.Block == 0 || !whole(l.Block) || l.Size%l.Block != 0:
		return fmt.Errorf("%w: blocks of %d bytes in a memory of %d", ErrConfig, l.Block, l.Size)
	case l.Entry < 16 || !whole(l.Entry):
		return fmt.Errorf("%w: log entries with %d bytes of updates: words, at least 2", ErrConfig, l.Entry)
	case !l.chunksFit():
		return fmt.Errorf("%w: %d data chunks of a block of %d bytes: 2 to %d, of whole words, and an entry of %d bytes holds a block", ErrConfig, l.Chunks, l.Block, MaxF+1, l.Entry)
	case l.Slots < 2 || l.Slots > MaxSize/l.shape().SlotSize():
		return fmt.Errorf("%w: a log of %d entries: 2 to %d", ErrConfig, l.Slots, MaxSize/l.shape().SlotSize())
	}
	return nil
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	if err := c.Layout.Validate(); err != nil {
		return err
	}
	switch n := len(c.Memory); {
	case c.Node == 0 || c.Node > MaxNode:
		return fmt.Errorf("%w: node %d: 1 to %d", ErrConfig, c.Node, MaxNode)
	case n%2 == 0 || n > 2*MaxF+1:
		return fmt.Errorf("%w: %d memory nodes: an odd number up to %d", ErrConfig, n, 2*MaxF+1)
	case c.Chunks != 0 && c.Chunks != c.majority():
		return fmt.Errorf("%w: %d data chunks of a block on %d memory nodes: %d", ErrConfig, c.Chunks, n, c.majority())
	case c.Missed < 1 || c.Period <= 0 || c.BackOff <= 0 || c.CallTimeout == 0:
		return fmt.Errorf("%w: period %v, %d missed, back-off %v, call timeout %v: all positive; the last may be negative", ErrConfig, c.Period, c.Missed, c.BackOff, c.CallTimeout)
	case c.BackOff > math.MaxInt64/backOffs:
		return fmt.Errorf("%w: back-off %v: at most %v, since a node waits for up to %d of it", ErrConfig, c.BackOff, time.Duration(math.MaxInt64/backOffs), backOffs)
	case c.Lease < 0 || c.Lease > 0 && c.Lease/c.Period >= time.Duration(c.Missed): // no product, which may overflow
		return fmt.Errorf("%w: a lease of %v: shorter than %d periods of %v", ErrConfig, c.Lease, c.Missed, c.Period)
	case c.QueueDepth != 0 && c.QueueDepth < 4:
		return fmt.Errorf("%w: a send queue of %d: at least 4", ErrConfig, c.QueueDepth)
	}
	for i, m := range c.Memory {
		if len(m) == 0 || len(m) > MaxName || slices.Contains(c.Memory[:i], m) {
			return fmt.Errorf("%w: memory node %q: a name of 1 to %d bytes, and no other's", ErrConfig, m, MaxName)
		}
	}
	return nil
}

// majority is how many memory nodes decide: any two majorities share one.
func (c *Config) majority() int { return quorum.Majority(len(c.Memory)) }

// The replicated memory region: the state word, the log, the direct zone, the memory.
//
// The state word is the term in which the region was last brought up to date, and two bits. The paper
// has no such word: see [wal.Choose].
//
//   - void: another node's memory is copied over this one.
//   - outside: the node has restarted, and may have lost what it had acknowledged.
const (
	stateSize = 8
	void      = uint64(1) << 63
	outside   = uint64(1) << 62
)

// print is a hash of the layout. A memory node refuses coordinators with another one: they would take
// each other's log for their memory. The paper does not say how nodes learn that they agree.
func (l *Layout) print() uint64 {
	h := fnv.New64a()
	for _, n := range []int{l.Size, l.Direct, l.Block, l.Chunks, l.Slots, l.Entry} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) // it never fails
	}
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, l.Use))
	return h.Sum64()
}

func (l *Layout) String() string {
	return fmt.Sprintf("a memory of %d bytes in blocks of %d, %d written directly, a log of %d entries of %d bytes, %d chunks, use %x", l.Size, l.Block, l.Direct, l.Slots, l.Entry, l.Chunks, l.Use)
}

func (l *Layout) shape() wal.Shape    { return wal.Shape{Slots: l.Slots, Bytes: l.Entry} }
func (l *Layout) logSize() int        { return l.shape().Size() }
func (l *Layout) directAt() int       { return stateSize + l.logSize() }
func (l *Layout) memoryAt() int       { return l.directAt() + l.Direct }
func (l *Layout) regionSize() int     { return l.memoryAt() + l.stored() }
func (l *Layout) slotAt(i uint64) int { return stateSize + l.shape().At(i) }
