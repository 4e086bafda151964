package coord_test

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// kept is a host that calls a keeper in the same process.
type kept struct {
	host.Host
	k *coord.Keeper
}

func (h kept) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	return h.k.Apply("app", req), nil
}

// A session expires some ticks after the last heartbeat, with its keys, and no other
// does.
func TestKeeper(t *testing.T) {
	k := coord.Keeper{Ticks: 2}
	c := coord.NewClient(kept{k: &k}, "coord", "coord")
	silent, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	alive, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create("silent", nil, silent); err != nil {
		t.Fatal(err)
	}
	for tick := range 3 {
		if err := c.CheckSession(alive); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Get("silent"); err != nil {
			t.Fatalf("tick %d: %v", tick, err)
		}
		over := k.Tick()
		if tick < 2 && len(over) > 0 || tick == 2 && (len(over) != 1 || over[0].ID != silent) {
			t.Fatalf("tick %d ends %v", tick, over)
		}
	}
	if _, _, err := c.Get("silent"); !errors.Is(err, coord.ErrNotFound) {
		t.Error(err)
	}
	if err := c.CheckSession(silent); !errors.Is(err, coord.ErrSessionExpired) {
		t.Error(err)
	}
	if err := c.CloseSession(alive); err != nil {
		t.Error(err)
	}
	if over := k.Tick(); len(over) > 0 {
		t.Errorf("%v ends twice", over)
	}
}

// A session of an earlier process is not valid in a later one, not even for the same
// host.
func TestKeeperBeginsAnew(t *testing.T) {
	before, after := coord.Keeper{Ticks: 2, After: 1000}, coord.Keeper{Ticks: 2, After: 2000}
	c := coord.NewClient(kept{k: &before}, "coord", "coord")
	old, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	c = coord.NewClient(kept{k: &after}, "coord", "coord")
	if s, err := c.NewSession(); s == old || err != nil {
		t.Errorf("session %d was given out again, %v", s, err)
	}
	if err := c.CheckSession(old); !errors.Is(err, coord.ErrSessionExpired) {
		t.Error(err)
	}
}

// A service that takes over another's sessions does not know how long they were silent: each has all its ticks again.
func TestRestoredSessionsHaveAllTheirTicks(t *testing.T) {
	first := coord.Keeper{Ticks: 2}
	s, err := coord.NewClient(kept{k: &first}, "coord", "coord").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	next := coord.Keeper{Ticks: 2}
	if err := next.Restore(first.AppendSnapshot(nil)); err != nil {
		t.Fatal(err)
	}
	for tick := range 3 {
		if over := next.Due(); len(over) != 0 {
			t.Fatalf("tick %d: %v is due", tick, over)
		}
	}
	for range 2 { // until it is expired
		if over := next.Due(); len(over) != 1 || over[0].ID != s {
			t.Fatalf("%v is due, not %d", over, s)
		}
	}
	if !next.ExpireSession(s) || len(next.Due()) != 0 {
		t.Error("it expires twice")
	}
}
