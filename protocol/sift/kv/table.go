package kv

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// table is the index table and the bitmap as the coordinator caches them (4.1), with the chains
// of data blocks in the replicated memory.
type table struct {
	cfg     *Config
	mem     Memory
	index   []uint64 // pointers to the first blocks of chains
	used    []uint64 // one bit for each data block
	free    int      // blocks
	applied uint64   // the last operation that is in the table

	block []byte // the one that was read last
	fresh []byte // one that is written
	small [3 * wordSize]byte
}

// load reads the table from the memory.
func load(cfg *Config, mem Memory) (*table, error) {
	t := &table{cfg: cfg, mem: mem, index: make([]uint64, cfg.Index), used: make([]uint64, words(cfg.Blocks)),
		block: make([]byte, cfg.blockSize()), fresh: make([]byte, cfg.blockSize())}
	b := make([]byte, cfg.indexEnd())
	if err := mem.Read(0, b); err != nil {
		return nil, err
	}
	t.applied = binary.LittleEndian.Uint64(b[appliedAt:])
	t.free = cfg.Blocks
	for i := range t.used {
		t.used[i] = binary.LittleEndian.Uint64(b[bitmapAt+wordSize*i:])
		t.free -= bits.OnesCount64(t.used[i])
	}
	if last := cfg.Blocks % 64; last > 0 && t.used[len(t.used)-1]>>last != 0 {
		return nil, fmt.Errorf("%w: the bitmap has more than %d blocks", ErrCorrupt, cfg.Blocks)
	}
	for i := range t.index {
		t.index[i] = binary.LittleEndian.Uint64(b[cfg.slotAt(i):])
		if t.index[i] > uint64(cfg.Blocks) {
			return nil, fmt.Errorf("%w: slot %d of the index points to block %d of %d", ErrCorrupt, i, t.index[i], cfg.Blocks)
		}
	}
	return t, nil
}

// hash is FNV-1a. It is the same on all coordinators, and does not resist an adversary.
func hash(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range key {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

func (t *table) slot(key []byte) int { return int(hash(key) % uint64(len(t.index))) }

// place is where a key is, or would be: at the end of its chain.
type place struct {
	link int // the address of the pointer to its block
	slot int // of the index, if the pointer is there; or -1
	ptr  uint64
	next uint64 // what follows in the chain
}

// read reports whether a block was read to find it.
func (p *place) read() bool { return p.slot < 0 || p.ptr != 0 }

// find walks the chain of a key (4.2). If the key is there, the value aliases t.block.
func (t *table) find(key []byte) (p place, value []byte, err error) {
	i := t.slot(key)
	p = place{link: t.cfg.slotAt(i), slot: i, ptr: t.index[i]}
	for range t.cfg.Blocks {
		if p.ptr == 0 {
			return p, nil, nil
		}
		at := t.cfg.blockAt(int(p.ptr - 1))
		if err := t.mem.Read(at, t.block); err != nil {
			return p, nil, err
		}
		b, err := t.cfg.decodeBlock(t.block)
		if err != nil {
			return p, nil, err
		}
		if string(b.key) == string(key) {
			p.next = b.next
			return p, b.value, nil
		}
		p = place{link: at + nextAt, slot: -1, ptr: b.next}
	}
	if p.ptr != 0 {
		err = fmt.Errorf("%w: a chain does not end", ErrCorrupt)
	}
	return p, nil, err
}

// apply carries out an operation of the log (4.2): all its changes are one list of updates,
// which are there together or not at all. So no crash leaves a block in use that no chain has,
// or in a chain and free.
func (t *table) apply(e *entry) error {
	p, _, err := t.find(e.key)
	if err != nil {
		return err
	}
	switch {
	case e.kind == put && p.ptr == 0:
		err = t.insert(e, p)
	case e.kind == put:
		n := t.cfg.encodeBlock(t.fresh, e.key, e.value)
		err = t.commit(e, sift.Update{Addr: t.cfg.blockAt(int(p.ptr-1)) + lengthsAt, Data: t.fresh[lengthsAt:n]})
	case p.ptr != 0:
		err = t.take(e, p)
	default:
		err = t.commit(e)
	}
	return err
}

// insert adds a key to its chain, in the first block that is free.
func (t *table) insert(e *entry, p place) error {
	b := t.firstFree()
	if b < 0 {
		return fmt.Errorf("%w: no block is free for an operation that is in the log", ErrCorrupt)
	}
	n := t.cfg.encodeBlock(t.fresh, e.key, e.value)
	if err := t.commit(e, sift.Update{Addr: t.cfg.blockAt(b), Data: t.fresh[:n]}, t.point(p, uint64(b+1)), t.flip(b)); err != nil {
		return err
	}
	t.changed(p, uint64(b+1), b, -1)
	return nil
}

// take removes a key from its chain, and frees its block.
func (t *table) take(e *entry, p place) error {
	b := int(p.ptr - 1)
	if err := t.commit(e, t.point(p, p.next), t.flip(b)); err != nil {
		return err
	}
	t.changed(p, p.next, b, 1)
	return nil
}

// commit makes the updates of an operation, together with its number.
func (t *table) commit(e *entry, updates ...sift.Update) error {
	b := t.small[:wordSize]
	binary.LittleEndian.PutUint64(b, e.index)
	if err := t.mem.WriteAll(append(updates, sift.Update{Addr: appliedAt, Data: b})); err != nil {
		return err
	}
	t.applied = e.index
	return nil
}

// point is the update of the pointer at a place.
func (t *table) point(p place, ptr uint64) sift.Update {
	b := t.small[wordSize : 2*wordSize]
	binary.LittleEndian.PutUint64(b, ptr)
	return sift.Update{Addr: p.link, Data: b}
}

// flip is the update of the bitmap that takes a block, or frees it.
func (t *table) flip(block int) sift.Update {
	b := t.small[2*wordSize:]
	binary.LittleEndian.PutUint64(b, t.used[block/64]^1<<(block%64))
	return sift.Update{Addr: bitmapAt + wordSize*(block/64), Data: b}
}

// changed applies point and flip to the tables of the coordinator, once they are committed.
func (t *table) changed(p place, ptr uint64, block, frees int) {
	if p.slot >= 0 {
		t.index[p.slot] = ptr
	}
	t.used[block/64] ^= 1 << (block % 64)
	t.free += frees
}

// firstFree returns the first free block, or -1.
func (t *table) firstFree() int {
	for i, w := range t.used {
		if b := 64*i + bits.TrailingZeros64(^w); ^w != 0 && b < t.cfg.Blocks {
			return b
		}
	}
	return -1
}
