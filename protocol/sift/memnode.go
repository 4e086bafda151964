package sift

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// MemoryConfig configures a memory node.
type MemoryConfig struct {
	Layout
	// New: the group is new, and this is the first start of the node. After any restart it
	// is false: the node may have lost what it had acknowledged, and must not count for
	// anything until a coordinator has brought it up to date. The paper does not say how a
	// node knows whether it has restarted.
	New bool
	// Persistent is the name of a persistent region that holds the replicated memory (3.5). With one, a
	// node that rejoins needs only what it missed. Its host must keep everything that a card has placed, in
	// the order of the connection, whenever it fails. Empty: DRAM.
	Persistent string
}

// The reasons for which a memory node refuses a connection.
var (
	errSuperseded = errors.New("a later coordinator has connected")
	errOutsider   = errors.New("it has restarted, and is not up to date")
	errLayout     = errors.New("it has another configuration")
)

// memoryNode is a memory node (3.1). Its CPU sets up connections, and does nothing else.
type memoryNode struct {
	admin  *lend.Loan // the administrative word
	memory *lend.Loan // the replicated memory region
	layout *Layout
	isNew  bool
	latest request // of the coordinator that connected last
}

// ServeMemory runs a memory node. It returns only with an error.
func ServeMemory(h host.Host, cfg MemoryConfig) error {
	if err := cfg.Layout.Validate(); err != nil {
		return err
	}
	n := &memoryNode{layout: &cfg.Layout, isNew: cfg.New}
	var err error
	if n.admin, err = lendAlone(h, "", 8, verbs.RemoteRead|verbs.RemoteAtomic); err != nil {
		return fmt.Errorf("sift: lend the administrative word: %w", err)
	}
	if n.memory, err = lendAlone(h, cfg.Persistent, cfg.regionSize(), verbs.RemoteRead|verbs.RemoteWrite); err != nil {
		return fmt.Errorf("sift: lend %d bytes: %w", cfg.regionSize(), err)
	}
	switch {
	case !cfg.New:
		n.leave(cfg.Persistent == "")
	case cfg.Persistent != "" && n.memory.Region.Load64(0) != 0:
		return fmt.Errorf("%w: the region %q of a new group has content", ErrConfig, cfg.Persistent)
	}
	return lend.Serve(h, service, n.admit)
}

// leave makes a node that has restarted an outsider.
func (n *memoryNode) leave(lost bool) {
	n.admin.Region.Store64(0, uint64(outsider))
	r := n.memory.Region
	state := r.Load64(0) | outside
	if lost {
		state |= void
	}
	r.Store64(0, state)
	r.Flush(0, stateSize)
	r.Fence()
}

// lendAlone lends memory in a protection domain of its own, so that a connection to one
// region does not reach the other. It is persistent if it has a name.
func lendAlone(h host.Host, name string, size int, access verbs.Access) (*lend.Loan, error) {
	l, err := lend.NewLender(h)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return l.LendPersistent(name, size, access)
	}
	return l.Lend(size, access)
}

// admit lets every CPU node reach the administrative word, and one coordinator the
// memory (3.2): the one of the latest term that has asked. The others lose their
// connection before this one gets its own, so that none of their requests arrives afterwards.
func (n *memoryNode) admit(v *lend.Visitor) error {
	q, err := decodeRequest(v.Said)
	switch {
	case err != nil:
		return err
	case q.layout != n.layout.print():
		return fmt.Errorf("%w: %v", errLayout, n.layout)
	case q.door == adminDoor:
		return v.Admit(n.admin)
	case q.term < n.latest.term || q.term == n.latest.term && q.node != n.latest.node:
		return fmt.Errorf("%w: node %d of term %d", errSuperseded, n.latest.node, n.latest.term)
	}
	n.latest = q
	if err := n.memory.Expel(); err != nil {
		return err
	}
	if q.door == memoryDoor && !n.member() {
		return errOutsider
	}
	return v.Admit(n.memory)
}

// member reports whether the node counts: its group is new, or a coordinator has brought it up to date.
// That coordinator must have lost its connection: until then the CPU may not see what is acknowledged.
func (n *memoryNode) member() bool { return n.isNew || n.memory.Region.Load64(0)&outside == 0 }
