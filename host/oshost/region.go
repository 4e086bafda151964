package oshost

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pages"
)

// region is mapped memory. It implements host.Region.
type region struct {
	pages.Block
	h     *Host
	name  string // of a persistent region
	dax   bool   // flushing cache lines makes it persistent
	users int    // of a persistent region: OpenPMEM less Free
}

// Alloc implements host.Host.
func (h *Host) Alloc(size int) (host.Region, error) {
	b, err := pages.Map(size, h.cfg.HugePages)
	if err != nil {
		return nil, fmt.Errorf("oshost: %w: %w", host.ErrNoMemory, err)
	}
	return &region{Block: pages.NewBlock(b), h: h}, nil
}

// at checks an access and returns its bytes.
func (r *region) at(off, n int) []byte {
	b := r.Bytes()
	if b == nil {
		panic(fmt.Errorf("oshost: %w: the region was freed", host.ErrClosed))
	}
	if off < 0 || n < 0 || off > len(b) || n > len(b)-off {
		panic(fmt.Errorf("oshost: %w: %d bytes at %d of a region of %d", host.ErrBounds, n, off, len(b)))
	}
	return b[off : off+n : off+n]
}

// Load implements host.Region.
func (r *region) Load(off int, p []byte) {
	b := r.at(off, len(p))
	if r.name == "" {
		copy(p, b)
		return
	}
	r.guarded("load", off, len(p), func() { copy(p, b) })
}

// Store implements host.Region.
func (r *region) Store(off int, p []byte) {
	b := r.at(off, len(p))
	if r.name == "" {
		copy(b, p)
		return
	}
	r.guarded("store", off, len(p), func() { copy(b, p) })
}

// guarded turns the signal of unreadable memory into a panic that the caller can
// recover. Without it the runtime would crash the process.
func (r *region) guarded(what string, off, n int, f func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch x := recover().(type) {
		case nil:
		case runtime.Error:
			if _, fault := x.(interface{ Addr() uintptr }); !fault {
				panic(x)
			}
			panic(fmt.Errorf("oshost: %s [%d,%d) of persistent region %q: %w: %w", what, off, off+n, r.name, host.ErrMedia, x))
		default:
			panic(x)
		}
	}()
	f()
}

// word returns the aligned word at off.
func (r *region) word(off int) *uint64 {
	if off&7 != 0 {
		panic(fmt.Errorf("oshost: %w: a word at offset %d, which 8 does not divide", host.ErrBounds, off))
	}
	return (*uint64)(unsafe.Pointer(unsafe.SliceData(r.at(off, 8))))
}

// little converts a little-endian word in memory into a number, and back.
func little(v uint64) uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], v)
	return binary.LittleEndian.Uint64(b[:])
}

// dram is word for an access that needs no guard, and nil otherwise or for an error. It
// makes no call, since protocols spin on words.
func (r *region) dram(off int) *uint64 {
	if b := r.Bytes(); r.name == "" && off&7 == 0 && uint(off) < uint(len(b)&^7) {
		return (*uint64)(unsafe.Pointer(&b[off]))
	}
	return nil
}

// Load64 implements host.Region.
func (r *region) Load64(off int) (v uint64) {
	if p := r.dram(off); p != nil {
		return little(atomic.LoadUint64(p))
	}
	p := r.word(off)
	r.guarded("load", off, 8, func() { v = little(atomic.LoadUint64(p)) })
	return v
}

// Store64 implements host.Region.
func (r *region) Store64(off int, v uint64) {
	if p := r.dram(off); p != nil {
		atomic.StoreUint64(p, little(v))
		return
	}
	p := r.word(off)
	r.guarded("store", off, 8, func() { atomic.StoreUint64(p, little(v)) })
}

// CompareAndSwap64 implements host.Region.
func (r *region) CompareAndSwap64(off int, old, new uint64) (swapped bool) {
	p := r.word(off)
	r.guarded("compare and swap", off, 8, func() { swapped = atomic.CompareAndSwapUint64(p, little(old), little(new)) })
	return swapped
}

// Add64 implements host.Region.
func (r *region) Add64(off int, delta uint64) (sum uint64) {
	p := r.word(off)
	r.guarded("add", off, 8, func() {
		for {
			old := atomic.LoadUint64(p)
			if sum = little(old) + delta; atomic.CompareAndSwapUint64(p, old, little(sum)) {
				return
			}
		}
	})
	return sum
}

// Free implements host.Region.
func (r *region) Free() error {
	if r.name != "" {
		return r.close()
	}
	if err := r.Block.Free(); err != nil {
		return fmt.Errorf("oshost: free a region: %w", err)
	}
	return nil
}
