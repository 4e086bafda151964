package arcadia

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// fmem is persistent memory behind a cache: what is stored is in the cache, Flush and Fence make it persistent, and
// power loses all words in the cache but those that had been evicted.
type fmem struct {
	mu     sync.Mutex
	b, pm  []byte
	poison map[int]bool  // words
	flush  []int         // lines flushed, not fenced
	fail   func()        // called in Flush
	stored func(off int) // called after a store, when skip of them are over
	skip   int
}

func (m *fmem) Addr() uint64 { return 0 }
func (m *fmem) Len() int     { return len(m.b) }
func (m *fmem) check(off, n int) {
	if off < 0 || n < 0 || off+n > len(m.b) {
		panic(fmt.Errorf("%w: %d+%d of %d", host.ErrBounds, off, n, len(m.b)))
	}
}
func (m *fmem) Load(off int, p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(off, len(p))
	for i := off &^ 7; i < off+len(p); i += 8 {
		if m.poison[i] {
			panic(fmt.Errorf("%w at %d", host.ErrMedia, i))
		}
	}
	copy(p, m.b[off:])
}
func (m *fmem) Store(off int, p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(off, len(p))
	for i := off &^ 7; i < off+len(p); i += 8 {
		delete(m.poison, i)
	}
	copy(m.b[off:], p)
	if m.skip--; m.skip < 0 && m.stored != nil {
		m.stored(off)
	}
}
func (m *fmem) Load64(off int) uint64 {
	var b [8]byte
	m.Load(off, b[:])
	return binary.LittleEndian.Uint64(b[:])
}
func (m *fmem) Store64(off int, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	m.Store(off, b[:])
}
func (m *fmem) CompareAndSwap64(off int, old, new uint64) bool {
	if m.Load64(off) != old {
		return false
	}
	m.Store64(off, new)
	return true
}
func (m *fmem) Add64(off int, d uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(off, 8)
	if m.poison[off] {
		panic(fmt.Errorf("%w at %d", host.ErrMedia, off))
	}
	v := binary.LittleEndian.Uint64(m.b[off:]) + d
	binary.LittleEndian.PutUint64(m.b[off:], v)
	return v
}
func (m *fmem) Flush(off, n int) {
	if m.fail != nil {
		m.fail()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(off, n)
	for i := off &^ 63; i < off+n; i += 64 {
		m.flush = append(m.flush, i)
	}
}
func (m *fmem) Fence() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.flush {
		e := min(i+64, len(m.b))
		copy(m.pm[i:e], m.b[i:e])
	}
	m.flush = nil
}
func (m *fmem) Free() error { return nil }

// power: words for which keep is true have been evicted from the cache before.
func (m *fmem) power(keep func(off int) bool) {
	for i := 0; i+8 <= len(m.b); i += 8 {
		if keep != nil && keep(i) {
			copy(m.pm[i:i+8], m.b[i:i+8])
		}
	}
	copy(m.b, m.pm)
	m.flush = nil
}

// fhost is a host with such memory. Its tasks are goroutines.
type fhost struct{ m map[string]*fmem }

func newF() *fhost                     { return &fhost{map[string]*fmem{}} }
func (h *fhost) Name() string          { return "f" }
func (h *fhost) Device() verbs.Device  { return nil }
func (h *fhost) Go(_ string, f func()) { go f() }
func (h *fhost) Now() time.Duration    { return 0 }
func (h *fhost) Sleep(time.Duration)   { panic("no") }
func (h *fhost) Rand(n int) int        { return 0 }
func (h *fhost) NewMutex() host.Mutex  { return new(sync.Mutex) }
func (h *fhost) NewCond(m host.Mutex) host.Cond {
	return sync.NewCond(m)
}
func (h *fhost) Alloc(n int) (host.Region, error) {
	return &fmem{b: make([]byte, n), pm: make([]byte, n), poison: map[int]bool{}}, nil
}
func (h *fhost) OpenPMEM(name string, n int) (host.Region, error) {
	if h.m[name] == nil {
		h.m[name] = &fmem{b: make([]byte, n), pm: make([]byte, n), poison: map[int]bool{}}
	}
	return h.m[name], nil
}
func (h *fhost) Listen(string) (host.Listener, error) { panic("no") }
func (h *fhost) Call(a, b string, c []byte, d time.Duration) ([]byte, error) {
	panic("no")
}
func (h *fhost) Gather([]host.Call, time.Duration) host.Gather { panic("no") }
func (h *fhost) Logf(string, ...any)                           {}

func (h *fhost) open(t testing.TB, ring int) (*Log, *fmem) {
	t.Helper()
	l, err := Open(h, Config{Name: "log", Size: ringAt + ring})
	if err != nil {
		t.Fatal("open:", err)
	}
	return l, h.m["log"]
}

// list is what a log returns, as text.
func list(l *Log) (out []string) {
	err := l.Each(func(r *Record, d []byte) error {
		out = append(out, fmt.Sprintf("%d:%s", r.LSN(), d))
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

// put reserves, copies and completes.
func put(t testing.TB, l *Log, s string) *Record {
	t.Helper()
	r, err := l.Reserve(len(s))
	ok(t, err)
	ok(t, r.Copy(0, []byte(s)))
	ok(t, r.Complete())
	return r
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in says whether a word is of the record.
func in(r *Record) func(int) bool {
	return func(o int) bool { return o >= ringAt+r.at && o < ringAt+r.at+footprint(r.size) }
}
