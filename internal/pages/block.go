package pages

import (
	"fmt"
	"sync"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Block is mapped memory that stays for as long as a card may reach it. It
// implements verbs.Memory, and is the larger part of a host.Region.
type Block struct {
	addr  uint64
	size  int
	mu    sync.Mutex
	bytes []byte // nil after Free
	pins  int    // registrations
}

// NewBlock takes ownership of the result of Map or MapFile.
func NewBlock(b []byte) Block { return Block{addr: Addr(b), size: len(b), bytes: b} }

// Addr returns where the block is, or was.
func (b *Block) Addr() uint64 { return b.addr }

// Len returns the size in bytes.
func (b *Block) Len() int { return b.size }

// Bytes returns the memory, or nil after Free. A card may change it at any time.
func (b *Block) Bytes() []byte { return b.bytes }

// Pin keeps the memory until Unpin. The binding calls it for each registration.
func (b *Block) Pin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes == nil {
		return errFreed()
	}
	b.pins++
	return nil
}

// Unpin ends one Pin.
func (b *Block) Unpin() {
	b.mu.Lock()
	b.pins--
	b.mu.Unlock()
}

// Free releases the memory. All registrations must have been deregistered.
func (b *Block) Free() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.bytes == nil:
		return errFreed()
	case b.pins > 0:
		return fmt.Errorf("%w: the memory is still registered", verbs.ErrBusy)
	}
	mapped := b.bytes
	b.bytes = nil
	return Unmap(mapped)
}

// errFreed is for users of either vocabulary.
func errFreed() error {
	return fmt.Errorf("%w (%w): the memory was freed", host.ErrClosed, verbs.ErrClosed)
}
