package siftcoord

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Limits of a [Config].
const (
	MinValue = 64 // bytes of a value of the store
	MinKey   = keySize
)

// ErrConfig: a configuration exceeds the limits.
var ErrConfig = errors.New("sift/coord: bad configuration")

// Config configures a [Service]. All nodes of a group have the same Config.
type Config struct {
	// Ticks is how many ticks of [Service.Tick] a session may be silent, at least 1.
	Ticks int
	// Every is the number of records between two snapshots, at least 1. A snapshot is written earlier if the records take
	// more than a quarter of the blocks, because a full store has no room for a snapshot. The store needs room for two
	// snapshots and Every records, with one block for each piece, and one more block. A snapshot holds the whole
	// state: on average, a recorded request costs 2/Every puts and deletes for each piece of the state.
	Every int
	// Begin, if set, makes one change to an empty state before the service answers its first request. If it fails, the
	// service answers no request, and calls Begin again at the next one.
	Begin func(coord.Client) error
}

// Validate checks c for a store of a shape. Its error wraps [ErrConfig].
func (c *Config) Validate(shape *kv.Config) error {
	switch {
	case c.Ticks < 1 || c.Every < 1:
		return fmt.Errorf("%w: Ticks %d, Every %d: at least 1 each", ErrConfig, c.Ticks, c.Every)
	case shape.Key < MinKey || shape.Value < MinValue:
		return fmt.Errorf("%w: the store has keys of %d bytes and values of %d: at least %d and %d", ErrConfig, shape.Key, shape.Value, MinKey, MinValue)
	}
	return nil
}

// Service is the coordination service on a CPU node: it answers while the node is the coordinator.
type Service struct {
	h     host.Host
	cfg   Config
	shape kv.Config    // of the store
	store func() Store // of the coordinator that the node is now, or nil

	mu     host.Mutex
	of     Store // the store whose state this is; nil: none
	log    *journal
	keeper coord.Keeper
}

// New returns the service of a node whose server has stores of this shape. Its error wraps [ErrConfig].
func New(h host.Host, server *kv.Server, shape kv.Config, cfg Config) (*Service, error) {
	return newService(h, shape, cfg, func() Store {
		if s := server.Store(); s != nil {
			return s
		}
		return nil
	})
}

func newService(h host.Host, shape kv.Config, cfg Config, store func() Store) (*Service, error) {
	if err := errors.Join(shape.Validate(), cfg.Validate(&shape)); err != nil {
		return nil, err
	}
	return &Service{h: h, cfg: cfg, shape: shape, store: store, mu: h.NewMutex()}, nil
}

// Serve answers clients under the name of a service. It returns only with an error.
func (s *Service) Serve(service string) error {
	l, err := s.h.Listen(service)
	if err != nil {
		return err
	}
	for {
		r, err := l.Accept(verbs.Forever)
		if err != nil {
			return err
		}
		r.Reply(s.answer(r.From(), r.Body()))
	}
}

// Answers of the service itself. Answers of coord.Store begin with small codes.
const (
	notLeading = 0xff // the request was not and will not be executed
	unknown    = 0xfe // the request may have been executed, now or by the next coordinator
	full       = 0xfd // the store has no room; the request was not executed
)

// answer answers a request of a host.
func (s *Service) answer(from string, req []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(from) > wire.MaxString || !s.leads() {
		return []byte{notLeading}
	}
	return s.execute(from, req)
}

// execute executes a request at the coordinator.
func (s *Service) execute(from string, req []byte) []byte {
	if coord.ReadOnly(req) {
		if err := s.log.confirm(); err != nil {
			s.leave(err)
			return []byte{notLeading}
		}
		return s.keeper.Apply(from, req)
	}
	switch err := s.record(request, from, req); {
	case errors.Is(err, kv.ErrFull):
		return []byte{full}
	case errors.Is(err, kv.ErrUnknown):
		return []byte{unknown}
	case err != nil:
		return []byte{notLeading}
	}
	return s.keeper.Apply(from, req)
}

// Tick advances the clock of the sessions, and expires those that were silent for too long. A node that is not the
// coordinator has no sessions.
func (s *Service) Tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leads() {
		return
	}
	for _, x := range s.keeper.Due() {
		if s.record(expiry, "", binary64(uint64(x.ID))) != nil {
			return
		}
		s.keeper.ExpireSession(x.ID)
	}
}

// Expire calls Tick periodically and never returns.
func (s *Service) Expire(period time.Duration) {
	for {
		s.h.Sleep(period)
		s.Tick()
	}
}

// leads reports whether the node is the coordinator, and makes sure that it has the state of its store.
func (s *Service) leads() bool {
	store := s.store()
	if store == nil {
		s.of = nil
		return false
	}
	if store == s.of {
		return true
	}
	s.of, s.keeper = nil, coord.Keeper{Ticks: s.cfg.Ticks}
	log, snapshot, records, err := openJournal(store, &s.shape)
	if err == nil && snapshot != nil {
		err = s.keeper.Restore(snapshot)
	}
	for i := 0; i < len(records) && err == nil; i++ {
		err = s.replay(records[i])
	}
	if err != nil {
		s.h.Logf("coordination service: %v", err)
		return false
	}
	s.of, s.log = store, log
	if s.cfg.Begin == nil || snapshot != nil || len(records) > 0 {
		return true
	}
	if err := s.cfg.Begin(coord.NewClient(itself{s.h, s}, s.h.Name(), "")); err != nil {
		s.leave(err)
	}
	return s.of != nil
}

// itself is a host whose calls go to the service on the same host.
type itself struct {
	host.Host
	s *Service
}

func (x itself) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	if x.s.of == nil {
		return nil, ErrNoCoordinator // the store has failed meanwhile
	}
	return fate(x.s.execute(x.Name(), req))
}

// leave forgets the state of a store that has failed: its content is unknown until it is opened again.
func (s *Service) leave(err error) {
	s.h.Logf("coordination service: %v", err)
	s.of = nil
}

// record writes a record, and if there are many, a snapshot first. Nothing has happened if its error does not wrap
// [kv.ErrUnknown].
func (s *Service) record(kind byte, from string, body []byte) error {
	if s.log.length() >= s.cfg.Every || s.log.taken > s.shape.Blocks/4 {
		if err := s.log.compact(s.keeper.AppendSnapshot(nil)); err != nil && !errors.Is(err, kv.ErrFull) {
			s.leave(err)
			return fmt.Errorf("%w: %v", kv.ErrNotLeading, err) // the outcome of the snapshot is unknown; the record was not written
		}
	}
	err := s.log.append(append(wire.AppendString([]byte{kind}, from), body...))
	if err != nil && !errors.Is(err, kv.ErrFull) {
		s.leave(err)
	}
	return err
}
