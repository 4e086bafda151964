package hw

import (
	"fmt"
	"sync"

	"github.com/verbatim-rdma/verbatim/internal/pages"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Memory is memory that a card can reach. It implements verbs.Memory.
type Memory struct {
	mu    sync.Mutex
	bytes []byte
	pins  int
}

// NewMemory maps size zeroed bytes that start at a page, on huge pages if huge is
// set. The garbage collector knows nothing of them: they stay until Free.
func NewMemory(size int, huge bool) (*Memory, error) {
	b, err := pages.Map(size, huge)
	if err != nil {
		return nil, fmt.Errorf("hw: %w", err)
	}
	return &Memory{bytes: b}, nil
}

// Addr and Len implement verbs.Memory.
func (m *Memory) Addr() uint64 { return pages.Addr(m.bytes) }

// Len is the size in bytes.
func (m *Memory) Len() int { return len(m.bytes) }

// Bytes is the memory. A card may change it at any time.
func (m *Memory) Bytes() []byte { return m.bytes }

// Pin keeps the memory until Unpin; a registration does.
func (m *Memory) Pin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes == nil {
		return fmt.Errorf("hw: memory: %w", verbs.ErrClosed)
	}
	m.pins++
	return nil
}

// Unpin ends one Pin.
func (m *Memory) Unpin() {
	m.mu.Lock()
	m.pins--
	m.mu.Unlock()
}

// Free gives the memory back. Its registrations must be gone.
func (m *Memory) Free() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.bytes == nil:
		return fmt.Errorf("hw: free memory: %w", verbs.ErrClosed)
	case m.pins > 0:
		return fmt.Errorf("hw: free memory: %w: it is registered", verbs.ErrBusy)
	}
	b := m.bytes
	m.bytes = nil
	return pages.Unmap(b)
}
