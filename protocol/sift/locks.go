package sift

import "github.com/verbatim-rdma/verbatim/protocol/sift/wal"

// locks are the write locks of blocks (3.3.2): a block is locked from the moment a write to
// it is appended to the log until its update of the memory is submitted. Nothing else holds
// a lock while operations run one after the other, so there are no read locks.
type locks struct {
	block int
	held  map[int]int // how many entries lock a block
}

func newLocks(block int) locks { return locks{block: block, held: map[int]int{}} }

// add locks the blocks of updates, or unlocks them if by is -1.
func (l *locks) add(updates []wal.Update, by int) {
	for _, u := range updates {
		for b, end := l.blocks(u.Addr, len(u.Data)); b < end; b++ {
			if l.held[b] += by; l.held[b] == 0 {
				delete(l.held, b)
			}
		}
	}
}

// locked reports whether one of the blocks of n bytes at addr is locked.
func (l *locks) locked(addr, n int) bool {
	for b, end := l.blocks(addr, n); b < end; b++ {
		if l.held[b] > 0 {
			return true
		}
	}
	return false
}

// blocks are the first block of n bytes at addr, and the one after the last.
func (l *locks) blocks(addr, n int) (first, end int) {
	return addr / l.block, (addr + n + l.block - 1) / l.block
}
