package coord_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/coord"
)

// model is the service, written without regard to speed.
type model struct {
	keys     map[string]modelKey
	sessions map[coord.Session]string
	last     coord.Session
}

type modelKey struct {
	value   string
	version uint64
	session coord.Session
}

func newModel() *model {
	return &model{keys: map[string]modelKey{}, sessions: map[coord.Session]string{}}
}

func (m *model) create(from, key, value string, s coord.Session) error {
	if s != coord.NoSession && m.sessions[s] != from {
		return coord.ErrSessionExpired
	}
	if _, ok := m.keys[key]; ok {
		return coord.ErrExists
	}
	m.keys[key] = modelKey{value, 1, s}
	return nil
}

func (m *model) check(key string, version uint64) error {
	k, ok := m.keys[key]
	if !ok {
		return coord.ErrNotFound
	}
	if version != coord.AnyVersion && version != k.version {
		return coord.ErrVersion
	}
	return nil
}

func (m *model) expire(s coord.Session) {
	delete(m.sessions, s)
	maps.DeleteFunc(m.keys, func(_ string, k modelKey) bool { return k.session == s })
}

func (m *model) list(prefix string) []string {
	var keys []string
	for k := range m.keys {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// pair runs store and model side by side.
type pair struct {
	store   coord.Store
	clients map[string]coord.Client
	model   *model
}

func (p *pair) expect(t *rapid.T, err, want error) {
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

var (
	genHost    = rapid.SampledFrom([]string{"a", "b"})
	genKey     = rapid.SampledFrom([]string{"k", "k/1", "k/2", "l", "m\x00", "m"})
	genValue   = rapid.SampledFrom([]string{"1", "2", "3", "33", "", "a longer value"})
	genVersion = rapid.SampledFrom([]uint64{0, 1, 1, 1, 2, 2, 3, coord.AnyVersion})
	genSession = rapid.SampledFrom([]coord.Session{0, 0, 1, 1, 2, 2, 3, 4, 5})
)

func (p *pair) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"create": func(t *rapid.T) {
			from, key, value := genHost.Draw(t, "from"), genKey.Draw(t, "key"), genValue.Draw(t, "value")
			s := genSession.Draw(t, "session")
			p.expect(t, p.clients[from].Create(key, []byte(value), s), p.model.create(from, key, value, s))
		},
		"set": func(t *rapid.T) {
			key, value, version := genKey.Draw(t, "key"), genValue.Draw(t, "value"), genVersion.Draw(t, "version")
			got, err := p.clients["a"].Set(key, []byte(value), version)
			want := p.model.check(key, version)
			if p.expect(t, err, want); want == nil {
				k := p.model.keys[key]
				p.model.keys[key] = modelKey{value, k.version + 1, k.session}
				if got != k.version+1 {
					t.Fatalf("got version %d, want %d", got, k.version+1)
				}
			}
		},
		"delete": func(t *rapid.T) {
			key, version := genKey.Draw(t, "key"), genVersion.Draw(t, "version")
			want := p.model.check(key, version)
			if p.expect(t, p.clients["b"].Delete(key, version), want); want == nil {
				delete(p.model.keys, key)
			}
		},
		"new session": func(t *rapid.T) {
			from := genHost.Draw(t, "from")
			got, err := p.clients[from].NewSession()
			p.model.last++
			p.model.sessions[p.model.last] = from
			if p.expect(t, err, nil); got != p.model.last {
				t.Fatalf("got session %d, want %d", got, p.model.last)
			}
		},
		"close session": func(t *rapid.T) {
			from, s := genHost.Draw(t, "from"), genSession.Draw(t, "session")
			var want error = coord.ErrSessionExpired
			if p.model.sessions[s] == from {
				want = nil
			}
			if p.expect(t, p.clients[from].CloseSession(s), want); want == nil {
				p.model.expire(s)
			}
		},
		"expire host": func(t *rapid.T) {
			name, want := genHost.Draw(t, "name"), false
			for s, from := range maps.Clone(p.model.sessions) {
				if from == name {
					p.model.expire(s)
					want = true
				}
			}
			if got := p.store.ExpireHost(name); got != want {
				t.Fatalf("got %v, want %v", got, want)
			}
		},
		"reset": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
				p.store.Reset()
				p.model = newModel()
			}
		},
		"": p.same,
	}
}

// same compares the whole observable state after each action.
func (p *pair) same(t *rapid.T) {
	before := p.store.Hash()
	if before != p.store.SlowHash() {
		t.Fatal("the hash is out of date")
	}
	a := p.clients["a"]
	for _, prefix := range []string{"", "k", "k/", "m\x00", "z"} {
		got, err := a.List(prefix)
		if p.expect(t, err, nil); !slices.Equal(got, p.model.list(prefix)) {
			t.Fatalf("list %q: got %q, want %q", prefix, got, p.model.list(prefix))
		}
	}
	for key, want := range p.model.keys {
		value, version, err := a.Get(key)
		if err != nil || string(value) != want.value || version != want.version {
			t.Fatalf("get %q: got %q, %d, %v, want %v", key, value, version, err, want)
		}
	}
	for s := range p.model.last + 1 {
		alive := p.model.sessions[s] == "a"
		if err := a.CheckSession(s); (err == nil) != alive {
			t.Fatalf("session %d: got %v, alive is %v", s, err, alive)
		}
	}
	if p.store.Hash() != before {
		t.Fatal("reading changed the state")
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pair{clients: map[string]coord.Client{}, model: newModel()}
		for _, name := range []string{"a", "b"} {
			_, p.clients[name] = newClient(&p.store, name)
		}
		t.Repeat(p.actions())
	})
}

// Any difference between two stores that received the same requests is a bug.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one, two coord.Store
		two.Apply("x", requests[7].req) // a used store, reset
		two.Apply("x", requests[1].req)
		two.Reset()
		for i, n := range rapid.SliceOf(rapid.IntRange(0, len(requests)-1)).Draw(t, "requests") {
			r1, r2 := one.Apply("a", requests[n].req), two.Apply("a", requests[n].req)
			if string(r1) != string(r2) || one.Hash() != two.Hash() {
				t.Fatalf("step %d, %s: %q and %q", i, requests[n].says, r1, r2)
			}
		}
	})
}
