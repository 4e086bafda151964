package pmemhost

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/verbatim-rdma/verbatim/host"
)

const (
	word = 8
	line = 64
)

// Memory is a region: a host.Region whose content a test can also damage.
type Memory struct {
	h *Host
	// b is the content that CPUs see, persistent the content of the memory itself. h.mu guards both.
	b, persistent []byte
	flushed       []flushed    // the lines flushed since the last fence
	poisoned      map[int]bool // the words that cannot be read
	dram          bool
}

// Image returns the content as the CPUs see it.
func (m *Memory) Image() []byte {
	defer m.look(0, 0)()
	return append([]byte(nil), m.b...)
}

// Set replaces bytes from off on, in the caches and in the memory, as damage does.
func (m *Memory) Set(off int, p []byte) {
	defer m.look(off, len(p))()
	copy(m.b[off:], p)
	copy(m.persistent[off:], p)
}

// Flip flips one bit in the caches and in the memory.
func (m *Memory) Flip(bit int) {
	defer m.look(bit/8, 1)()
	m.b[bit/8] ^= 1 << (bit % 8)
	m.persistent[bit/8] ^= 1 << (bit % 8)
}

// Poison makes the words at these offsets unreadable until they are stored again.
func (m *Memory) Poison(offs ...int) {
	defer m.look(0, 0)()
	if m.poisoned == nil {
		m.poisoned = map[int]bool{}
	}
	for _, off := range offs {
		m.poisoned[off&^(word-1)] = true
	}
}

// readable panics with host.ErrMedia if some of a range is poisoned. The caller holds the mutex.
func (m *Memory) readable(off, n int) {
	for at := off &^ (word - 1); at < off+n && len(m.poisoned) > 0; at += word {
		if m.poisoned[at] {
			panic(fmt.Errorf("%w at %d", host.ErrMedia, at))
		}
	}
}

// flushed is the content of a line when it was flushed. The fence need not persist later stores to the line.
type flushed struct {
	at   int
	line []byte
}

func (m *Memory) crash(next *Host, evicted func(off int) bool) *Memory {
	x := &Memory{h: next, b: append([]byte(nil), m.b...), persistent: append([]byte(nil), m.persistent...), poisoned: maps.Clone(m.poisoned)}
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
func (m *Memory) step(off, n int) (end func()) {
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
func (m *Memory) look(off, n int) (end func()) {
	m.h.mu.Lock()
	if off < 0 || n < 0 || off > len(m.b)-n {
		m.h.mu.Unlock()
		panic(fmt.Errorf("%w: %d bytes at %d of %d", host.ErrBounds, n, off, len(m.b)))
	}
	return m.h.mu.Unlock
}

// Addr implements host.Region.
func (m *Memory) Addr() uint64 { return 0 }

// Len implements host.Region.
func (m *Memory) Len() int { return len(m.b) }

// Free implements host.Region.
func (m *Memory) Free() error { return nil }

// Load implements host.Region.
func (m *Memory) Load(off int, p []byte) {
	defer m.look(off, len(p))()
	m.readable(off, len(p))
	copy(p, m.b[off:])
}

// Store writes word by word: other accesses, and a crash, can come in between.
func (m *Memory) Store(off int, p []byte) {
	m.look(off, len(p))()
	for len(p) > 0 {
		n := min(word-off%word, len(p))
		end := m.step(off, n)
		copy(m.b[off:], p[:n])
		delete(m.poisoned, off&^(word-1))
		end()
		off, p = off+n, p[n:]
	}
}

// Load64 implements host.Region.
func (m *Memory) Load64(off int) uint64 {
	defer m.look(off, word)()
	m.readable(off, word)
	return binary.LittleEndian.Uint64(m.b[off:])
}

// Store64 implements host.Region.
func (m *Memory) Store64(off int, v uint64) {
	defer m.step(off, word)()
	binary.LittleEndian.PutUint64(m.b[off:], v)
	delete(m.poisoned, off)
}

// CompareAndSwap64 implements host.Region.
func (m *Memory) CompareAndSwap64(off int, old, v uint64) bool {
	defer m.step(off, word)()
	m.readable(off, word)
	if binary.LittleEndian.Uint64(m.b[off:]) != old {
		return false
	}
	binary.LittleEndian.PutUint64(m.b[off:], v)
	return true
}

// Add64 implements host.Region.
func (m *Memory) Add64(off int, delta uint64) uint64 {
	defer m.step(off, word)()
	m.readable(off, word)
	v := binary.LittleEndian.Uint64(m.b[off:]) + delta
	binary.LittleEndian.PutUint64(m.b[off:], v)
	return v
}

// Flush implements host.Region.
func (m *Memory) Flush(off, n int) {
	defer m.step(off, n)()
	for at := off &^ (line - 1); at < off+n && !m.dram; at += line {
		m.flushed = append(m.flushed, flushed{at, append([]byte(nil), m.b[at:min(at+line, len(m.b))]...)})
	}
}

// Fence implements host.Region.
func (m *Memory) Fence() {
	defer m.step(0, 0)()
	for _, x := range m.flushed {
		copy(m.persistent[x.at:], x.line)
	}
	m.flushed = m.flushed[:0]
}
