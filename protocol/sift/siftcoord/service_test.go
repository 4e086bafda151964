package siftcoord

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/coordtest"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// group is a service on two CPU nodes. One of them has the store.
type group struct {
	stores map[string]Store
	nodes  map[string]*Service
}

func newGroup(t interface{ Fatal(...any) }, cfg Config) *group {
	g := &group{stores: map[string]Store{}, nodes: map[string]*Service{}}
	for _, name := range []string{"cpu1", "cpu2"} {
		s, err := newService(&stub{}, shape, cfg, func() Store { return g.stores[name] })
		if err != nil {
			t.Fatal(err)
		}
		g.nodes[name] = s
	}
	return g
}

// leads makes a node the coordinator, with a store.
func (g *group) leads(name string, s *fake) {
	clear(g.stores)
	g.stores[name] = s
}

func (g *group) client(t testing.TB, name string) (*stub, coord.Client) {
	h := &stub{name: name, nodes: g.nodes, fails: map[string]error{}}
	c, err := NewClient(h, []string{"cpu1", "cpu2"}, "coord")
	if err != nil {
		t.Fatal(err)
	}
	return h, c
}

func TestTheServiceIsACoordinationService(t *testing.T) {
	coordtest.Run(t, func() coordtest.Service {
		g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
		m.room = 4 << 10 // values of 64 KiB
		g.leads("cpu2", m.open())
		return func(host string) coord.Client {
			_, c := g.client(t, host)
			return c
		}
	})
}

// What a snapshot replaces is deleted: the store holds the head, one snapshot, and the records after it.
func TestReplacedRecordsAreDeleted(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
	g.leads("cpu1", m.open())
	_, c := g.client(t, "app")
	pieces := func(n int) int { return 1 + max(0, n+4-1)/shape.Value } // the first piece has a number of 4 bytes
	for i := range uint64(20) {
		value := bytes.Repeat([]byte{1}, int(20-i)*30) // snapshots get shorter
		err := c.Create("k", value, coord.NoSession)
		if i > 0 {
			_, err = c.Set("k", value, i)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%3 != 0 || i == 0 {
			continue
		}
		s := g.nodes["cpu1"]
		snapshot := 8 + 4 + 4 + 2 + 8 + 8 + 4 + len(value) + 30 // of the state before
		record := 1 + 4 + 1 + 2 + 8 + len(value)
		if want := 1 + pieces(snapshot) + pieces(record); len(m.pairs) != want || s.log.length() != 1 {
			t.Fatalf("after request %d there are %d pairs and %d records, want %d and 1", i, len(m.pairs), s.log.length(), want)
		}
	}
}

// A snapshot for which there is no room leaves room for records, also if it is the head that does not fit.
func TestASnapshotWithoutRoomIsGivenUp(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for room := 1; room <= 2*n+2; room++ {
			g, m := newGroup(t, Config{Ticks: 2, Every: 1}), newMemory()
			g.leads("cpu1", m.open())
			_, c := g.client(t, "app")
			if err := c.Create("big", make([]byte, n*shape.Value), coord.NoSession); err != nil {
				t.Fatal(err)
			}
			used := len(m.pairs)
			m.room = used + room
			if _, err := c.NewSession(); err != nil {
				t.Errorf("%d pieces and room for %d pairs: %v", n, room, err)
			}
		}
	}
}

// Whether an unknown record is there is looked up before anything else is answered, also if the store goes on.
func TestAnUnknownRecordIsLookedUp(t *testing.T) {
	for _, lasts := range []bool{false, true} {
		g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
		f := m.open()
		f.left, f.lasts, f.survives = 0, lasts, true
		g.leads("cpu1", f)
		_, c := g.client(t, "app")
		if err := c.Create("k", nil, coord.NoSession); !errors.Is(err, ErrUnknown) || !errors.Is(err, coord.ErrUnavailable) {
			t.Fatalf("got %v, want ErrUnknown", err)
		}
		keys, err := c.List("")
		if err != nil || (len(keys) == 1) != lasts {
			t.Errorf("it lasts: %v, and the keys are %q, %v", lasts, keys, err)
		}
	}
}

// A node that leads again has another store, and does not look into that of its last term.
func TestANewTermHasANewStore(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
	first := m.open()
	g.leads("cpu1", first)
	_, c := g.client(t, "app")
	if err := c.Create("k", nil, coord.NoSession); err != nil {
		t.Fatal(err)
	}
	first.dead = true
	g.leads("cpu1", m.open())
	if _, _, err := c.Get("k"); err != nil {
		t.Error(err)
	}
}

// A store without room refuses a request, and nothing of it happens; there is room again when others have been replaced.
func TestAFullStoreLosesNothing(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 2}), newMemory()
	m.room = 16
	g.leads("cpu1", m.open())
	_, c := g.client(t, "app")
	if err := c.Create("small", []byte("1"), coord.NoSession); err != nil {
		t.Fatal(err)
	}
	before := g.nodes["cpu1"].keeper.Hash()
	err := c.Create("large", make([]byte, shape.Value*m.room), coord.NoSession)
	if !errors.Is(err, coord.ErrUnavailable) || !errors.Is(err, kv.ErrFull) {
		t.Fatalf("got %v, want ErrUnavailable and ErrFull", err)
	}
	for i := range uint64(20) { // more than there is room for
		if _, err := c.Set("small", []byte("2"), 1+i); err != nil {
			t.Fatalf("set %d after a refusal: %v", i, err)
		}
	}
	g.leads("cpu2", m.open())
	if _, _, err := c.Get("large"); !errors.Is(err, coord.ErrNotFound) {
		t.Errorf("what was refused: %v", err)
	}
	if before == g.nodes["cpu2"].keeper.Hash() {
		t.Error("the sets changed nothing")
	}
}

// A session that nobody checks expires with its keys, also after the coordinator was replaced; one that is checked does not.
func TestSilentSessionsExpire(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 100}), newMemory()
	g.leads("cpu1", m.open())
	_, c := g.client(t, "app")
	silent, err := c.NewSession()
	alive, err2 := c.NewSession()
	if err := errors.Join(err, err2, c.Create("silent", nil, silent), c.Create("alive", nil, alive)); err != nil {
		t.Fatal(err)
	}
	g.nodes["cpu2"].Tick() // not the coordinator
	for tick := range 6 {
		if tick == 2 {
			g.leads("cpu2", m.open())
		}
		g.nodes["cpu1"].Tick()
		g.nodes["cpu2"].Tick()
		if err := c.CheckSession(alive); err != nil {
			t.Fatalf("tick %d: %v", tick, err)
		}
		keys, err := c.List("")
		if want := []string{"alive", "silent"}; tick < 5 && !slices.Equal(keys, want) || tick == 5 && !slices.Equal(keys, want[:1]) || err != nil {
			t.Fatalf("tick %d: %v, %v", tick, keys, err)
		}
	}
}

// A client asks the node that answered last; it goes on to the next one if that is certain to change nothing.
func TestAClientFindsTheCoordinator(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
	h, c := g.client(t, "app")
	if err := c.Create("a", nil, coord.NoSession); !errors.Is(err, coord.ErrUnavailable) || !errors.Is(err, ErrNoCoordinator) {
		t.Fatalf("without a coordinator: %v", err)
	}
	g.leads("cpu2", m.open())
	asked := func(what string, err, want error, nodes ...string) {
		t.Helper()
		if !errors.Is(err, want) || !slices.Equal(h.calls, nodes) {
			t.Errorf("%s: %v, and %v were asked; want %v, and %v", what, err, h.calls, want, nodes)
		}
		h.calls = nil
	}
	h.calls = nil
	asked("create", c.Create("a", nil, coord.NoSession), nil, "cpu1", "cpu2")
	_, err := c.Set("a", nil, 1)
	asked("set", err, nil, "cpu2")

	h.fails["cpu2"] = host.ErrUnreachable
	_, _, err = c.Get("a")
	asked("a get is repeated elsewhere", err, host.ErrUnreachable, "cpu2", "cpu1")
	_, err = c.Set("a", nil, 2)
	asked("a set is not", err, host.ErrUnreachable, "cpu2")
	h.fails["cpu2"] = nil
	h.fails["cpu1"] = host.ErrNoService
	_, err = c.Set("a", nil, 2)
	asked("a node without the service did nothing", err, nil, "cpu1", "cpu2")
	h.fails["cpu2"], h.fails["cpu1"] = host.ErrNotSent, nil
	_, err = c.Set("a", nil, 3)
	asked("a request that was not sent goes to the next node", err, host.ErrNotSent, "cpu2", "cpu1")
	h.fails["cpu2"] = nil

	h.lost = true
	_, err = c.Set("a", nil, 3)
	asked("a lost answer", err, coord.ErrUnavailable, "cpu2")
	_, version, err := c.Get("a")
	if asked("get", err, nil, "cpu1", "cpu2"); version != 4 {
		t.Errorf("version %d: the set was not carried out once", version)
	}
}

// A store that holds something else is not taken for a journal.
func TestAForeignStoreIsRefused(t *testing.T) {
	for name, pairs := range map[string]map[string]string{
		"head":     {"h": "x"},
		"snapshot": {"h": string((&head{half: 1, first: 2}).encode())},
		"record":   {string(key(recordKey, 0, 0)): "\x00\x00\x00\x01\x07\x00"},
		"short":    {string(key(recordKey, 0, 0)): "\x01"},
		"piece":    {string(key(recordKey, 0, 0)): "\x00\x00\x00\x02abc"},
	} {
		m := newMemory()
		m.pairs = pairs
		g := newGroup(t, Config{Ticks: 1, Every: 1})
		g.leads("cpu1", m.open())
		_, c := g.client(t, "app")
		for range 2 { // the first refusal does not make it the state of the service
			if _, err := c.List(""); !errors.Is(err, ErrNoCoordinator) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	good, small := shape, shape
	small.Value = MinValue - 1
	for _, x := range []struct {
		shape kv.Config
		cfg   Config
	}{{good, Config{}}, {good, Config{Ticks: 1}}, {good, Config{Every: 1}}, {small, Config{Ticks: 1, Every: 1}}} {
		if _, err := newService(&stub{}, x.shape, x.cfg, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	if _, err := newService(&stub{}, kv.Config{}, Config{Ticks: 1, Every: 1}, nil); !errors.Is(err, kv.ErrConfig) {
		t.Error(err)
	}
	if _, err := NewClient(&stub{}, nil, "coord"); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
