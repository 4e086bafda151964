package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

// right is a key in a session, like that of ncl.Start.
type right struct {
	c coord.Client
	s coord.Session
}

func (r right) Check() error { return r.c.CheckSession(r.s) }
func (r right) Close() error { return r.c.CloseSession(r.s) }

func claim(c coord.Client) func() (Right, error) {
	return func() (Right, error) {
		s, err := c.NewSession()
		if err != nil {
			return nil, err
		}
		if err := c.Create("servers/app", nil, s); err != nil {
			return nil, errors.Join(err, c.CloseSession(s))
		}
		return right{c, s}, nil
	}
}

func instance(m machine, wait time.Duration) (*Instance, error) {
	return Start(m, InstanceConfig{Coord: m, Claim: claim(m), Wait: wait})
}

// An instance asks often enough for the sessions of its coordinator, however short they
// are.
func TestPeriod(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{400 * time.Millisecond: 100 * time.Millisecond, 2 * time.Second: DefaultHeartbeat,
		10 * time.Second: DefaultHeartbeat} {
		m := machineAt(t, "app", coordinator(t, ttl), t.Logf)
		i, err := instance(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		if i.every != want {
			t.Errorf("sessions of %v: a heartbeat every %v, want %v", ttl, i.every, want)
		}
		i.Close()
	}
	if got := period(0, time.Second); got != time.Second {
		t.Errorf("without heartbeats of ours: %v", got)
	}
}

// The second instance is refused while the first lives, and waits until it has died.
func TestOneInstance(t *testing.T) {
	addr := coordinator(t, LeastTTL)
	first := machineAt(t, "app", addr, t.Logf)
	i, err := instance(first, 0)
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan string, 1)
	m := machineAt(t, "app", addr, func(format string, args ...any) { waits <- fmt.Sprintf(format, args...) })
	if _, err := instance(m, 0); !errors.Is(err, coord.ErrExists) {
		t.Errorf("a second instance: %v", err)
	}
	first.die()
	second, err := instance(m, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if line := within(t, waits); !strings.Contains(line, "waiting up to 1m0s") {
		t.Error(line)
	}
	second.Close()
	if err := i.Check(); err != nil {
		t.Errorf("it cannot know, and says: %v", err)
	}
}

// An idle instance reports that its session has expired, and accepts no records.
func TestIdleInstanceLearns(t *testing.T) {
	said := make(chan string, 1)
	m := machineAt(t, "app", coordinator(t, LeastTTL), func(format string, args ...any) { said <- fmt.Sprintf(format, args...) })
	i, err := instance(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	f := &file{}
	own := i.Own(f)
	if err := own.Record(0, nil); err != nil || f.records != 1 {
		t.Errorf("%v, %d records", err, f.records)
	}
	if err := i.Ask(); err != nil {
		t.Error(err)
	}
	if err := i.right.Close(); err != nil { // as an operator who closes it
		t.Fatal(err)
	}
	if line := within(t, said); !strings.Contains(line, "the session of this instance is over") {
		t.Error(line)
	}
	for what, err := range map[string]error{"check": i.Check(), "ask": i.Ask(), "record": own.Record(0, nil)} {
		if !errors.Is(err, ErrOver) || !errors.Is(err, coord.ErrSessionExpired) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if f.records != 1 {
		t.Error("a record after the session")
	}
}

type file struct {
	records int
	err     error
}

func (f *file) Size() int                           { return 0 }
func (f *file) ReadAt(p []byte, _ int) (int, error) { return len(p), nil }
func (f *file) Record(int, []byte) error            { f.records++; return f.err }

// A record that fails because the session has expired reports that, before any
// heartbeat.
func TestFailureIsExplained(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	i, err := Start(m, InstanceConfig{Coord: m, Claim: claim(m), Heartbeat: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	fenced := errors.New("fenced")
	own := i.Own(&file{err: fenced})
	if err := own.Record(0, nil); !errors.Is(err, fenced) || errors.Is(err, ErrOver) {
		t.Error(err)
	}
	if err := i.right.Close(); err != nil {
		t.Fatal(err)
	}
	if err := own.Record(0, nil); !errors.Is(err, fenced) || !errors.Is(err, ErrOver) {
		t.Error(err)
	}
}

// slow is a controller that answers a question about a session when the test permits.
type slow struct {
	coord.Client
	asked, answer chan struct{}
}

func (c slow) CheckSession(s coord.Session) error {
	close(c.asked)
	<-c.answer
	return c.Client.CheckSession(s)
}

// A closed instance reports nothing about its session, even if a question is in flight.
func TestNoFalseAlarm(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Errorf)
	c := slow{m, make(chan struct{}), make(chan struct{})}
	got, err := claim(c)()
	if err != nil {
		t.Fatal(err)
	}
	i := &Instance{h: m, right: got, every: time.Millisecond, mu: m.NewMutex()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.beat()
	}()
	within(t, c.asked)
	i.Close()
	close(c.answer)
	within(t, done)
}

func TestBadConfigs(t *testing.T) {
	h := newHost(t, oshost.Config{Name: "app"})
	c := coord.NewClient(h, controller, controller)
	lost := func(error) {}
	for what, cfg := range map[string]interface{ Validate() error }{
		"no controller":      &InstanceConfig{Claim: claim(c)},
		"no right":           &InstanceConfig{Coord: c},
		"a negative wait":    &InstanceConfig{Coord: c, Claim: claim(c), Wait: -1},
		"no address":         &NameConfig{Coord: c, Name: "a", Lost: lost},
		"no name":            &NameConfig{Coord: c, Addr: "a:1", Lost: lost},
		"an address of two":  &NameConfig{Coord: c, Name: "a", Addr: "a:1 b:1", Lost: lost},
		"nobody to lose":     &NameConfig{Coord: c, Name: "a", Addr: "a:1"},
		"a name's wait":      &NameConfig{Coord: c, Name: "a", Addr: "a:1", Lost: lost, Wait: -1},
		"sessions too short": &ServeConfig{TTL: LeastTTL - 1},
	} {
		if err := cfg.Validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Start(h, InstanceConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if _, err := Hold(h, NameConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if err := Serve(h, nil, ServeConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

// A malformed announcement of the controller is an error, not an endless heartbeat.
func TestBadTTL(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	for _, text := range []string{"", "soon", "1ms", "-1s"} {
		if _, err := m.Set(ttlKey, []byte(text), coord.AnyVersion); err != nil {
			t.Fatal(err)
		}
		if _, err := instance(m, 0); !errors.Is(err, ErrTTL) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A change of an instance at the controller asks first; a read does not. Without an
// answer it proceeds, since the controller reports by itself that it is gone.
func TestGuard(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	i, err := Start(m, InstanceConfig{Coord: m, Claim: claim(m), Heartbeat: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	c := i.Guard(m)
	if err := c.Create("k", []byte("v"), coord.NoSession); err != nil {
		t.Fatal(err)
	}
	if version, err := c.Set("k", []byte("w"), coord.FirstVersion); version != 2 || err != nil {
		t.Errorf("version %d, %v", version, err)
	}
	if err := i.right.Close(); err != nil {
		t.Fatal(err)
	}
	_, set := c.Set("k", []byte("x"), coord.AnyVersion)
	for what, err := range map[string]error{"set": set, "create": c.Create("l", nil, coord.NoSession), "delete": c.Delete("k", coord.AnyVersion)} {
		if !errors.Is(err, ErrOver) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if v, version, err := c.Get("k"); string(v) != "w" || version != 2 || err != nil {
		t.Errorf("%q, %d, %v", v, version, err)
	}
	if keys, err := c.List(""); err != nil || len(keys) != 2 { // and the session length
		t.Errorf("%q, %v", keys, err)
	}
}

// A controller that does not answer is no reason to stop.
func TestAskWithoutAnswer(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	i, err := instance(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.die()
	if err := i.Ask(); err != nil {
		t.Error(err)
	}
}

// An error that already reports the expiry is not explained again.
func TestExplainsOnce(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	i, err := Start(m, InstanceConfig{Coord: m, Claim: claim(m), Heartbeat: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := i.right.Close(); err != nil {
		t.Fatal(err)
	}
	err = i.Explain(fmt.Errorf("repair: %w", i.Guard(m).Delete("k", 1)))
	if n := strings.Count(fmt.Sprint(err), "the session of this instance is over"); n != 1 {
		t.Errorf("said %d times: %v", n, err)
	}
}

// Nothing starts without a controller.
func TestNoController(t *testing.T) {
	m := machineAt(t, "app", coordinator(t, time.Hour), t.Logf)
	n, _ := mustHold(t, m, "a:1", 0)
	m.die()
	if _, err := instance(m, time.Hour); !errors.Is(err, coord.ErrUnavailable) {
		t.Error(err)
	}
	if _, _, err := holds(m, "a:1", time.Hour); !errors.Is(err, coord.ErrUnavailable) {
		t.Error(err)
	}
	if again, err := n.renew(); again || !errors.Is(err, coord.ErrUnavailable) {
		t.Error(again, err)
	}
}
