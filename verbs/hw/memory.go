package hw

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/internal/pages"
)

// Memory is memory that a card can reach. It implements verbs.Memory.
type Memory struct{ pages.Block }

// NewMemory maps size zeroed, page-aligned bytes, on huge pages if huge is set. The
// garbage collector does not manage them: they stay until Free.
func NewMemory(size int, huge bool) (*Memory, error) {
	b, err := pages.Map(size, huge)
	if err != nil {
		return nil, fmt.Errorf("hw: %w", err)
	}
	return &Memory{pages.NewBlock(b)}, nil
}

// Free unmaps the memory. Deregister it first.
func (m *Memory) Free() error {
	if err := m.Block.Free(); err != nil {
		return fmt.Errorf("hw: free memory: %w", err)
	}
	return nil
}
