package sift

import "github.com/verbatim-rdma/verbatim/protocol/sift/wal"

// locks are the locks of blocks (3.3). A write holds its blocks from the moment when it is appended to
// the log until its update of the memory is submitted; no other task reads or writes them meanwhile. A
// read holds them until it has its answer, since a later Write of a connection may overtake a Read. A
// copy to a memory node that rejoins reads a block, and holds it until the node has all of them
// (3.4.2): reads continue, and writes wait.
type locks struct {
	block int
	held  map[int]holders
}

// holders are the operations that hold a block.
type holders struct {
	writes, reads int
	copied        bool
}

func newLocks(block int) locks { return locks{block: block, held: map[int]holders{}} }

// write locks the blocks of updates, or unlocks them if by is -1.
func (l *locks) write(updates []wal.Update, by int) {
	for _, u := range updates {
		l.each(u.Addr, len(u.Data), func(h *holders) { h.writes += by })
	}
}

// read locks n bytes at addr for a read, or unlocks them if by is -1.
func (l *locks) read(addr, n, by int) { l.each(addr, n, func(h *holders) { h.reads += by }) }

// copy locks a block for a copy, or unlocks it.
func (l *locks) copy(block int, copied bool) {
	l.each(block*l.block, l.block, func(h *holders) { h.copied = copied })
}

func (l *locks) each(addr, n int, change func(h *holders)) {
	for b, end := l.blocks(addr, n); b < end; b++ {
		h := l.held[b]
		if change(&h); h == (holders{}) {
			delete(l.held, b)
		} else {
			l.held[b] = h
		}
	}
}

// writing reports whether a write holds one of the blocks of n bytes at addr.
func (l *locks) writing(addr, n int) bool {
	return l.any(addr, n, func(h holders) bool { return h.writes > 0 })
}

// reading reports whether a read or a copy holds one of them.
func (l *locks) reading(addr, n int) bool {
	return l.any(addr, n, func(h holders) bool { return h.reads > 0 || h.copied })
}

func (l *locks) any(addr, n int, is func(holders) bool) bool {
	for b, end := l.blocks(addr, n); b < end; b++ {
		if is(l.held[b]) {
			return true
		}
	}
	return false
}

// blocks are the first block of n bytes at addr, and the one after the last.
func (l *locks) blocks(addr, n int) (first, end int) {
	return addr / l.block, (addr + n + l.block - 1) / l.block
}
