package kvsoak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// shelf is a store in this process. Each n-th operation has an unknown outcome, and half of these happen.
type shelf struct {
	held    map[string]string
	unknown int
	calls   int
}

func (s *shelf) change(do func()) error {
	if s.calls++; s.unknown == 0 || s.calls%s.unknown != 0 {
		do()
		return nil
	}
	if s.calls%(2*s.unknown) == 0 {
		do()
	}
	return fmt.Errorf("%w: of %d", kv.ErrUnknown, s.calls)
}

func (s *shelf) Put(key, value []byte) error {
	return s.change(func() { s.held[string(key)] = string(value) })
}

func (s *shelf) Delete(key []byte) error {
	return s.change(func() { delete(s.held, string(key)) })
}

func (s *shelf) Get(key []byte) ([]byte, bool, error) {
	v, ok := s.held[string(key)]
	return []byte(v), ok, nil
}

// used is a store and a log after some operations of two clients.
func used(t *testing.T, unknown int) (*shelf, *log) {
	t.Helper()
	s, l := &shelf{held: map[string]string{}, unknown: unknown}, newLog()
	for i := range 2 {
		c := &client{id: i, store: s, log: l, rng: rand.New(rand.NewPCG(1, uint64(i)))}
		for range 100 {
			c.work()
		}
	}
	if l.acked == 0 || l.gets == 0 || (l.unknown > 0) != (unknown > 0) || len(l.own) == 0 || l.err != nil {
		t.Fatalf("%d acknowledged, %d gets, %d unknown, %d own keys, %v", l.acked, l.gets, l.unknown, len(l.own), l.err)
	}
	return s, l
}

// What a store does that keeps its promise is no violation, round after round.
func TestAStoreThatKeepsAllIsAccepted(t *testing.T) {
	for _, unknown := range []int{0, 7} {
		s, l := used(t, unknown)
		for range 3 {
			if err := settle(s, 1); err != nil {
				t.Fatal(err)
			}
			compared, ordered, err := l.compare(s)
			if err != nil || compared != len(l.own) || ordered < commonKeys {
				t.Errorf("each %dth unknown: %d of %d compared, %d in order, %v", unknown, compared, len(l.own), ordered, err)
			}
		}
	}
}

// Whatever a store loses or invents is a violation.
func TestAStoreThatLosesIsCaught(t *testing.T) {
	some := func(s *shelf, prefix string) string {
		for _, i := range rand.New(rand.NewPCG(2, 2)).Perm(ownKeys) {
			if key := fmt.Sprintf("%s%d", prefix, i); s.held[key] != "" {
				return key
			}
		}
		t.Fatalf("no %s is held", prefix)
		return ""
	}
	for name, spoil := range map[string]func(s *shelf){
		"an own key is lost":                    func(s *shelf) { delete(s.held, some(s, "own0.")) },
		"an own key has an old value":           func(s *shelf) { s.held[some(s, "own1.")] = "1.0" },
		"an own key has no value":               func(s *shelf) { s.held[some(s, "own1.")] = "" },
		"a common key is lost":                  func(s *shelf) { delete(s.held, some(s, "common")) },
		"a common key has what nobody put":      func(s *shelf) { s.held[some(s, "common")] = "invented" },
		"a common key has what was overwritten": func(s *shelf) { s.held[some(s, "common")] = "0.1" },
	} {
		s, l := used(t, 0)
		if _, _, err := l.compare(s); err != nil {
			t.Fatal(err)
		}
		spoil(s)
		var violation *ViolationError
		if _, _, err := l.compare(s); !errors.As(err, &violation) || violation.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A client may get only these errors: no node leads, or the outcome is unknown.
func TestAnErrorThatMustNotBeIsKept(t *testing.T) {
	l := newLog()
	l.fail(fmt.Errorf("%w: x", kv.ErrUnavailable))
	if l.err != nil {
		t.Error(l.err)
	}
	l.fail(kv.ErrFull)
	l.fail(kv.ErrTooLong)
	if !errors.Is(l.err, kv.ErrFull) {
		t.Error(l.err)
	}
}

// The view follows the latest term; reports of a replaced leader do not count.
func TestViewIsThatOfTheLatestTerm(t *testing.T) {
	var v view
	for _, x := range []struct {
		by, line string
		want     view
	}{
		{"cpu1", "follows", view{}},
		{"cpu1", "leads in term 2: memory m1 m2 m3", view{2, "cpu1", false, []string{"m1", "m2", "m3"}, []string{}}},
		{"cpu1", "serves in term 2: memory m1 m3; failed m2", view{2, "cpu1", true, []string{"m1", "m3"}, []string{"m2"}}},
		{"cpu2", "follows", view{2, "cpu1", true, []string{"m1", "m3"}, []string{"m2"}}},
		{"cpu2", "serves in term 3: memory m1 m2 m3", view{3, "cpu2", true, []string{"m1", "m2", "m3"}, []string{}}},
		{"cpu1", "serves in term 2: memory m1 m2", view{3, "cpu2", true, []string{"m1", "m2", "m3"}, []string{}}},
		{"cpu2", "follows", view{3, "cpu2", false, []string{"m1", "m2", "m3"}, []string{}}},
	} {
		if v.note(x.by, x.line); !reflect.DeepEqual(v, x.want) {
			t.Errorf("after %s: %s: %+v, want %+v", x.by, x.line, v, x.want)
		}
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	good := Config{Program: "p", Dir: "d", Clients: 1, Rounds: 1, Patience: time.Second, Host: func(func(string) (string, error)) (host.Host, error) { return nil, nil }}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(c *Config){
		"no program": func(c *Config) { c.Program = "" }, "no directory": func(c *Config) { c.Dir = "" }, "no host": func(c *Config) { c.Host = nil },
		"no clients": func(c *Config) { c.Clients = 0 }, "many clients": func(c *Config) { c.Clients = 17 },
		"no rounds": func(c *Config) { c.Rounds = 0 }, "no patience": func(c *Config) { c.Patience = 0 },
	} {
		c := good
		if spoil(&c); !errors.Is(c.Validate(), ErrConfig) {
			t.Errorf("%s: %v", name, c.Validate())
		}
	}
	if _, err := Run(t.Context(), Config{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if err := Store.Validate(); err != nil || Store.Blocks < commonKeys+1+16*ownKeys {
		t.Errorf("the store has %d keys: %v", Store.Blocks, err)
	}
	seen := map[string]bool{}
	for _, a := range acts {
		if a.cuts != strings.Contains(a.name, "cut off") || seen[a.name] {
			t.Errorf("%q", a.name)
		}
		seen[a.name] = true
	}
}
