package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

// holds is a peer called peer1 at addr.
func holds(m machine, addr string, wait time.Duration) (*Name, chan error, error) {
	lost := make(chan error, 1)
	n, err := Hold(m, NameConfig{Coord: m, Name: "peer1", Addr: addr, Wait: wait, Lost: func(err error) { lost <- err }})
	return n, lost, err
}

func mustHold(t *testing.T, m machine, addr string, wait time.Duration) (*Name, chan error) {
	t.Helper()
	n, lost, err := holds(m, addr, wait)
	if err != nil {
		t.Fatal(err)
	}
	foundAt(t, m, addr)
	return n, lost
}

func foundAt(t *testing.T, m machine, addr string) {
	t.Helper()
	if at, err := AddressOf(m, "peer1"); at != addr || err != nil {
		t.Errorf("it is found at %q, %v, want %s", at, err, addr)
	}
}

// Two live peers with one name are distinguished, and a restarted one is admitted.
func TestNames(t *testing.T) {
	for controller, start := range machines {
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			newMachine := start(t)
			m := newMachine("peer1")
			first, _ := mustHold(t, m, "a:1", 0)

			_, _, err := holds(m, "b:1", 0)
			if !errors.Is(err, ErrTaken) || !strings.Contains(fmt.Sprint(err), "lives at a:1, and this one is at b:1") {
				t.Fatalf("a second peer: %v", err)
			}
			foundAt(t, m, "a:1")
			first.Close()
			dying := newMachine("peer1")
			mustHold(t, dying, "b:1", 0) // the first one has closed cleanly

			// One that is killed at b:1 and restarts there, and a third one elsewhere.
			dying.die()
			dying = newMachine("peer1")
			mustHold(t, dying, "b:1", 0)
			dying.die()
			third, _ := mustHold(t, m, "c:1", time.Minute)
			third.Close()
		})
	}
}

// A peer whose session expires claims its name again, unless another machine got it:
// then it is notified. The holder of the name corrects its address.
func TestNameLost(t *testing.T) {
	for controller, start := range machines {
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			m := start(t)("peer1")
			lost := make(chan error, 1)
			first := &Name{h: m, cfg: NameConfig{Coord: m, Name: "peer1", Addr: "a:1", Lost: func(err error) { lost <- err }},
				every: time.Millisecond, mu: m.NewMutex()} // the test calls the heartbeats
			if err := first.take(first.dead); err != nil {
				t.Fatal(err)
			}
			if err := m.CloseSession(first.session); err != nil {
				t.Fatal(err)
			}
			if again, err := first.renew(); !again || err != nil {
				t.Fatalf("%v, %v", again, err)
			}
			if _, _, err := holds(m, "b:1", 0); !errors.Is(err, ErrTaken) {
				t.Errorf("it does not have its name again: %v", err)
			}
			if err := m.CloseSession(first.session); err != nil {
				t.Fatal(err)
			}
			second, _ := mustHold(t, m, "b:1", 0)
			if err := publish(m, "peer1", "a:1"); err != nil { // as the first one, stopped before it did
				t.Fatal(err)
			}
			go first.beat()
			if err := within(t, lost); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "lives at b:1, and this one is at a:1") {
				t.Error(err)
			}
			if _, err := second.renew(); err != nil {
				t.Error(err)
			}
			foundAt(t, m, "b:1")
			second.Close()
		})
	}
}

// An earlier peer that resumes does not displace a later one at the same address.
func TestNameGivesWayToLater(t *testing.T) {
	m := machineAt(t, "peer1", coordinator(t, time.Hour), t.Logf)
	first, _ := mustHold(t, m, "a:1", 0)
	second, _ := mustHold(t, m, "a:1", 0)
	if _, err := first.renew(); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	if again, err := second.renew(); again || err != nil {
		t.Error(again, err)
	}
}

// silent is a controller that carries out a Create and does not answer.
type silent struct {
	coord.Client
	times *int
}

func (c silent) Create(key string, value []byte, s coord.Session) error {
	err := c.Client.Create(key, value, s)
	if *c.times--; *c.times >= 0 {
		return coord.ErrUnavailable
	}
	return err
}

// deaf does not close sessions either.
func (c silent) CloseSession(s coord.Session) error {
	if *c.times > 0 {
		return coord.ErrUnavailable
	}
	return c.Client.CloseSession(s)
}

// A name whose answer was lost belongs to this machine.
func TestNameWithoutAnswer(t *testing.T) {
	times := 0
	m := machineAt(t, "peer1", coordinator(t, time.Hour), t.Logf)
	m.Client = silent{m.Client, &times}
	n, _ := mustHold(t, m, "a:1", 0)
	if err := m.CloseSession(n.session); err != nil {
		t.Fatal(err)
	}
	times = 2
	if _, err := n.renew(); !errors.Is(err, coord.ErrUnavailable) {
		t.Fatal(err)
	}
	times = 0
	if again, err := n.renew(); !again || err != nil {
		t.Errorf("%v, %v", again, err)
	}
}

// refuses is a controller that once does not close a session.
type refuses struct {
	coord.Client
	left *int
}

func (c refuses) CloseSession(s coord.Session) error {
	if *c.left--; *c.left >= 0 {
		return coord.ErrUnavailable
	}
	return c.Client.CloseSession(s)
}

// If the session of an earlier life cannot be closed, that is an error of Hold, not a reason to
// go on.
func TestEarlierSessionIsNotClosed(t *testing.T) {
	m := machineAt(t, "peer1", coordinator(t, time.Hour), t.Logf)
	mustHold(t, m, "a:1", 0)
	left := 1
	m.Client = refuses{m.Client, &left}
	if _, _, err := holds(m, "a:1", 0); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("Hold: %v", err)
	}
	if _, _, err := holds(m, "a:1", 0); err != nil {
		t.Errorf("the next time: %v", err)
	}
}

// paced is a host whose tasks sleep until the test lets them go on.
type paced struct {
	host.Host
	asleep chan time.Duration
	wake   chan struct{}
}

func (p paced) Sleep(d time.Duration) {
	p.asleep <- d
	<-p.wake
}

// A restarted coordinator may have shorter sessions: the name asks often enough for them.
func TestNameKeepsPaceWithANewCoordinator(t *testing.T) {
	m := machineAt(t, "peer1", coordinator(t, time.Hour), t.Logf)
	h := paced{m, make(chan time.Duration), make(chan struct{})}
	n := &Name{h: h, cfg: NameConfig{Coord: m, Name: "peer1", Addr: "a:1"}, every: NameHeartbeat, mu: m.NewMutex()}
	if err := n.take(n.dead); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { n.beat(); close(ended) }()
	if d := within(t, h.asleep); d != NameHeartbeat {
		t.Errorf("a heartbeat after %v, want %v", d, NameHeartbeat)
	}
	if err := m.CloseSession(n.session); err != nil { // the new one does not know it
		t.Fatal(err)
	}
	if _, err := m.Set(ttlKey, []byte(LeastTTL.String()), coord.AnyVersion); err != nil {
		t.Fatal(err)
	}
	h.wake <- struct{}{}
	if d := within(t, h.asleep); d != LeastTTL/4 {
		t.Errorf("a heartbeat after %v, want %v", d, LeastTTL/4)
	}
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	h.wake <- struct{}{}
	within(t, ended)
}

// A malformed entry belongs to another machine.
func TestHolders(t *testing.T) {
	x := holder{"10.0.0.1:7001", 18}
	if got := decodeHolder(x.encode()); got != x {
		t.Errorf("%v", got)
	}
	for _, text := range []string{"", "a:1", "a:1 x", "a:1 -1", "a:1 99999999999999999999", " "} {
		if got := decodeHolder([]byte(text)); got.session != coord.NoSession {
			t.Errorf("%q is %v", text, got)
		}
	}
	n := &Name{cfg: NameConfig{Addr: "a:1"}}
	if n.dead(decodeHolder([]byte("a:1"))) || !n.dead(holder{"a:1", 3}) || n.dead(holder{"b:1", 3}) {
		t.Error("who is dead")
	}
}

// deafController never answers a CloseSession.
type deafController struct {
	coord.Client
	asked chan struct{}
}

func (d deafController) CloseSession(coord.Session) error {
	close(d.asked)
	select {}
}

// A peer that terminates releases its name, and does not wait for a controller that is
// gone.
func TestNameEnds(t *testing.T) {
	d := deafController{asked: make(chan struct{})}
	h := newHost(t, oshost.Config{Name: "peer1"})
	n := &Name{h: h, cfg: NameConfig{Coord: d}, every: time.Hour, mu: h.NewMutex()}
	ended := make(chan struct{})
	go func() { n.Close(); close(ended) }()
	within(t, d.asked)
	within(t, ended)
}

func TestNoAddress(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	if _, err := AddressOf(m, "nobody"); !errors.Is(err, coord.ErrNotFound) {
		t.Error(err)
	}
	m.die()
	if _, err := AddressOf(m, "nobody"); !errors.Is(err, coord.ErrUnavailable) {
		t.Error(err)
	}
}

// sleeper adds up how long its tasks have slept.
type sleeper struct {
	host.Host
	slept *time.Duration
}

func (s sleeper) Sleep(d time.Duration) {
	*s.slept += d
	s.Host.Sleep(d)
}

// A peer that terminates waits no longer than the controller takes to answer.
func TestNameEndsAtOnce(t *testing.T) {
	m := machineAt(t, "peer1", coordinator(t, time.Hour), t.Logf)
	slept := time.Duration(0)
	n := &Name{h: sleeper{m, &slept}, cfg: NameConfig{Coord: m, Name: "peer1", Addr: "a:1"}, mu: m.NewMutex()} // without heartbeats
	if err := n.take(n.dead); err != nil {
		t.Fatal(err)
	}
	n.Close()
	if slept >= closeWait {
		t.Errorf("it has waited for %v", slept)
	}
	if err := m.CheckSession(n.session); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("the session lives: %v", err)
	}
}
