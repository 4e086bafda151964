package siftcoord

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// The change of Begin is made once and before any request is answered, at whichever put the first coordinator dies.
func TestBeginComesFirstAndOnce(t *testing.T) {
	for left := range 4 { // puts until the first coordinator dies
		for _, lasts := range []bool{false, true} {
			begun := 0
			cfg := Config{Ticks: 2, Every: 3, Begin: func(c coord.Client) error {
				begun++
				return c.Create("length", []byte("10s"), coord.NoSession)
			}}
			g, m := newGroup(t, cfg), newMemory()
			f := m.open()
			f.left, f.lasts = left, lasts
			g.leads("cpu1", f)
			_, c := g.client(t, "app")
			if err := c.Create("a", nil, coord.NoSession); err == nil {
				if _, _, err := c.Get("length"); err != nil && !errors.Is(err, coord.ErrUnavailable) {
					t.Errorf("%d, %v: a request is answered, and then %v", left, lasts, err)
				}
			}
			g.leads("cpu2", m.open())
			if value, version, err := c.Get("length"); err != nil || string(value) != "10s" || version != 1 {
				t.Errorf("%d, %v: %q, %d, %v", left, lasts, value, version, err)
			}
			if before := begun; c.Create("b", nil, coord.NoSession) != nil || begun != before || begun > 2 {
				t.Errorf("%d, %v: begun %d times", left, lasts, begun)
			}
		}
	}
}

// Begin is for the empty state alone: a coordinator that dies after the first snapshot, before any record follows it, leaves
// a state that is not empty.
func TestBeginIsNotForASnapshot(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 1, Begin: begins}), newMemory()
	first := m.open()
	g.leads("cpu1", first)
	_, c := g.client(t, "app")
	if _, err := c.List(""); err != nil {
		t.Fatal(err)
	}
	s := g.nodes["cpu1"]
	if err := s.log.compact(s.keeper.AppendSnapshot(nil)); err != nil {
		t.Fatal(err)
	}
	g.leads("cpu2", m.open())
	if names, err := c.List(""); err != nil || len(names) != 1 {
		t.Errorf("after a snapshot without records: %q, %v", names, err)
	}
}

// A node whose store has no room for what Begin changes answers nobody, until there is room. What Begin does after a
// failure fails, and says why.
func TestANodeThatCannotBeginAnswersNobody(t *testing.T) {
	var errs []error
	cfg := Config{Ticks: 2, Every: 3, Begin: func(c coord.Client) error {
		errs = append(errs, begins(c), c.Create("more", nil, coord.NoSession))
		return errs[0]
	}}
	g, m := newGroup(t, cfg), newMemory()
	m.room = 0
	g.leads("cpu1", m.open())
	_, c := g.client(t, "app")
	for range 2 {
		if names, err := c.List(""); !errors.Is(err, ErrNoCoordinator) {
			t.Errorf("without room: %q, %v", names, err)
		}
	}
	if len(errs) != 4 || !errors.Is(errs[0], kv.ErrFull) {
		t.Errorf("Begin got %v", errs)
	}
	m.room, errs = 256, nil
	if names, err := c.List(""); err != nil || len(names) != 2 || len(errs) != 2 {
		t.Errorf("with room: %q, %v; Begin got %v", names, err, errs)
	}

	g, m, errs = newGroup(t, cfg), newMemory(), nil
	f := m.open()
	f.left = 0
	g.leads("cpu1", f)
	_, c = g.client(t, "app")
	if names, err := c.List(""); !errors.Is(err, ErrNoCoordinator) {
		t.Errorf("the node is replaced: %q, %v", names, err)
	}
	if len(errs) != 2 || !errors.Is(errs[0], ErrUnknown) || !errors.Is(errs[1], ErrNoCoordinator) {
		t.Errorf("Begin got %v", errs)
	}
}

func begins(c coord.Client) error { return c.Create("length", []byte("10s"), coord.NoSession) }

// A client repeats a read-only request although a node is unreachable, because executing it twice does no harm.
func TestDialAsksAgainPastADeadNode(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
	h := &sleeper{stub: stub{name: "app", nodes: g.nodes, fails: map[string]error{"cpu1": host.ErrUnreachable}}}
	h.wakes = func(int) { g.leads("cpu2", m.open()) }
	c, err := Dial(h, ClientConfig{Nodes: []string{"cpu1", "cpu2"}, Service: "coord", Rounds: 4, Pause: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.List(""); err != nil || h.slept != 1 {
		t.Errorf("%v after %d pauses", err, h.slept)
	}
	clear(g.stores)
	h.wakes, h.slept, h.slow = func(int) {}, 0, 5*time.Second
	if _, err := c.List(""); !errors.Is(err, host.ErrUnreachable) || h.slept != 0 {
		t.Errorf("two rounds of silent nodes take longer than the pauses of all rounds: %v after %d pauses", err, h.slept)
	}
}

// While no node leads, a client repeats a request Rounds times. It never repeats a change that a node may have executed.
func TestDialAsksAgain(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
	h := &sleeper{stub: stub{name: "app", nodes: g.nodes, fails: map[string]error{}}}
	h.wakes = func(n int) {
		if n == 2 {
			g.leads("cpu2", m.open())
		}
	}
	c, err := Dial(h, ClientConfig{Nodes: []string{"cpu1", "cpu2"}, Service: "coord", Rounds: 4, Pause: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create("a", nil, coord.NoSession); err != nil || h.slept != 2 {
		t.Errorf("%v after %d pauses", err, h.slept)
	}
	h.lost = true
	if _, err := c.Set("a", nil, 1); !errors.Is(err, coord.ErrUnavailable) || h.slept != 2 {
		t.Errorf("an answer is lost: %v after %d pauses", err, h.slept)
	}
	clear(g.stores)
	if _, err := c.List(""); !errors.Is(err, ErrNoCoordinator) || h.slept != 5 {
		t.Errorf("nobody leads: %v after %d pauses", err, h.slept)
	}
	for _, bad := range []ClientConfig{{Nodes: []string{"a"}}, {Nodes: []string{"a"}, Rounds: 1, Pause: -1}, {Rounds: 1}} {
		if _, err := Dial(h, bad); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// sleeper counts the pauses of a client.
type sleeper struct {
	stub
	slept int
	wakes func(n int)
	now   time.Duration
	slow  time.Duration // how long a call takes
}

func (s *sleeper) Now() time.Duration { return s.now }

func (s *sleeper) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	s.now += s.slow
	return s.stub.Call(to, service, req, timeout)
}

func (s *sleeper) Sleep(d time.Duration) {
	s.slept, s.now = s.slept+1, s.now+d
	s.wakes(s.slept)
}
