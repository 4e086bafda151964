package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
)

// controllers are a coordinator and an etcd cluster: each gives clients of host name, and
// a way to let one die.
var controllers = map[string]func(t *testing.T) func(name string) (c coord.Client, die func()){
	"coordinator": func(t *testing.T) func(string) (coord.Client, func()) {
		_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0", "--session-ttl", leastTTL.String())
		return func(name string) (coord.Client, func()) { return clientOf(t, name, addr), func() {} }
	},
	"etcd": func(t *testing.T) func(string) (coord.Client, func()) {
		s := etcdtest.Start(t)
		return func(name string) (coord.Client, func()) {
			c, err := etcd.New(etcd.Config{Endpoints: []string{s.Endpoint}, Name: name, TTL: 2 * time.Second, CallTimeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			return c, func() { _ = c.Close() }
		}
	},
}

// within is what c has in a minute.
func within[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing comes in a minute")
	}
	return v
}

// holds is a peer called peer1 at addr.
func holds(t *testing.T, c coord.Client, addr string, wait time.Duration) (*heldName, chan error, error) {
	t.Helper()
	lost := make(chan error, 1)
	n, err := holdName(c, "peer1", addr, wait, t.Logf, func(err error) { lost <- err })
	return n, lost, err
}

func mustHold(t *testing.T, c coord.Client, addr string, wait time.Duration) (*heldName, chan error) {
	t.Helper()
	n, lost, err := holds(t, c, addr, wait)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := addressOf(c, "peer1"); at != addr || err != nil {
		t.Fatalf("it is registered at %q, %v, want %s", at, err, addr)
	}
	return n, lost
}

// Two peers of one name are told apart while both live, and one that starts again gets in.
func TestPeerNames(t *testing.T) {
	for controller, start := range controllers {
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			client := start(t)
			c, _ := client("peer1")
			first, _ := mustHold(t, c, "a:1", 0)

			_, _, err := holds(t, c, "b:1", 0)
			if !errors.Is(err, errNameTaken) || !strings.Contains(fmt.Sprint(err), "lives at a:1, and this one is at b:1") ||
				!strings.Contains(err.Error(), "another --name") || !strings.Contains(err.Error(), "--wait") {
				t.Fatalf("a second peer: %v", err)
			}
			if at, err := addressOf(c, "peer1"); at != "a:1" || err != nil {
				t.Errorf("the second peer has changed the address to %q, %v", at, err)
			}
			first.close()
			second, _ := mustHold(t, c, "b:1", 0) // the first one has gone in good order

			// One that is killed at b:1 and starts there again, and a third one elsewhere.
			close(second.end)
			<-second.done
			dying, die := client("peer1")
			again, _ := mustHold(t, dying, "b:1", 0)
			close(again.end)
			<-again.done
			die()
			third, _ := mustHold(t, c, "c:1", time.Minute)
			third.close()
		})
	}
}

// A peer whose session ends under its feet has its name again, unless it went to another
// one: then it hears of that.
func TestPeerNameLost(t *testing.T) {
	for controller, start := range controllers {
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			c, _ := start(t)("peer1")
			first, lost := mustHold(t, c, "a:1", 0)
			close(first.end) // it beats when the test says so
			<-first.done
			if err := c.CloseSession(first.session); err != nil {
				t.Fatal(err)
			}
			if again, err := first.renew(); !again || err != nil {
				t.Fatalf("%v, %v", again, err)
			}
			if _, _, err := holds(t, c, "b:1", 0); !errors.Is(err, errNameTaken) {
				t.Errorf("it does not have its name again: %v", err)
			}
			if err := c.CloseSession(first.session); err != nil {
				t.Fatal(err)
			}
			second, _ := mustHold(t, c, "b:1", 0)
			first.end, first.done = make(chan struct{}), make(chan struct{})
			go first.beat(time.Millisecond, t.Logf, func(err error) { lost <- err })
			if err := within(t, lost); !errors.Is(err, errNameTaken) || !strings.Contains(err.Error(), "lives at b:1, and this one is at a:1") {
				t.Error(err)
			}
			second.close()
		})
	}
}

// deafController never answers to the end of a session.
type deafController struct {
	coord.Client
	asked chan struct{}
}

func (d deafController) CloseSession(coord.Session) error {
	close(d.asked)
	select {}
}

// A peer that ends gives its name back, and does not wait for a controller that is gone.
func TestPeerNameEnds(t *testing.T) {
	d := deafController{asked: make(chan struct{})}
	n := &heldName{c: d, end: make(chan struct{}), done: make(chan struct{})}
	go n.beat(time.Hour, t.Logf, func(error) {})
	ended := make(chan struct{})
	go func() { n.close(); close(ended) }()
	within(t, d.asked)
	within(t, ended)
}
