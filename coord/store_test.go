package coord_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/fingerprint"
)

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExpire(t *testing.T) {
	var store coord.Store
	_, a := newClient(&store, "a")
	_, b := newClient(&store, "b")
	a1, err := a.NewSession()
	must(t, a1, err)
	b1, err := b.NewSession()
	must(t, b1, err)
	a2, err := a.NewSession()
	must(t, a2, err)
	for key, s := range map[string]coord.Session{"1": a1, "2": b1, "3": a2} {
		c := a
		if s == b1 {
			c = b
		}
		must(t, 0, c.Create(key, nil, s))
	}
	want := []coord.SessionInfo{{ID: a1, Host: "a"}, {ID: b1, Host: "b"}, {ID: a2, Host: "a"}}
	if got := store.Sessions(nil); !slices.Equal(got, want) {
		t.Errorf("the sessions are %v, want %v", got, want)
	}
	if !store.ExpireSession(a1) || store.ExpireSession(a1) || store.ExpireSession(99) {
		t.Error("ExpireSession does not report what it did")
	}
	if got, err := b.List(""); err != nil || !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("after a session expired there are %q, %v", got, err)
	}
	if !store.ExpireHost("a") || store.ExpireHost("a") || store.ExpireHost("nobody") {
		t.Error("ExpireHost does not report what it did")
	}
	if got, err := b.List(""); err != nil || !slices.Equal(got, []string{"2"}) {
		t.Errorf("after a host expired there are %q, %v", got, err)
	}
	if err := a.CheckSession(a2); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("the expired client is told %v", err)
	}
	must(t, 0, b.CheckSession(b1))
}

// A service that has lost its data has no key and no session, and does not reuse
// session numbers.
func TestForget(t *testing.T) {
	var store, fresh coord.Store
	_, a := newClient(&store, "a")
	before, err := a.NewSession()
	must(t, 0, errors.Join(err, a.Create("key", []byte("value"), before), a.Create("other", nil, coord.NoSession)))
	store.Forget()
	if got, err := a.List(""); err != nil || len(got) > 0 {
		t.Errorf("there are %q, %v", got, err)
	}
	if err := a.CheckSession(before); !errors.Is(err, coord.ErrSessionExpired) || len(store.Sessions(nil)) > 0 {
		t.Errorf("the session is there: %v", err)
	}
	if store.Hash() == fresh.Hash() {
		t.Error("that a session was given out makes no difference to the Hash")
	}
	if again, err := a.NewSession(); err != nil || again <= before {
		t.Errorf("session %d after %d: %v", again, before, err)
	}
}

func TestSessionOfAnotherHost(t *testing.T) {
	var store coord.Store
	_, a := newClient(&store, "a")
	_, b := newClient(&store, "b")
	s, err := a.NewSession()
	must(t, s, err)
	for what, err := range map[string]error{
		"create": b.Create("k", nil, s), "check": b.CheckSession(s), "close": b.CloseSession(s),
	} {
		if !errors.Is(err, coord.ErrSessionExpired) {
			t.Errorf("%s in another host's session: %v", what, err)
		}
	}
	must(t, 0, a.CheckSession(s))
}

// The hash depends on the state, not on the path to it.
func TestHashIsOfTheState(t *testing.T) {
	build := func(steps ...func(coord.Client)) fingerprint.Print {
		var store coord.Store
		_, c := newClient(&store, "a")
		for _, step := range steps {
			step(c)
		}
		return store.Hash()
	}
	create := func(key, value string) func(coord.Client) {
		return func(c coord.Client) { c.Create(key, []byte(value), 0) }
	}
	remove := func(c coord.Client) { c.Delete("x", coord.AnyVersion) }
	ab := build(create("a", "1"), create("b", "2"))
	for name, same := range map[string]fingerprint.Print{
		"other order":        build(create("b", "2"), create("a", "1")),
		"created, deleted":   build(create("x", "9"), create("b", "2"), remove, create("a", "1")),
		"refused operations": build(create("a", "1"), remove, create("a", "7"), create("b", "2")),
	} {
		if same != ab {
			t.Errorf("%s: the same state has another hash", name)
		}
	}
	setA := func(c coord.Client) { c.Set("a", []byte("1"), 1) }
	session := func(c coord.Client) { c.NewSession() }
	closed := func(c coord.Client) { s, _ := c.NewSession(); c.CloseSession(s) }
	inSession := func(c coord.Client) { s, _ := c.NewSession(); c.Create("b", []byte("2"), s) }
	seen := map[fingerprint.Print]string{ab: "ab"}
	for name, other := range map[string]fingerprint.Print{
		"empty":         build(),
		"swapped":       build(create("a", "2"), create("b", "1")),
		"shifted bytes": build(create("a1", ""), create("b", "2")),
		"version":       build(create("a", "1"), create("b", "2"), setA),
		"session":       build(create("a", "1"), create("b", "2"), session),
		"old session":   build(create("a", "1"), create("b", "2"), closed),
		"in session":    build(create("a", "1"), inSession),
	} {
		if twin, ok := seen[other]; ok {
			t.Errorf("%s and %s have the same hash", name, twin)
		}
		seen[other] = name
	}
}

// A counterexample file carries hashes from machine to machine.
func TestHashIsStable(t *testing.T) {
	var store coord.Store
	_, c := newClient(&store, "a")
	s, err := c.NewSession()
	must(t, s, err)
	must(t, 0, c.Create("key", []byte("a value of some length"), s))
	if got, want := store.Hash(), (fingerprint.Print{A: 0xc6541cc0bf40cd3e, B: 0xfd5cb3ec6ea78ab0}); got != want {
		t.Errorf("the hash is %#x, want %#x", got, want)
	}
	store.Reset()
	if got, want := store.Hash(), new(coord.Store).Hash(); got != want {
		t.Errorf("after Reset the hash is %#x, that of a new store %#x", got, want)
	}
}

// New keys reuse the buffers of removed ones, and only of those.
func TestBuffersAreNotShared(t *testing.T) {
	for name, remove := range map[string]func(*coord.Store, coord.Client){
		"delete":  func(_ *coord.Store, c coord.Client) { c.Delete("a", 1) },
		"session": func(s *coord.Store, _ coord.Client) { s.ExpireSession(1) },
	} {
		var store coord.Store
		_, c := newClient(&store, "h")
		s, err := c.NewSession()
		must(t, s, err)
		must(t, 0, c.Create("a", []byte("value a"), s))
		for _, key := range []string{"b", "c"} {
			must(t, 0, c.Create(key, []byte("value "+key), 0))
		}
		remove(&store, c)
		must(t, 0, c.Create("d", []byte("value d"), 0))
		must(t, 0, c.Create("e", []byte("value e"), 0))
		for _, key := range []string{"b", "c", "d", "e"} {
			if got, _, err := c.Get(key); err != nil || string(got) != "value "+key {
				t.Errorf("%s: key %s has value %q, %v", name, key, got, err)
			}
		}
	}
}

// Repeating a run allocates memory for the answers only.
func TestResetKeepsMemory(t *testing.T) {
	var store coord.Store
	create := captured(func(c coord.Client) { c.Create("a key", []byte("a value"), 0) })
	session := captured(func(c coord.Client) { c.NewSession() })
	run := func() {
		store.Reset()
		store.Apply("a", create)
		store.Apply("a", session)
		sink += store.Hash().A
	}
	run()
	if n := testing.AllocsPerRun(100, run); n > 2 {
		t.Errorf("a run with two answers makes %v allocations", n)
	}
}

// workload is a typical run under the checker.
func workload(c coord.Client) {
	s, _ := c.NewSession()
	c.Create("leader", []byte("a"), s)
	c.Create("epoch", []byte("00000001"), coord.NoSession)
	for range 4 {
		v, version, _ := c.Get("epoch")
		c.Set("epoch", v, version)
	}
	c.List("")
	c.CloseSession(s)
}

func BenchmarkRun(b *testing.B) {
	var store coord.Store
	_, c := newClient(&store, "a")
	b.ReportAllocs()
	for b.Loop() {
		store.Reset()
		workload(c)
	}
}

// captured returns the request that op sends.
func captured(op func(coord.Client)) []byte {
	h := &recorder{}
	op(coord.NewClient(h, "zk", "coord"))
	return h.req
}

func BenchmarkApply(b *testing.B) {
	value := make([]byte, 64)
	for name, op := range map[string]func(coord.Client){
		"get":    func(c coord.Client) { c.Get("epoch") },
		"set":    func(c coord.Client) { c.Set("epoch", value, coord.AnyVersion) },
		"list":   func(c coord.Client) { c.List("") },
		"refuse": func(c coord.Client) { c.Create("epoch", nil, 0) },
	} {
		b.Run(name, func(b *testing.B) {
			var store coord.Store
			_, c := newClient(&store, "a")
			for _, key := range []string{"epoch", "leader", "members/1", "members/2", "members/3"} {
				c.Create(key, value, 0)
			}
			req := captured(op)
			b.ReportAllocs()
			for b.Loop() {
				store.Apply("a", req)
				sink += store.Hash().A
			}
		})
	}
}

var sink uint64
