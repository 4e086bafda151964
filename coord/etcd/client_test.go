package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/coordtest"
)

// The suite that the simulated service passes, on a real server.
func TestClient(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	coordtest.Run(t, func() coordtest.Service {
		cfg := s.config()
		return func(host string) coord.Client {
			cfg.Name = host
			return newClient(t, cfg)
		}
	})
}

// A third party with the right to do so revokes a session.
func TestLeaseRevoked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	cfg := s.config()
	c := newClient(t, cfg)
	session := newSession(t, c)
	if err := c.Create("k", nil, session); err != nil {
		t.Fatal(err)
	}
	if _, err := s.raw().Revoke(t.Context(), clientv3.LeaseID(session)); err != nil {
		t.Fatal(err)
	}
	if err := c.Create("new", nil, session); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("create: got %v", err)
	}
	if err := c.Create("k", nil, coord.NoSession); err != nil {
		t.Errorf("the key has outlived its session: %v", err)
	}
	if err := c.Create("k", nil, session); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("create of a key that exists: got %v", err)
	}
	if err := c.CheckSession(session); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("check: got %v", err)
	}
	if err := c.CloseSession(session); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("close: got %v", err)
	}
}

// A session expires with its process, and not before: of two of the same age, the one
// whose client is gone expires.
func TestSessionEndsWithItsClient(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	cfg := s.config()
	cfg.TTL = 3 * time.Second
	alive, dead := newClient(t, cfg), newClient(t, cfg)
	kept, lost := newSession(t, alive), newSession(t, dead)
	for key, session := range map[string]coord.Session{"kept": kept, "lost": lost} {
		if err := alive.Create(key, nil, session); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	gone := s.raw().Watch(clientv3.WithRequireLeader(ctx), cfg.Prefix+"keys/lost", clientv3.WithFilterPut(), clientv3.WithCreatedNotify())
	<-gone
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if r := <-gone; len(r.Events) != 1 {
		t.Fatalf("the session of a client that is gone does not expire: %v, %v", r, r.Err())
	}
	if err := alive.CheckSession(lost); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("check of the session whose client is gone: %v", err)
	}
	if err := alive.CheckSession(kept); err != nil {
		t.Errorf("check of the session whose client lives: %v", err)
	}
	if keys, err := alive.List(""); err != nil || fmt.Sprint(keys) != "[kept]" {
		t.Errorf("got keys %q, %v", keys, err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	c := newClient(t, newServer(t).config())
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for op, err := range operations(c) {
		if !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("%s after Close: %v", op, err)
		}
	}
}

// operations calls every operation once.
func operations(c coord.Client) map[string]error {
	_, _, getErr := c.Get("k")
	_, setErr := c.Set("k", []byte("set"), coord.AnyVersion)
	_, listErr := c.List("k")
	_, sessionErr := c.NewSession()
	return map[string]error{"get": getErr, "set": setErr, "list": listErr, "new session": sessionErr,
		"create": c.Create("new", nil, coord.NoSession), "create in a session": c.Create("new", nil, 7),
		"delete": c.Delete("gone", 1), "check session": c.CheckSession(7), "close session": c.CloseSession(7)}
}
