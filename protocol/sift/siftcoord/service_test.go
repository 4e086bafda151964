package siftcoord

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/coordtest"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// group is a service on two CPU nodes, of which one has the store.
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

// anyRequest is a request at random, as a client encodes it.
func anyRequest(t *rapid.T) []byte {
	var req []byte
	c := coord.NewClient(recorder{req: &req}, "", "")
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	value := []byte(strings.Repeat(key, rapid.IntRange(0, 200).Draw(t, "length")))
	session := coord.Session(rapid.Uint64Range(0, 3).Draw(t, "session"))
	switch rapid.IntRange(0, 7).Draw(t, "op") {
	case 0:
		_ = c.Create(key, value, session)
	case 1:
		_, _ = c.Set(key, value, coord.AnyVersion)
	case 2:
		_ = c.Delete(key, coord.AnyVersion)
	case 3:
		_, _ = c.NewSession()
	case 4:
		_ = c.CloseSession(session)
	case 5:
		_ = c.CheckSession(session)
	case 6:
		_, _, _ = c.Get(key)
	case 7:
		_, _ = c.List("")
	}
	return req
}

// recorder is a host that only remembers what it is asked to send.
type recorder struct {
	host.Host
	req *[]byte
}

func (r recorder) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	*r.req = slices.Clone(req)
	return nil, host.ErrUnreachable
}

// oracle is the service in the memory of one process that never dies.
type oracle struct {
	coord.Keeper
	tb *rapid.T
}

// became makes the oracle what the service has become: as it was, or as it is after one of the changes.
func (o *oracle) became(hash fingerprint.Print, changes ...func()) {
	for i := 0; o.Hash() != hash; i++ {
		if i == len(changes) {
			o.tb.Fatalf("a new coordinator has a state that the requests do not lead to")
		}
		changes[i]()
	}
	b := o.AppendSnapshot(nil)
	o.Keeper = coord.Keeper{Ticks: o.Ticks} // sessions have their full time again
	if err := o.Restore(b); err != nil {
		o.tb.Fatal(err)
	}
}

// Coordinators die anywhere: in a record, in a snapshot, while they clean up. What was acknowledged lasts, what was refused
// never happens, and what is unknown happened or did not, as a whole.
func TestCoordinatorsMayDieAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"cpu1", "cpu2"}
		g, m := newGroup(t, Config{Ticks: 2, Every: 3}), newMemory()
		o := &oracle{Keeper: coord.Keeper{Ticks: 2}, tb: t}
		at := 0
		elect := func() *Service {
			if old, ok := g.stores[names[at]].(*fake); ok {
				old.dead = true
			}
			at = rapid.IntRange(0, 1).Draw(t, "next")
			f := m.open()
			f.left = rapid.IntRange(-1, 25).Draw(t, "lives")
			f.lasts = rapid.Bool().Draw(t, "lasts")
			g.stores[names[at]] = f
			return g.nodes[names[at]]
		}
		// recovered elects until a coordinator has the state.
		recovered := func(changes ...func()) {
			for {
				if s := elect(); s.answer("x", listAll)[0] != notLeading {
					o.became(s.keeper.Hash(), changes...)
					return
				}
			}
		}
		recovered()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := g.nodes[names[at]]
			if old, ok := g.stores[names[1-at]].(*fake); ok && old.dead {
				if resp := g.nodes[names[1-at]].answer("app", listAll); resp[0] != notLeading {
					t.Fatalf("a replaced coordinator answered %v", resp)
				}
			}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				s.Tick()
				var changes []func()
				for _, x := range o.Due() {
					changes = append(changes, func() { o.ExpireSession(x.ID) })
				}
				if g.stores[names[at]].(*fake).dead {
					recovered(changes...)
					continue
				}
				for _, expire := range changes {
					expire()
				}
				if s.keeper.Hash() != o.Hash() {
					t.Fatal("a tick expires other sessions")
				}
			case 1:
				recovered()
			default:
				req, from := anyRequest(t), rapid.SampledFrom([]string{"app", "tool"}).Draw(t, "from")
				resp := s.answer(from, req)
				switch resp[0] {
				case notLeading:
					recovered()
				case unknown:
					recovered(func() { o.Apply(from, req) })
				default:
					if want := o.Apply(from, req); !bytes.Equal(resp, want) {
						t.Fatalf("%s, not %s", coord.Describe(req, resp), coord.Describe(req, want))
					}
				}
			}
		}
	})
}

// listAll changes nothing.
var listAll = func() (req []byte) {
	_, _ = coord.NewClient(recorder{req: &req}, "", "").List("")
	return req
}()

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

// A snapshot for which there is no room leaves room for records.
func TestASnapshotWithoutRoomIsGivenUp(t *testing.T) {
	g, m := newGroup(t, Config{Ticks: 2, Every: 1}), newMemory()
	g.leads("cpu1", m.open())
	_, c := g.client(t, "app")
	if err := c.Create("big", make([]byte, 5*shape.Value), coord.NoSession); err != nil {
		t.Fatal(err)
	}
	m.room = len(m.pairs) + 4
	for range 3 {
		if _, err := c.NewSession(); err != nil {
			t.Fatal(err)
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
		if _, err := c.List(""); !errors.Is(err, ErrNoCoordinator) {
			t.Errorf("%s: got %v", name, err)
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
