package raftr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// Errors; test for them with errors.Is.
var (
	// ErrNotLeader: this node does not lead. The operation was not carried out.
	ErrNotLeader = errors.New("raftr: not the leader")
	// ErrUnknown: a write was begun. It may have been carried out, or may be carried out later.
	ErrUnknown = errors.New("raftr: the write may have been carried out")
	// ErrUnavailable: too few nodes can be reached.
	ErrUnavailable = errors.New("raftr: unavailable")
	// ErrOutsider: the node has restarted without its storage, so it has lost its vote and
	// the entries that it has acknowledged. It takes no part in the protocol.
	ErrOutsider = errors.New("raftr: restarted without its storage")
	// ErrSession: there is no such session.
	ErrSession = errors.New("raftr: no such session")
	// ErrRefused: a node refuses a client's request. It was not carried out.
	ErrRefused = errors.New("raftr: refused")
	// ErrFull: the log has no room.
	ErrFull = errors.New("raftr: the log is full")
	// ErrTooLong: a key or a value exceeds the limits.
	ErrTooLong = errors.New("raftr: key or value too long")
	// ErrConfig: a configuration exceeds the limits.
	ErrConfig = errors.New("raftr: bad configuration")
	// ErrMalformed: received or stored bytes are malformed.
	ErrMalformed = errors.New("raftr: malformed message")
	// ErrBroken: the Raft library has detected an inconsistency in its state. The node has stopped.
	ErrBroken = errors.New("raftr: broken")
)

// Limits.
const (
	MaxName  = 100     // bytes of the name of a node
	MaxF     = 7       // failures to tolerate
	MaxKey   = 255     // bytes of a key
	MaxValue = 1 << 15 // bytes of a value
	MaxLog   = 1 << 30 // entries of a log
)

// Config configures a node. All nodes of a group have the same Config, except for New.
type Config struct {
	// Nodes names the nodes, an odd number. The name of a node is the name of its host.
	Nodes []string
	// New: the node starts for the first time. A node that starts again has lost its log and its
	// vote unless it is Persistent: see [ErrOutsider].
	New bool
	// Persistent: log, term and vote are in persistent memory. In the paper they are not (6.3). A node that
	// starts again must have the same Nodes, Log and Value; otherwise Start fails with [ErrConfig].
	Persistent bool
	// Log is the capacity of the log in entries. Default [DefaultLog], or 1024 in persistent memory.
	Log int
	// Value is the largest size of a value in bytes. Default [DefaultValue], as in the paper (6.2).
	Value int
	// Election is how long a follower waits for its leader before it stands for election.
	Election time.Duration
	// Lease is how long after a confirmed heartbeat the leader answers reads without asking
	// whether it still leads; the followers elect no other leader in that time. Lease must be shorter
	// than Election by the largest difference of clocks. 0: a heartbeat confirms every read, and no clock
	// matters.
	Lease time.Duration
	// CallTimeout bounds each attempt to connect; negative: no limit.
	CallTimeout time.Duration
	// KeepAlive is how long a node waits for an answer before it probes the other node: see
	// rpc.Config. 0: forever.
	KeepAlive time.Duration
}

// Defaults of a [Config].
const (
	DefaultLog   = 1 << 24
	DefaultValue = 992
)

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	switch n := len(c.Nodes); {
	case n%2 == 0 || n > 2*MaxF+1:
		return fmt.Errorf("%w: %d nodes: an odd number up to %d", ErrConfig, n, 2*MaxF+1)
	case c.Log < 0 || c.Log > MaxLog:
		return fmt.Errorf("%w: a log of %d entries: up to %d", ErrConfig, c.Log, MaxLog)
	case c.Value < 0 || c.Value > MaxValue:
		return fmt.Errorf("%w: values of %d bytes: up to %d", ErrConfig, c.Value, MaxValue)
	case c.Election <= 0 || c.CallTimeout == 0 || c.KeepAlive < 0:
		return fmt.Errorf("%w: election timeout %v, call timeout %v, keep-alive %v: the first positive, the second not 0, the last not negative",
			ErrConfig, c.Election, c.CallTimeout, c.KeepAlive)
	case c.Lease < 0 || c.Lease >= c.Election:
		return fmt.Errorf("%w: a lease of %v: shorter than the election timeout, %v", ErrConfig, c.Lease, c.Election)
	}
	for i, n := range c.Nodes {
		if len(n) == 0 || len(n) > MaxName || slices.Contains(c.Nodes[:i], n) {
			return fmt.Errorf("%w: node %q: want a unique name of 1 to %d bytes", ErrConfig, n, MaxName)
		}
	}
	return nil
}

// withDefaults returns a copy of c with its defaults.
func (c Config) withDefaults() Config {
	log := DefaultLog
	if c.Persistent {
		log = 1024
	}
	c.Nodes = slices.Clone(c.Nodes)
	c.Log, c.Value = cmp.Or(c.Log, log), cmp.Or(c.Value, DefaultValue)
	return c
}

// room returns the number of bytes of commands that a message should have, besides one command of any size.
func (c *Config) room() int { return 4 * c.maxCommand() }

// calls configures the connections: one call at a time to each node, with all messages for it.
func (c *Config) calls() rpc.Config {
	return rpc.Config{MaxMessage: messageHead + entryHead + 4*c.room(), Credits: 1, KeepAlive: c.KeepAlive}
}

// id returns the library's number of a node, from 1; 0 if it is not a node of the group.
func (c *Config) id(name string) uint64 { return uint64(slices.Index(c.Nodes, name) + 1) }
