package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// An instance asks for its session often enough for the sessions of its coordinator,
// however short they are.
func TestHeartbeats(t *testing.T) {
	for ttl, want := range map[string]time.Duration{"400ms": 100 * time.Millisecond, "2s": heartbeat, "10s": heartbeat} {
		_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", ttl)
		i, err := start(ncl.Config{App: "app", Coord: clientOf(t, "app", addr)}, time.Minute, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		if i.every != want {
			t.Errorf("sessions of %s: a heartbeat every %v, want %v", ttl, i.every, want)
		}
		i.close()
	}
}

// An instance that has nothing to write hears that its session is over.
func TestIdleInstanceIsTold(t *testing.T) {
	_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", leastTTL.String())
	c := clientOf(t, "app", addr)
	told := make(chan string, 1)
	i, err := start(ncl.Config{App: "app", Coord: c}, 0, func(format string, args ...any) { told <- fmt.Sprintf(format, args...) })
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	if err := i.claim.Close(); err != nil { // as an operator who ends it
		t.Fatal(err)
	}
	if line := within(t, told); !strings.Contains(line, "the session of this instance is over") {
		t.Error(line)
	}
	if err := i.check(); !errors.Is(err, coord.ErrSessionExpired) {
		t.Error(err)
	}
}

// slow is a controller that answers a question for a session when the test lets it.
type slow struct {
	coord.Client
	asked, answer chan struct{}
}

func (c slow) CheckSession(s coord.Session) error {
	close(c.asked)
	<-c.answer
	return c.Client.CheckSession(s)
}

// An instance that ends in good order says nothing about its session, although a question
// for it may be under way.
func TestNoFalseAlarm(t *testing.T) {
	_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0")
	c := slow{clientOf(t, "app", addr), make(chan struct{}), make(chan struct{})}
	claim, err := ncl.Start(ncl.Config{App: "app", Coord: c})
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{claim: claim, every: time.Millisecond, end: make(chan struct{}), logf: t.Errorf}
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.beat()
	}()
	within(t, c.asked)
	i.close()
	close(c.answer)
	within(t, done)
}
