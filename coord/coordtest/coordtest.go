// Package coordtest tests implementations of [coord.Client].
package coordtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Service returns the client of a host. Called with two names, it returns clients of
// one service on different hosts.
type Service func(host string) coord.Client

// Run tests an implementation. Each subtest calls newService once, and must get a
// service (or a name space of one) without keys.
func Run(t *testing.T, newService func() Service) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			service := newService()
			c.run(&suite{T: t, Client: service("a"), service: service})
		})
	}
}

var cases = []struct {
	name string
	run  func(*suite)
}{
	{"missing key", missingKey},
	{"create existing", createExisting},
	{"compare and set", compareAndSet},
	{"unconditional", unconditional},
	{"version zero", versionZero},
	{"delete", deleteKey},
	{"values are copies", valuesAreCopies},
	{"binary and empty", binaryAndEmpty},
	{"limits", limits},
	{"list", list},
	{"sessions", sessions},
	{"ephemeral keys", ephemeralKeys},
	{"ephemeral set and delete", ephemeralSetAndDelete},
	{"create looks at the session first", sessionFirst},
	{"errors name the key", errorsNameTheKey},
	{"hosts see each other's keys", sharedKeys},
	{"sessions of another host", othersSession},
}

// suite is the client of a host whose calls are checked at once.
type suite struct {
	*testing.T
	coord.Client
	service Service
}

// on returns the suite at another host.
func (s *suite) on(host string) *suite {
	return &suite{T: s.T, Client: s.service(host), service: s.service}
}

func (s *suite) want(what string, err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

func (s *suite) create(key, value string, session coord.Session) {
	s.Helper()
	s.want("create "+key, s.Create(key, []byte(value), session), nil)
}

func (s *suite) set(key, value string, ifVersion, want uint64) {
	s.Helper()
	got, err := s.Set(key, []byte(value), ifVersion)
	s.want("set "+key, err, nil)
	if got != want {
		s.Fatalf("set %s: got version %d, want %d", key, got, want)
	}
}

func (s *suite) setFails(key string, ifVersion uint64, want error) {
	s.Helper()
	_, err := s.Set(key, []byte("refused"), ifVersion)
	s.want("set "+key, err, want)
}

func (s *suite) has(key, value string, version uint64) {
	s.Helper()
	got, gotVersion, err := s.Get(key)
	s.want("get "+key, err, nil)
	if string(got) != value || gotVersion != version {
		s.Fatalf("get %s: got %q at version %d, want %q at %d", key, got, gotVersion, value, version)
	}
}

func (s *suite) hasNot(key string) {
	s.Helper()
	_, _, err := s.Get(key)
	s.want("get "+key, err, coord.ErrNotFound)
}

func (s *suite) lists(prefix string, want ...string) {
	s.Helper()
	got, err := s.List(prefix)
	s.want("list "+prefix, err, nil)
	if !slices.Equal(got, want) {
		s.Fatalf("list %q: got %q, want %q", prefix, got, want)
	}
}

func (s *suite) session() coord.Session {
	s.Helper()
	session, err := s.NewSession()
	s.want("new session", err, nil)
	if session == coord.NoSession {
		s.Fatal("a new session is NoSession")
	}
	return session
}

func missingKey(s *suite) {
	s.hasNot("a")
	s.setFails("a", coord.FirstVersion, coord.ErrNotFound)
	s.setFails("a", coord.AnyVersion, coord.ErrNotFound)
	s.want("delete", s.Delete("a", coord.AnyVersion), coord.ErrNotFound)
	s.lists("")
}

func createExisting(s *suite) {
	s.create("a", "1", coord.NoSession)
	s.want("second create", s.Create("a", []byte("2"), coord.NoSession), coord.ErrExists)
	s.has("a", "1", coord.FirstVersion)
	s.hasNot("aa")
}

func compareAndSet(s *suite) {
	s.create("a", "1", coord.NoSession)
	s.set("a", "2", 1, 2)
	s.setFails("a", 1, coord.ErrVersion) // too old
	s.setFails("a", 3, coord.ErrVersion) // not yet there
	s.has("a", "2", 2)
	s.set("a", "2", 2, 3) // the same value is a change too
	s.create("b", "x", coord.NoSession)
	s.has("b", "x", 1) // versions are each key's own
}

func unconditional(s *suite) {
	s.create("a", "1", coord.NoSession)
	s.set("a", "2", coord.AnyVersion, 2)
	s.has("a", "2", 2)
	s.want("delete", s.Delete("a", coord.AnyVersion), nil)
	s.hasNot("a")
}

// A version that was never read must not count as "any".
func versionZero(s *suite) {
	s.create("a", "1", coord.NoSession)
	s.setFails("a", 0, coord.ErrVersion)
	s.want("delete", s.Delete("a", 0), coord.ErrVersion)
	s.has("a", "1", 1)
}

func deleteKey(s *suite) {
	s.create("a", "1", coord.NoSession)
	s.set("a", "2", 1, 2)
	s.want("delete of an old version", s.Delete("a", 1), coord.ErrVersion)
	s.want("delete", s.Delete("a", 2), nil)
	s.hasNot("a")
	s.want("second delete", s.Delete("a", 2), coord.ErrNotFound)
	s.create("a", "3", coord.NoSession)
	s.has("a", "3", coord.FirstVersion)
}

func valuesAreCopies(s *suite) {
	in := []byte("value")
	s.want("create", s.Create("a", in, coord.NoSession), nil)
	in[0] = 'X'
	out, _, err := s.Get("a")
	s.want("get", err, nil)
	s.has("a", "value", 1)
	out[0] = 'Y'
	s.has("a", "value", 1)
}

func binaryAndEmpty(s *suite) {
	for _, v := range []string{"", "\x00", "\x00\xff\x80"} {
		key := "k" + v + "/\xfe"
		s.create(key, v, coord.NoSession)
		s.has(key, v, 1)
	}
	s.set("k/\xfe", "full", 1, 2)
	s.set("k/\xfe", "", 2, 3)
	s.has("k/\xfe", "", 3)
	s.lists("k\x00", "k\x00/\xfe", "k\x00\xff\x80/\xfe")
}

func limits(s *suite) {
	key, value := strings.Repeat("k", coord.MaxKey), strings.Repeat("v", coord.MaxValue)
	s.create(key, value, coord.NoSession)
	s.has(key, value, 1)
	s.set(key, value, 1, 2)
	s.lists(key, key)
	s.lists("", key)

	long := []byte(value + "v")
	s.want("create a long key", s.Create(key+"k", nil, coord.NoSession), coord.ErrInvalid)
	s.want("create an empty key", s.Create("", nil, coord.NoSession), coord.ErrInvalid)
	s.want("create a long value", s.Create("a", long, coord.NoSession), coord.ErrInvalid)
	_, err := s.Set(key, long, 2)
	s.want("set a long value", err, coord.ErrInvalid)
	_, _, err = s.Get("")
	s.want("get an empty key", err, coord.ErrInvalid)
	s.want("delete an empty key", s.Delete("", coord.AnyVersion), coord.ErrInvalid)
	_, err = s.List(key + "k")
	s.want("list a long prefix", err, coord.ErrInvalid)
	s.has(key, value, 2)
	s.lists("", key)
}

func list(s *suite) {
	for _, key := range []string{"b/2", "a", "b/10", "c", "b", "b0", "\xff", "b/"} {
		s.create(key, "", coord.NoSession)
	}
	s.lists("", "a", "b", "b/", "b/10", "b/2", "b0", "c", "\xff")
	s.lists("b/", "b/", "b/10", "b/2")
	s.lists("b/10", "b/10")
	s.lists("b/10x")
	s.lists("\xff", "\xff")
	s.lists("d")
}

func sharedKeys(s *suite) {
	b := s.on("b")
	s.create("k", "1", coord.NoSession)
	b.want("create", b.Create("k", nil, coord.NoSession), coord.ErrExists)
	b.set("k", "2", 1, 2)
	s.setFails("k", 1, coord.ErrVersion)
	s.has("k", "2", 2)
	b.lists("", "k")
	b.want("delete", b.Delete("k", 2), nil)
	s.hasNot("k")
}
