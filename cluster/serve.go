package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// ticks is the number of ticks in a session.
const ticks = 10

// ServeConfig is how long sessions last, and where their numbers start.
type ServeConfig struct {
	// TTL is how long a session outlives its process, at least [LeastTTL].
	TTL time.Duration
	// After is a number that no session has had: new sessions have larger ones. A
	// restarted process knows no earlier session, so use something that only grows,
	// such as the time.
	After coord.Session
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *ServeConfig) Validate() error {
	if c.TTL < LeastTTL {
		return fmt.Errorf("%w: sessions of %v; want at least %v: on a busy machine, a shorter session could expire while its process is alive",
			ErrConfig, c.TTL, LeastTTL)
	}
	return nil
}

// Serve is the coordinator: it answers the requests of l, and expires sessions without
// heartbeats, until l is closed.
func Serve(h host.Host, l host.Listener, cfg ServeConfig) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	k := &coord.Keeper{Ticks: ticks, After: cfg.After}
	if err := Announce(coord.NewClient(itself{h, k}, h.Name(), ""), cfg.TTL); err != nil {
		return err
	}
	next := h.Now() + cfg.TTL/ticks
	for {
		r, err := l.Accept(max(next-h.Now(), 0))
		switch {
		case err == nil:
			r.Reply(k.Apply(r.From(), r.Body()))
		case !errors.Is(err, host.ErrTimeout):
			return err
		}
		if h.Now() < next {
			continue
		}
		for _, s := range k.Tick() {
			h.Logf("session %d of %s is over", s.ID, s.Host)
		}
		next = h.Now() + cfg.TTL/ticks
	}
}

// Announce publishes the length of sessions at an empty controller. Call it before any process uses the controller;
// [Serve] does it itself. Without the announcement, processes assume that the controller's client sends heartbeats.
func Announce(c coord.Client, ttl time.Duration) error {
	return c.Create(ttlKey, []byte(ttl.String()), coord.NoSession)
}

// itself is the coordinator's host, which calls its own service.
type itself struct {
	host.Host
	k *coord.Keeper
}

func (s itself) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	return s.k.Apply(s.Name(), req), nil
}
