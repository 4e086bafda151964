package kv

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// Server answers the clients of a CPU node, with the node's store while it is the coordinator. One
// that is not refuses.
type Server struct {
	h     host.Host
	cfg   Config
	mu    host.Mutex
	store *Store // nil: none
	term  uint16 // in which Run leads, or 0
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
	return rpc.Serve(s.h, service, s.cfg.calls(), func(_ string, req []byte) []byte {
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
// and answers clients, until it is replaced, and follows again. It returns only with an error that
// no further attempt mends.
func Run(h host.Host, node sift.Config, cfg Config) error {
	s, err := NewServer(h, cfg)
	if err != nil {
		return err
	}
	if need := cfg.Layout(node.Slots); node.Size < need.Size || node.Direct < need.Direct || node.Entry < need.Entry {
		return fmt.Errorf("%w: a memory with %+v, and the store needs %+v", ErrConfig, node.Layout, need)
	}
	n, err := sift.Start(h, node)
	if err != nil {
		return err
	}
	h.Go("sift/kv", func() { h.Logf("%v", s.Serve()) })
	for err == nil {
		err = s.lead(n)
	}
	return errors.Join(err, n.Close())
}

// lead is a time in which the node follows, and then leads. An error ends everything.
func (s *Server) lead(n *sift.Node) error {
	c, err := n.Follow()
	if err != nil {
		return err
	}
	s.leads(c.Term())
	s.h.Go("apply memory", c.Apply)
	s.h.Go("store", func() { s.open(c) })
	s.h.Logf("%v", c.Keep())
	s.leads(0)
	return c.Close()
}

// leads begins or ends a time in which the node leads. It has no store then.
func (s *Server) leads(term uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		s.store.Stop()
	}
	s.term, s.store = term, nil
}

// open opens the store and applies its log, while heartbeats are sent.
func (s *Server) open(c *sift.Coordinator) {
	store, err := Open(s.h, c, s.cfg)
	if err == nil && s.opened(c.Term(), store) {
		err = store.Apply()
	}
	s.h.Logf("%v", err)
}

// opened sets the store of a term, if the node still leads in it.
func (s *Server) opened(term uint16, store *Store) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.term == term {
		s.store = store
	}
	return s.term == term
}
