package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// open opens a store of one coordinator that does not die.
func open(t testing.TB, cfg Config) (*Store, *cluster) {
	t.Helper()
	c := newCluster(cfg)
	s, err := Open(alone{}, c.lead(nil, []int{0, 1, 2}, 0), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestConfigurationsOutsideTheLimitsAreErrors(t *testing.T) {
	tests := map[string]func(c *Config){
		"no key":          func(c *Config) { c.Key = 0 },
		"long keys":       func(c *Config) { c.Key = MaxKey + 1 },
		"long values":     func(c *Config) { c.Value = MaxValue + 1 },
		"negative values": func(c *Config) { c.Value = -1 },
		"no slots":        func(c *Config) { c.Index = 0 },
		"no blocks":       func(c *Config) { c.Blocks = 0 },
		"no log":          func(c *Config) { c.Log = 0 },
		"no cache":        func(c *Config) { c.Cache = 0 },
		"many slots":      func(c *Config) { c.Index = sift.MaxSize + 1 },
		"many blocks":     func(c *Config) { c.Blocks = sift.MaxSize / 16 },
		"a long log":      func(c *Config) { c.Log = sift.MaxSize / 16 },
		"a large cache":   func(c *Config) { c.Cache = math.MaxInt32 + 1 },

		// The sizes of these are negative: their products overflow.
		"an index that overflows": func(c *Config) { c.Index = 1 << 60 },
		"blocks that overflow":    func(c *Config) { c.Blocks = 1 << 58 },
		"a log that overflows":    func(c *Config) { c.Log = 1 << 60 },
	}
	good, least, most := small(), Config{Key: 1, Index: 1, Blocks: 1, Log: 1, Cache: 1}, small()
	most.Key, most.Value, most.Cache = MaxKey, MaxValue, math.MaxInt32
	if err := errors.Join(good.Validate(), least.Validate(), most.Validate()); err != nil {
		t.Fatal(err)
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			c := small()
			change(&c)
			_, err := Open(alone{}, nil, c)
			if !errors.Is(c.Validate(), ErrConfig) || !errors.Is(err, ErrConfig) {
				t.Errorf("got %v, and Open %v", c.Validate(), err)
			}
			_, err = NewServer(alone{}, c)
			_, err2 := NewClient(alone{}, ClientConfig{Store: c, Nodes: []string{"cpu1"}, Rounds: 1, Timeout: 1})
			if !errors.Is(err, ErrConfig) || !errors.Is(err2, ErrConfig) {
				t.Errorf("a server: %v, a client: %v", err, err2)
			}
		})
	}
	for _, c := range []ClientConfig{{Rounds: 1, Timeout: 1}, {Nodes: []string{"a"}, Timeout: 1}, {Nodes: []string{"a"}, Rounds: 1}, {Nodes: []string{"a"}, Rounds: 1, Timeout: 1, Pause: -1}} {
		c.Store = small()
		if err := c.Validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The paper's store (6.2) has one that sift takes.
func TestThePapersSizesFitIntoTheMemory(t *testing.T) {
	c := Config{Key: 32, Value: 968, Index: 8_000_000, Blocks: 900_000, Log: 1 << 16, Cache: 500_000}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	l := c.Layout(1 << 15)
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.blockSize() != 1016 {
		t.Errorf("a block has %d bytes", c.blockSize())
	}
}

// A list of updates is never longer than the log of the memory allows, and all addresses are inside.
func TestUpdatesFitIntoTheLayout(t *testing.T) {
	cfg := Config{Key: 3, Value: 11, Index: 1, Blocks: 70, Log: 3, Cache: 2}
	l := cfg.Layout(4)
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, cfg)
	m := &measured{Memory: s.mem}
	s.mem, s.table.mem = m, m
	for i := range 70 {
		if err := s.Put(fmt.Appendf(nil, "%d", i), bytes.Repeat([]byte("x"), 11)); err != nil {
			t.Fatal(err)
		}
	}
	for more := true; more; {
		var err error
		if more, err = s.ApplyOne(); err != nil {
			t.Fatal(err)
		}
	}
	if m.largest != l.Entry {
		t.Errorf("the longest list takes %d bytes, and the layout allows %d", m.largest, l.Entry)
	}
	if m.end != l.Size || m.directEnd > l.Direct {
		t.Errorf("updates end at %d of %d, and the log at %d of %d", m.end, l.Size, m.directEnd, l.Direct)
	}
}

// measured measures what is written to a memory.
type measured struct {
	Memory
	largest, end, directEnd int
}

func (m *measured) WriteAll(list []sift.Update) error {
	n := 0
	for _, u := range list {
		n += u.Size()
		m.end = max(m.end, u.Addr+len(u.Data))
	}
	m.largest = max(m.largest, n)
	return m.Memory.WriteAll(list)
}

func (m *measured) WriteDirect(addr int, data []byte) error {
	m.directEnd = max(m.directEnd, addr+len(data))
	return m.Memory.WriteDirect(addr, data)
}

func TestKeysAndValuesOutsideTheLimitsAreErrors(t *testing.T) {
	s, _ := open(t, small())
	_, _, long := s.Get([]byte("aaa"), nil)
	_, _, empty := s.Get(nil, nil)
	for i, err := range []error{long, empty, s.Put([]byte("aaa"), nil), s.Put(nil, nil), s.Put([]byte("a"), make([]byte, 9)), s.Delete([]byte("aaa")), s.Delete(nil)} {
		if !errors.Is(err, ErrTooLong) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := s.Put([]byte("aa"), make([]byte, 8)); err != nil {
		t.Error(err)
	}
}

// A full store takes new values of its keys, also of those that the cache does not have, and has room
// again when a key is deleted.
func TestAFullStoreRefusesNewKeysOnly(t *testing.T) {
	s, _ := open(t, small())
	for _, k := range []string{"a", "b", "c"} {
		if err := s.Put([]byte(k), []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put([]byte("d"), nil); !errors.Is(err, ErrFull) {
		t.Errorf("a fourth key of three: %v", err)
	}
	for _, k := range []string{"a", "b", "c"} {
		if err := s.Put([]byte(k), []byte("2")); err != nil {
			t.Error(k, err)
		}
	}
	if err := errors.Join(s.Delete([]byte("b")), s.Put([]byte("d"), []byte("3"))); err != nil {
		t.Error(err)
	}
	for k, want := range map[string]string{"a": "2", "b": "", "c": "2", "d": "3"} {
		if got, found, err := s.Get([]byte(k), nil); err != nil || string(got) != want || found != (want != "") {
			t.Errorf("%s: %q, %v, %v", k, got, found, err)
		}
	}
}

// A get that finds its key in the cache, and a put of such a key, take no memory.
func TestTheHitPathAllocatesNothing(t *testing.T) {
	s, _ := open(t, Config{Key: 32, Value: 100, Index: 8, Blocks: 8, Log: 1, Cache: 4})
	key, value, buf := []byte("a key"), bytes.Repeat([]byte("v"), 100), make([]byte, 0, 100)
	if err := s.Put(key, value); err != nil {
		t.Fatal(err)
	}
	got := func() {
		if v, found, err := s.Get(key, buf[:0]); err != nil || !found || len(v) != 100 {
			t.Fatal(found, err)
		}
	}
	if n := testing.AllocsPerRun(100, got); n != 0 {
		t.Errorf("a get of a pending key allocates %v times", n)
	}
	if _, err := s.ApplyOne(); err != nil || s.Stats().Pending != 0 {
		t.Fatal(err, s.Stats())
	}
	if n := testing.AllocsPerRun(100, got); n != 0 {
		t.Errorf("a get allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := s.Put(key, value); err != nil {
			t.Fatal(err)
		}
		s.cache.applied(key) // as applying does, so that its slot of the queue is used again
		s.queue.drop()
	}); n != 0 {
		t.Errorf("a put allocates %v times", n)
	}
}

// After an error of the memory the store says so to everybody, and what was not logged is not
// unknown.
func TestAStoppedStoreRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(small())
		l := c.lead(t, []int{0, 1, 2}, 1000)
		s, err := Open(alone{}, l, small())
		if err != nil {
			t.Fatal(err)
		}
		l.left = 0
		if err := s.Put([]byte("a"), nil); !errors.Is(err, ErrUnknown) {
			t.Fatalf("the put that met the failure: %v", err)
		}
		_, _, got := s.Get([]byte("a"), nil)
		_, applied := s.ApplyOne()
		for i, err := range []error{s.Put([]byte("b"), nil), s.Delete([]byte("b")), got, applied, s.Apply()} {
			if !errors.Is(err, ErrNotLeading) || errors.Is(err, ErrUnknown) {
				t.Fatalf("%d: %v", i, err)
			}
		}
	})
}

// A memory of nonsense is an error, never a panic or a loop without an end.
func TestNonsenseInTheMemoryIsAnError(t *testing.T) {
	cfg := small()
	tests := map[string]func(c *cluster){
		"an index that points outside": func(c *cluster) { c.memory[cfg.slotAt(0)] = byte(cfg.Blocks + 1) },
		"a bitmap with more blocks":    func(c *cluster) { c.memory[bitmapAt+1] = 1 },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(cfg)
			damage(c)
			if _, err := Open(alone{}, c.lead(nil, []int{0, 1, 2}, 0), cfg); !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
		})
	}
	later := map[string]func(c *cluster, b []byte){
		"a chain that does not end":   func(_ *cluster, b []byte) { b[nextAt] = 1 },
		"a pointer outside":           func(_ *cluster, b []byte) { b[nextAt] = 9 },
		"a key of no bytes":           func(_ *cluster, b []byte) { b[lengthsAt] = 0 },
		"a value that is too long":    func(_ *cluster, b []byte) { b[lengthsAt+4] = 9 },
		"no block left for its entry": func(c *cluster, b []byte) { b[keyAt] = 'x'; c.memory[bitmapAt] = 7 },
	}
	for name, damage := range later {
		t.Run(name, func(t *testing.T) {
			cfg := cfg
			cfg.Index = 1
			s, c := open(t, cfg)
			if err := s.Put([]byte("a"), nil); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ApplyOne(); err != nil {
				t.Fatal(err)
			}
			damage(c, c.memory[cfg.blockAt(0):])
			s, err := Open(alone{}, c.lead(nil, []int{0, 1, 2}, 0), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if name == "no block left for its entry" {
				s.table.free = 1 // so that the put is logged
				if err := s.Put([]byte("b"), nil); err != nil {
					t.Fatal(err)
				}
				_, err = s.ApplyOne()
			} else {
				_, _, err = s.Get([]byte("b"), nil)
			}
			if !errors.Is(err, ErrNotLeading) || !strings.Contains(err.Error(), ErrCorrupt.Error()) {
				t.Error(err)
			}
		})
	}
}

// The cache is compared with a list of keys in the order of their last use.
func TestTheCacheIsAListInTheOrderOfUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 4).Draw(t, "size")
		c := newCache(size)
		var order []string // not pending, the latest use first
		pending, value := map[string]int{}, map[string]string{}
		use := func(k string) {
			order = slices.Insert(slices.DeleteFunc(order, func(o string) bool { return o == k }), 0, k)
		}
		room := func(k string) {
			if _, ok := value[k]; !ok && len(value) == size {
				last := order[len(order)-1]
				order = order[:len(order)-1]
				delete(value, last)
			}
		}
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				x := c.get([]byte(k))
				want, ok := value[k]
				if (x != nil) != ok || ok && (x.found != (want != "") || string(x.value) != want) {
					t.Fatalf("%s: %+v, want %q, %v", k, x, want, ok)
				}
				if ok && pending[k] == 0 {
					use(k)
				}
			},
			"record": func(t *rapid.T) {
				k := key.Draw(t, "key")
				_, has := value[k]
				want := has || len(pending) < size
				if c.room([]byte(k)) != want {
					t.Fatalf("room for %s: %v", k, !want)
				}
				if !want {
					return
				}
				n++
				v := ""
				e := entry{kind: remove, key: []byte(k)}
				if rapid.Bool().Draw(t, "put") {
					v = fmt.Sprint(n)
					e = entry{kind: put, key: []byte(k), value: []byte(v)}
				}
				room(k)
				c.record(&e)
				value[k] = v
				pending[k]++
				order = slices.DeleteFunc(order, func(o string) bool { return o == k })
			},
			"applied": func(t *rapid.T) {
				k := key.Draw(t, "key")
				if pending[k] == 0 {
					return
				}
				c.applied([]byte(k))
				if pending[k]--; pending[k] > 0 {
					return
				}
				delete(pending, k)
				if value[k] == "" {
					delete(value, k)
				} else {
					use(k)
				}
			},
			"fill": func(t *rapid.T) {
				k := key.Draw(t, "key")
				if _, has := value[k]; has || len(pending) == size {
					return // a get fills what the cache does not have
				}
				n++
				room(k)
				c.fill([]byte(k), fmt.Append(nil, n))
				value[k] = fmt.Sprint(n)
				use(k)
			},
			"": func(t *rapid.T) {
				if len(c.by) != len(value) || c.pinned != len(pending) {
					t.Fatalf("%d keys, %d pinned; want %v, %v", len(c.by), c.pinned, value, pending)
				}
			},
		})
	})
}
