package lend

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Group holds the state that connections to several peers share.
type Group struct {
	// Timeout bounds each wait for a completion. [NewGroup] sets [verbs.Forever], since
	// a card reports a dead peer by itself.
	Timeout time.Duration

	h  host.Host
	pd verbs.PD
	ch verbs.CompChannel
}

// NewGroup makes a protection domain and a completion channel.
func NewGroup(h host.Host) (*Group, error) {
	pd, err := h.Device().AllocPD()
	if err != nil {
		return nil, err
	}
	ch, err := h.Device().CreateCompChannel()
	if err != nil {
		return nil, errors.Join(err, pd.Dealloc())
	}
	return GroupOf(h, pd, ch), nil
}

// GroupOf returns a group with an existing protection domain and channel.
func GroupOf(h host.Host, pd verbs.PD, ch verbs.CompChannel) *Group {
	return &Group{Timeout: verbs.Forever, h: h, pd: pd, ch: ch}
}

// Close releases the group's resources. Drop its connections and free its memory first.
func (g *Group) Close() error { return errors.Join(g.ch.Destroy(), g.pd.Dealloc()) }

// Lender lends memory in the protection domain of the group, to visitors that connect
// to one of its connections: see [Visitor.Meet].
func (g *Group) Lender() (*Lender, error) { return newLender(g.h, g.pd) }

// Register allocates and registers memory of this host, to send from and receive into.
func (g *Group) Register(size int) (*Memory, error) { return Register(g.h, g.pd, size, 0) }

// RegisterRegion registers a region of this host, to send from and receive into. If that fails, it frees the region.
func (g *Group) RegisterRegion(r host.Region) (*Memory, error) { return register(g.pd, r, 0) }

// The default queue length, as verbs.QPConfig documents it.
const defaultDepth = 64

// Prepare creates the queues of a connection to peer. cfg has no completion queues: a
// connection has its own.
func (g *Group) Prepare(peer string, cfg verbs.QPConfig) (*Conn, error) {
	depth := cmp.Or(cfg.MaxSendWR, defaultDepth)
	cq, err := g.h.Device().CreateCQ(depth+cmp.Or(cfg.MaxRecvWR, defaultDepth), g.ch)
	if err != nil {
		return nil, err
	}
	c := &Conn{Peer: peer, CQ: cq, Depth: depth, all: cfg.SignalAll}
	cfg.SendCQ, cfg.RecvCQ = cq, cq
	if c.prepared, err = g.pd.CreateQP(cfg); err != nil {
		return nil, errors.Join(err, cq.Destroy())
	}
	return c, nil
}

// Dial connects to a peer that runs [Serve] for service, sends said, and expects windows
// regions in return. The error wraps [ErrRefused] if the peer refuses, [ErrMalformed]
// if its answer is malformed, and otherwise the cause.
func (g *Group) Dial(peer, service string, said []byte, windows int, cfg verbs.QPConfig, timeout time.Duration) (*Conn, error) {
	c, err := g.Prepare(peer, cfg)
	if err != nil {
		return nil, err
	}
	if err := g.dial(c, service, said, windows, timeout); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s of %s: %w", service, peer, err), g.Drop(c))
	}
	return c, nil
}

func (g *Group) dial(c *Conn, service string, said []byte, windows int, timeout time.Duration) error {
	b, err := g.h.Call(c.Peer, service, hello(c.Endpoint(), said), timeout)
	var refused *host.RemoteError
	if errors.As(err, &refused) {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err != nil {
		return err
	}
	greeting, err := DecodeGreeting(b, windows)
	if err != nil {
		return err
	}
	c.Windows = greeting.Windows
	return c.Connect(greeting.Endpoint)
}

// Ask sends a request to the peer of every connection, all at once.
func (g *Group) Ask(conns []*Conn, service string, body func(*Conn) []byte, timeout time.Duration) host.Gather {
	calls := make([]host.Call, len(conns))
	for i, c := range conns {
		calls[i] = host.Call{To: c.Peer, Service: service, Body: body(c)}
	}
	return g.h.Gather(calls, timeout)
}

// Fail marks a connection as failed: its peer has crashed, is unreachable, or has revoked
// its memory. Requests that were posted to the peer may still arrive.
func (g *Group) Fail(c *Conn, cause error) {
	g.h.Logf("peer %s has failed: %v", c.Peer, cause)
	c.Err = cause
	if err := c.disconnect(); err != nil {
		g.h.Logf("disconnect from %s: %v", c.Peer, err)
	}
}

// Each yields connections in an order that the protocol leaves open: see [host.InAnyOrder].
func (g *Group) Each(conns []*Conn) iter.Seq[*Conn] {
	peers := make([]string, len(conns))
	for i, c := range conns {
		peers[i] = c.Peer
	}
	return func(yield func(*Conn) bool) {
		for i := range host.InAnyOrder(g.h, peers) {
			if !yield(conns[i]) {
				return
			}
		}
	}
}

// Drop releases the resources of connections on this host.
func (g *Group) Drop(conns ...*Conn) error {
	var errs []error
	for c := range g.Each(conns) {
		errs = append(errs, c.disconnect())
		if c.CQ != nil {
			errs = append(errs, c.CQ.Destroy())
			c.CQ = nil
		}
	}
	return errors.Join(errs...)
}
