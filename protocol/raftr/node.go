package raftr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// Node is a member of a group. Its methods may be called by several tasks.
//
// The library draws a random election timeout, but only its Tick uses it, and nothing here calls Tick:
// followers wait by the host's clock ([Node.Watch]). So a node's behavior depends only on its messages,
// its calls and the host.
type Node struct {
	h    host.Host
	cfg  Config
	self uint64
	most int        // bytes of a call
	mu   host.Mutex // guards the fields below

	raw     *raft.RawNode
	store   *store
	machine machine
	applied uint64
	fates   map[uint64]*fate // of the writes for which tasks of this node wait, by index
	out     [][]*pb.Message  // for each node, the messages that wait to be sent
	broken  error            // the node has stopped

	// The connections to others, and their users.
	group      *lend.Group
	links      []*rpc.Client // by node; nil: none
	driving    bool          // a task exchanges messages
	connecting bool          // a task makes connections
	waiting    int           // tasks that wait until something has changed
	changed    host.Cond

	// State of a leader.
	serving   bool   // the first entry of its term is committed
	asked     uint64 // reads to confirm in this term
	confirmed uint64 // how many of them are confirmed
	asking    uint64 // the term of both counts
	leased    bool
	lease     time.Duration // when the lease expires

	// State of a follower.
	following bool          // a leader has sent a message, or may have before a restart
	heard     time.Duration // when
}

// fate is the fate of a write.
type fate struct {
	term  uint64 // of its entry
	over  bool   // an entry was applied at its index
	mine  bool   // this entry is the write
	known bool   // the session was open
}

// Start starts a node, a follower. It answers others when [Node.Serve] runs.
func Start(h host.Host, cfg Config) (*Node, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	n := &Node{h: h, cfg: cfg, self: cfg.id(h.Name()), machine: newMachine(), fates: map[uint64]*fate{},
		out: make([][]*pb.Message, len(cfg.Nodes)), links: make([]*rpc.Client, len(cfg.Nodes))}
	calls := cfg.calls()
	n.most = calls.MaxMessage
	if n.self == 0 {
		return nil, fmt.Errorf("%w: %s is not one of %q", ErrConfig, h.Name(), cfg.Nodes)
	}
	n.mu = h.NewMutex()
	n.changed = h.NewCond(n.mu)
	var err error
	if n.store, err = openStore(h, &cfg); err != nil {
		return nil, err
	}
	if !cfg.New {
		n.following, n.heard = true, h.Now() // of an unknown leader
	}
	n.raw, err = raft.NewRawNode(&raft.Config{ID: n.self, Storage: n.store, ElectionTick: 2, HeartbeatTick: 1, MaxSizePerMsg: uint64(cfg.room()),
		MaxInflightMsgs: 256, DisableProposalForwarding: true, DisableConfChangeValidation: false, Logger: logger{h}})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if n.group, err = lend.NewGroup(h); err != nil {
		return nil, fmt.Errorf("raftr: start: %w", err)
	}
	return n, nil
}

// Step takes a message of another node, as it arrived, and returns the answer. The error wraps
// [ErrMalformed] if a part is malformed; the parts before it count. The node keeps b.
func (n *Node) Step(from string, b []byte) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := n.cfg.id(from)
	if id == 0 || id == n.self {
		return nil, fmt.Errorf("%w: %s is not another node of the group", ErrMalformed, from)
	}
	err := n.receive(id, b)
	return n.take(id), err
}

// receive takes messages of another node.
func (n *Node) receive(from uint64, b []byte) error {
	messages, err := n.cfg.decodeMessages(b)
	if err != nil {
		return err
	}
	led := false
	for _, m := range messages {
		m.From, m.To = &from, &n.self
		if err = n.message(m); err != nil {
			break
		}
		led = led || m.GetType() == pb.MsgApp || m.GetType() == pb.MsgHeartbeat
	}
	if led && n.raw.BasicStatus().Lead == from {
		n.following, n.heard = true, n.h.Now()
	}
	return errors.Join(err, n.settle())
}

// message takes one message of another node.
func (n *Node) message(m *pb.Message) error {
	if n.broken != nil {
		return n.broken
	}
	if err := n.guard(m); err != nil {
		return err
	}
	if m.GetType() == pb.MsgVote && n.promised() {
		return nil
	}
	return n.protect(func() error { return n.raw.Step(m) })
}

// promised reports whether a leader that has sent messages to this node may still have a lease.
func (n *Node) promised() bool {
	return n.cfg.Lease > 0 && n.following && n.h.Now()-n.heard < n.cfg.Election
}

// protect calls the library. If it panics, its state cannot be trusted, and the node stops.
func (n *Node) protect(call func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			n.broken = fmt.Errorf("%w: %v", ErrBroken, x)
			err = n.broken
		}
	}()
	return call()
}

// settle does the work that the library requests: it saves, then applies, and collects messages.
func (n *Node) settle() error {
	for n.broken == nil && n.raw.HasReady() {
		var rd raft.Ready
		if err := n.protect(func() error { rd = n.raw.Ready(); return nil }); err != nil {
			return err
		}
		if err := n.store.save(rd.HardState, rd.Entries); err != nil {
			n.broken = fmt.Errorf("%w: %w", ErrBroken, err)
			return n.broken
		}
		for _, m := range rd.Messages {
			n.queue(m)
		}
		for _, e := range rd.CommittedEntries {
			n.apply(e)
		}
		for _, s := range rd.ReadStates {
			n.confirmed = max(n.confirmed, binary.BigEndian.Uint64(s.RequestCtx))
		}
		if err := n.protect(func() error { n.raw.Advance(rd); return nil }); err != nil {
			return err
		}
	}
	n.role()
	n.wake()
	return n.broken
}

// apply applies a committed entry.
func (n *Node) apply(e *pb.Entry) {
	known := true
	if len(e.GetData()) > 0 {
		x, err := decodeCommand(e.GetData())
		if err != nil { // guard lets none through
			n.broken = fmt.Errorf("%w: entry %d: %w", ErrBroken, e.GetIndex(), err)
			return
		}
		known = n.machine.apply(e.GetIndex(), x)
	}
	n.applied = e.GetIndex()
	if f := n.fates[e.GetIndex()]; f != nil {
		f.over, f.mine, f.known = true, f.term == e.GetTerm(), known
	}
}

// role clears the state of an earlier term as a leader.
func (n *Node) role() {
	s := n.raw.BasicStatus()
	leads := s.RaftState == raft.StateLeader
	if !leads || s.GetTerm() != n.asking {
		n.leased, n.asked, n.confirmed, n.asking = false, 0, 0, 0
	}
	if leads {
		n.asking = s.GetTerm()
	}
	n.serving = leads && n.committedOwn()
}

// committedOwn reports whether an entry of this term is committed: then all entries before it are
// committed too, and the leader knows the commit index (Raft, section 5.4.2).
func (n *Node) committedOwn() bool {
	s := n.raw.BasicStatus()
	term, err := n.store.Term(s.GetCommit())
	return err == nil && term == s.GetTerm()
}

// queue adds a message to those that wait. A heartbeat replaces waiting heartbeats: it confirms the same reads. So
// a node that does not answer has a bounded number of waiting messages.
func (n *Node) queue(m *pb.Message) {
	to := &n.out[m.GetTo()-1]
	if m.GetType() == pb.MsgHeartbeat {
		*to = slices.DeleteFunc(*to, func(x *pb.Message) bool { return x.GetType() == pb.MsgHeartbeat })
	}
	*to = append(*to, m)
}

// take takes waiting messages for a node, as many as a call holds. It drops messages of an earlier
// term, which are useless and would delay those of this term.
func (n *Node) take(to uint64) []byte {
	var b []byte
	term := n.raw.BasicStatus().GetTerm()
	todo, most := slices.DeleteFunc(n.out[to-1], func(m *pb.Message) bool { return m.GetTerm() < term }), n.most
	for len(todo) > 0 && len(b)+size(todo[0]) <= most {
		b, todo = appendMessage(b, todo[0]), todo[1:]
	}
	n.out[to-1] = todo
	return b
}

// Term returns the latest term that the node knows of.
func (n *Node) Term() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.raw.BasicStatus().GetTerm()
}

// Leader returns the name of the node that leads according to this node; "": none.
func (n *Node) Leader() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leader()
}

func (n *Node) leader() string {
	if lead := n.raw.BasicStatus().Lead; lead != raft.None {
		return n.cfg.Nodes[lead-1]
	}
	return ""
}

// Close releases the connections of the node. The node must not be used afterwards.
func (n *Node) Close() error {
	var errs []error
	for i, c := range n.links {
		if c != nil {
			errs = append(errs, c.Close())
			n.links[i] = nil
		}
	}
	return errors.Join(append(errs, n.group.Close())...)
}
