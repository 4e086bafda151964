package pmemhost

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

const (
	word = 8
	line = 64
)

// memory implements host.Region.
type memory struct {
	h *Host
	// b is the content that CPUs see, persistent the content of the memory itself. h.mu guards both.
	b, persistent []byte
	flushed       []flushed // the lines flushed since the last fence
	dram          bool
}

// flushed is the content of a line when it was flushed. The fence need not persist later stores to the line.
type flushed struct {
	at   int
	line []byte
}

func (m *memory) crash(next *Host, evicted func(off int) bool) *memory {
	x := &memory{h: next, b: append([]byte(nil), m.b...), persistent: append([]byte(nil), m.persistent...)}
	for off := 0; off < len(x.b) && evicted != nil; off += word {
		to := min(off+word, len(x.b))
		if now := x.b[off:to]; string(now) != string(x.persistent[off:to]) && evicted(off) {
			copy(x.persistent[off:to], now)
		}
	}
	if evicted != nil {
		copy(x.b, x.persistent)
	}
	return x
}

// step begins a step, and returns the function that ends it.
func (m *memory) step(off, n int) (end func()) {
	if m.dram {
		m.h.mu.Lock()
	} else {
		m.h.step()
	}
	if off < 0 || n < 0 || off > len(m.b)-n {
		m.h.mu.Unlock()
		panic(fmt.Errorf("%w: %d bytes at %d of %d", host.ErrBounds, n, off, len(m.b)))
	}
	return m.h.mu.Unlock
}

// look is step for accesses that change nothing.
func (m *memory) look(off, n int) (end func()) {
	m.h.mu.Lock()
	if off < 0 || n < 0 || off > len(m.b)-n {
		m.h.mu.Unlock()
		panic(fmt.Errorf("%w: %d bytes at %d of %d", host.ErrBounds, n, off, len(m.b)))
	}
	return m.h.mu.Unlock
}

func (m *memory) Addr() uint64 { return 0 }
func (m *memory) Len() int     { return len(m.b) }
func (m *memory) Free() error  { return nil }

func (m *memory) Load(off int, p []byte) {
	defer m.look(off, len(p))()
	copy(p, m.b[off:])
}

// Store writes word by word: other accesses, and a crash, can come in between.
func (m *memory) Store(off int, p []byte) {
	m.look(off, len(p))()
	for len(p) > 0 {
		n := min(word-off%word, len(p))
		end := m.step(off, n)
		copy(m.b[off:], p[:n])
		end()
		off, p = off+n, p[n:]
	}
}

func (m *memory) Load64(off int) uint64 {
	defer m.look(off, word)()
	return binary.LittleEndian.Uint64(m.b[off:])
}

func (m *memory) Store64(off int, v uint64) {
	defer m.step(off, word)()
	binary.LittleEndian.PutUint64(m.b[off:], v)
}

func (m *memory) CompareAndSwap64(off int, old, v uint64) bool {
	defer m.step(off, word)()
	if binary.LittleEndian.Uint64(m.b[off:]) != old {
		return false
	}
	binary.LittleEndian.PutUint64(m.b[off:], v)
	return true
}

func (m *memory) Add64(off int, delta uint64) uint64 {
	defer m.step(off, word)()
	v := binary.LittleEndian.Uint64(m.b[off:]) + delta
	binary.LittleEndian.PutUint64(m.b[off:], v)
	return v
}

func (m *memory) Flush(off, n int) {
	defer m.step(off, n)()
	for at := off &^ (line - 1); at < off+n && !m.dram; at += line {
		m.flushed = append(m.flushed, flushed{at, append([]byte(nil), m.b[at:min(at+line, len(m.b))]...)})
	}
}

func (m *memory) Fence() {
	defer m.step(0, 0)()
	for _, x := range m.flushed {
		copy(m.persistent[x.at:], x.line)
	}
	m.flushed = m.flushed[:0]
}
