package kv

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// op is a put or a delete, as the oracle sees it.
type op struct {
	kind       kind
	key, value string
}

func (o op) on(m map[string]string) map[string]string {
	m = maps.Clone(m)
	if delete(m, o.key); o.kind == put {
		m[o.key] = o.value
	}
	return m
}

// world is what the store may hold. The unknown operations are those that a recovery may still carry
// out: one of them, since all have one index, and none any more when another operation has been
// acknowledged.
type world struct {
	content map[string]string
	unknown []op
}

// oracle is all that the store may hold.
type oracle []world

// keep keeps the worlds that explain what was observed, and reports whether there is one.
func (o *oracle) keep(explains func(m map[string]string) bool) bool {
	*o = slices.DeleteFunc(*o, func(w world) bool { return !explains(w.content) })
	return len(*o) > 0
}

func (o oracle) acknowledged(x op) {
	for i, w := range o {
		o[i] = world{content: x.on(w.content)}
	}
}

func (o oracle) unknown(x op) {
	for i, w := range o {
		o[i].unknown = append(slices.Clip(w.unknown), x)
	}
}

// recovered adds what a recovery may have carried out.
func (o *oracle) recovered() {
	for _, w := range *o {
		for _, x := range w.unknown {
			*o = append(*o, world{content: x.on(w.content)})
		}
	}
	// fmt sorts the keys of maps
	slices.SortFunc(*o, func(a, b world) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	*o = slices.CompactFunc(*o, func(a, b world) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
}

// machine is a cluster, whose coordinators die at any point, beside an oracle.
type machine struct {
	cfg    Config
	c      *cluster
	l      *leader
	s      *Store
	oracle oracle
}

// open makes coordinators until one of them has recovered.
func (m *machine) open(t *rapid.T) {
	for {
		live := rapid.SampledFrom([][]int{{0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}).Draw(t, "live")
		m.l = m.c.lead(t, live, rapid.IntRange(0, 40).Draw(t, "calls"))
		s, err := Open(alone{}, m.l, m.cfg)
		if err == nil {
			m.s = s
			m.oracle.recovered()
			return
		}
		if !m.l.dead {
			t.Fatalf("open: %v", err)
		}
		m.oracle.recovered() // it may have carried one out, and the next one none
	}
}

// alive opens the store again if the coordinator has died.
func (m *machine) alive(t *rapid.T) {
	if m.l.dead {
		m.open(t)
	}
}

func (m *machine) change(t *rapid.T, x op) {
	m.alive(t)
	var err error
	if x.kind == put {
		err = m.s.Put([]byte(x.key), []byte(x.value))
	} else {
		err = m.s.Delete([]byte(x.key))
	}
	fits := func(w map[string]string) bool {
		_, has := w[x.key]
		return x.kind == remove || has || len(w) < m.cfg.Blocks
	}
	ok := true
	switch {
	case err == nil:
		ok = m.oracle.keep(fits)
		m.oracle.acknowledged(x)
	case errors.Is(err, ErrFull):
		ok = m.oracle.keep(func(w map[string]string) bool { return !fits(w) })
	case !m.l.dead:
		t.Fatalf("%+v: %v", x, err)
	case errors.Is(err, ErrUnknown):
		m.oracle.unknown(x)
	}
	if !ok {
		t.Fatalf("%+v: %v, which no possible content explains", x, err)
	}
}

func (m *machine) get(t *rapid.T, key string) {
	m.alive(t)
	before := fmt.Sprint(m.oracle)
	got, found, err := m.s.Get([]byte(key), nil)
	switch {
	case err != nil && !m.l.dead:
		t.Fatalf("get %s: %v", key, err)
	case err == nil && !m.oracle.keep(func(w map[string]string) bool {
		want, has := w[key]
		return has == found && want == string(got)
	}):
		t.Fatalf("get %s: %q, %v; possible contents were %s", key, got, found, before)
	}
}

// check looks for what no operation shows: blocks that are lost or in two chains, and a cache that
// has grown.
func (m *machine) check(t *rapid.T) {
	if m.l.dead {
		return
	}
	if n := m.s.Stats().Cached; n > m.cfg.Cache {
		t.Fatalf("%d keys in a cache of %d", n, m.cfg.Cache)
	}
	m.l.t = nil // the check itself does not kill
	defer func() { m.l.t = t }()
	fromMemory, err := load(&m.cfg, m.l)
	if err != nil {
		t.Fatal(err)
	}
	used := make([]uint64, len(fromMemory.used))
	keys := 0
	for slot, ptr := range fromMemory.index {
		for ; ptr != 0; keys++ {
			b := int(ptr - 1)
			x, err := m.cfg.decodeBlock(m.c.memory[m.cfg.blockAt(b):m.cfg.blockAt(b+1)])
			if err != nil || fromMemory.slot(x.key) != slot || used[b/64]>>(b%64)&1 == 1 {
				t.Fatalf("block %d: %v, %+v in slot %d, used %b", b, err, x, slot, used)
			}
			used[b/64] |= 1 << (b % 64)
			ptr = x.next
		}
	}
	if s := m.s.table; !slices.Equal(used, fromMemory.used) || !slices.Equal(used, s.used) || fromMemory.free != m.cfg.Blocks-keys || s.free != fromMemory.free ||
		!slices.Equal(s.index, fromMemory.index) || s.applied != fromMemory.applied {
		t.Fatalf("chains have %b, the memory %+v, and the coordinator %+v", used, fromMemory, s)
	}
}

// Whatever coordinators die, wherever, a store is a map: see oracle.
func TestAStoreIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		m := &machine{cfg: Config{Key: 2, Value: 8, Index: n("index", 1, 3), Blocks: n("blocks", 1, 4), Log: n("log", 1, 5), Cache: n("cache", 1, 3)}}
		m.c = newCluster(m.cfg)
		m.oracle = oracle{{content: map[string]string{}}}
		m.open(t)
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "ee"})
		count := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				count++
				m.change(t, op{put, key.Draw(t, "key"), fmt.Sprint(count)})
			},
			"delete": func(t *rapid.T) { m.change(t, op{kind: remove, key: key.Draw(t, "key")}) },
			"get":    func(t *rapid.T) { m.get(t, key.Draw(t, "key")) },
			"apply": func(t *rapid.T) {
				m.alive(t)
				if _, err := m.s.ApplyOne(); err != nil && !m.l.dead {
					t.Fatal(err)
				}
			},
			"die": func(t *rapid.T) { m.l.dead = true },
			"":    m.check,
		})
		for _, k := range []string{"a", "b", "c", "d", "ee"} {
			m.get(t, k)
		}
	})
}
