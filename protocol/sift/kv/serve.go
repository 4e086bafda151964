package kv

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// Server answers the clients of a CPU node, with the node's store while it is the coordinator. Otherwise
// it refuses them.
type Server struct {
	// KeepAlive is the time that a client may be silent before the server probes it and, if the client is gone,
	// releases its connection. A client that closes its connection or dies does not notify the server. 0: no probes.
	// Set it before Serve.
	KeepAlive time.Duration

	h     host.Host
	cfg   Config
	mu    host.Mutex
	store *Store            // nil: none
	leads *sift.Coordinator // as which Run leads, or nil
}

// NewServer returns a server without a store.
func NewServer(h host.Host, cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Server{h: h, cfg: cfg, mu: h.NewMutex()}, nil
}

// Use sets the store, or nil.
func (s *Server) Use(store *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = store
}

// Store returns the store, or nil.
func (s *Server) Store() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store
}

// Serve answers clients. It returns only with an error.
func (s *Server) Serve() error {
	cfg := s.cfg.calls()
	cfg.KeepAlive = s.KeepAlive
	return rpc.Serve(s.h, service, cfg, func(_ string, req []byte) []byte {
		a := s.handle(req)
		return a.encode()
	})
}

func (s *Server) handle(b []byte) answer {
	q, err := decodeRequest(b)
	if err != nil {
		return answer{status: malformed}
	}
	store := s.Store()
	if store == nil {
		return answer{status: notLeading}
	}
	var value []byte
	found := true
	switch q.verb {
	case getVerb:
		value, found, err = store.Get(q.key, nil)
	case putVerb:
		err = store.Put(q.key, q.value)
	case deleteVerb:
		err = store.Delete(q.key)
	}
	switch {
	case err != nil:
		return answer{status: statusOf(err)}
	case !found:
		return answer{status: absent}
	}
	return answer{done, value}
}

// statusOf is the status that stands for an error of a store.
func statusOf(err error) status {
	for i, x := range failures {
		if x != nil && errors.Is(err, x) {
			return status(i)
		}
	}
	return unknown // no store returns such an error
}

// Run runs a CPU node with a store: it follows, and when it is the coordinator it opens the store
// and answers clients, until it is replaced, and follows again. Meanwhile it brings failed memory nodes
// back. It returns only with an error that no further attempt can clear.
func Run(h host.Host, node sift.Config, cfg Config) error {
	s, err := NewServer(h, cfg)
	if err != nil {
		return err
	}
	return s.Run(node)
}

// Run is [Run] for a server whose store others use, too.
func (s *Server) Run(node sift.Config) error {
	if need := s.cfg.Layout(node.Slots); node.Size < need.Size || node.Direct < need.Direct || node.Entry < need.Entry {
		return fmt.Errorf("%w: a memory with %+v, and the store needs %+v", ErrConfig, node.Layout, need)
	}
	n, err := sift.Start(s.h, node)
	if err != nil {
		return err
	}
	s.h.Go("sift/kv", func() { s.h.Logf("%v", s.Serve()) })
	for err == nil {
		err = s.lead(n)
	}
	return errors.Join(err, n.Close())
}

// lead follows, and then leads until the node is replaced. An error stops the server.
func (s *Server) lead(n *sift.Node) error {
	c, err := n.Follow()
	if err != nil {
		return err
	}
	s.begin(c)
	s.h.Go("apply memory", c.Apply)
	s.h.Go("store", func() { s.open(c) })
	s.h.Logf("%v", c.Keep())
	s.begin(nil)
	return c.Close()
}

// begin starts a period in which the node leads or, if c is nil, one in which it does not. It has no store then.
func (s *Server) begin(c *sift.Coordinator) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		s.store.Stop()
	}
	s.leads, s.store = c, nil
}

// open opens the store and applies its log, while heartbeats are sent.
//
// Memory nodes come back only now: the direct zone is copied from one of them, and Open ensures
// that all have what any has (see [sift.Coordinator.Rejoin]).
func (s *Server) open(c *sift.Coordinator) {
	store, err := Open(s.h, c, s.cfg)
	if err == nil && s.opened(c, store) {
		s.h.Go("readmit", func() { s.h.Logf("%v", c.Readmit()) })
		err = store.Apply()
	}
	s.h.Logf("%v", err)
}

// opened sets the store of a coordinator, if the node still leads as that one.
func (s *Server) opened(c *sift.Coordinator, store *Store) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leads == c {
		s.store = store
	}
	return s.leads == c
}

// State describes what a CPU node is doing, for people.
type State struct {
	Term         uint16   // in which it leads; 0: it does not
	Serves       bool     // it has opened the store
	Live, Failed []string // the memory nodes, as the coordinator has found them
}

// State describes what the node is doing now.
func (s *Server) State() State {
	s.mu.Lock()
	c, store := s.leads, s.store
	s.mu.Unlock()
	if c == nil {
		return State{}
	}
	return State{Term: c.Term(), Serves: store != nil, Live: c.Live(), Failed: c.Failed()}
}
