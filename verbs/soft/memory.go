package soft

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// CPUs and other goroutines read and write registered memory at the same time. Every
// aligned word is loaded and stored at once, at increasing addresses, so a word is never
// torn, and a word of a Write appears only after the words before it.

const word = 8

// lead returns the number of bytes of p before the first aligned word.
func lead(p []byte) int {
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(p))) & (word - 1))
	return min(len(p), (word-at)&(word-1))
}

func wordAt(p []byte) *uint64 { return (*uint64)(unsafe.Pointer(unsafe.SliceData(p))) }

// store copies src to registered memory of the same length.
func store(dst, src []byte) {
	n := lead(dst)
	copy(dst[:n], src)
	for dst, src = dst[n:], src[n:]; len(dst) >= word; dst, src = dst[word:], src[word:] {
		atomic.StoreUint64(wordAt(dst), binary.NativeEndian.Uint64(src))
	}
	copy(dst, src)
}

// load copies registered memory to dst of the same length.
func load(dst, src []byte) {
	n := lead(src)
	copy(dst, src[:n])
	for dst, src = dst[n:], src[n:]; len(src) >= word; dst, src = dst[word:], src[word:] {
		binary.NativeEndian.PutUint64(dst, atomic.LoadUint64(wordAt(src)))
	}
	copy(dst, src)
}

// update atomically replaces the aligned little-endian word at p by f of its value, and
// returns the old value.
func update(p []byte, f func(old uint64) uint64) uint64 {
	for w := wordAt(p); ; {
		old := atomic.LoadUint64(w)
		v := little(old)
		if atomic.CompareAndSwapUint64(w, old, little(f(v))) {
			return v
		}
	}
}

// little converts between a word in memory, little-endian, and a number.
func little(v uint64) uint64 {
	var b [word]byte
	binary.NativeEndian.PutUint64(b[:], v)
	return binary.LittleEndian.Uint64(b[:])
}

// guarded runs f, which accesses registered memory, and returns an error if that faults, as
// after a mapped file was truncated. Without it the process would crash.
func guarded(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch x := recover().(type) {
		case nil:
		case runtime.Error:
			if _, fault := x.(interface{ Addr() uintptr }); !fault {
				panic(x)
			}
			err = x
		case error: // of a region that could not be flushed
			err = x
		default:
			panic(x)
		}
	}()
	f()
	return nil
}

// walk calls f with the pieces of n bytes from off of a list, which must lie in
// regions of p that grant need. It returns the status of a local error.
func (p *pd) walk(list []verbs.SGE, off, n int, need verbs.Access, f func(piece []byte)) verbs.Status {
	for i := 0; i < len(list) && n > 0; i++ {
		size := int(list[i].Length)
		if off >= size {
			off -= size
			continue
		}
		k := min(n, size-off)
		m, b := p.acquire(list[i].LKey, list[i].Addr+uint64(off), k, need)
		if m == nil {
			return verbs.StatusLocProtErr
		}
		err := guarded(func() { f(b) })
		m.release()
		if err != nil {
			return verbs.StatusLocQPOpErr
		}
		off, n = 0, n-k
	}
	return verbs.StatusSuccess
}

// gather reads bytes of a list into dst, and scatter writes src to a list.
func (p *pd) gather(dst []byte, list []verbs.SGE, off int) verbs.Status {
	return p.walk(list, off, len(dst), 0, func(piece []byte) {
		load(dst[:len(piece)], piece)
		dst = dst[len(piece):]
	})
}

func (p *pd) scatter(list []verbs.SGE, off int, src []byte) verbs.Status {
	return p.walk(list, off, len(src), verbs.LocalWrite, func(piece []byte) {
		store(piece, src[:len(piece)])
		src = src[len(piece):]
	})
}

// check returns the error for a piece of a list that is not in a region of p, or whose region does not grant need.
func (p *pd) check(list []verbs.SGE, need verbs.Access) verbs.Status {
	for _, s := range list {
		if s.Length > 0 && !p.reaches(s.LKey, s.Addr, int(s.Length), need) {
			return verbs.StatusLocProtErr
		}
	}
	return verbs.StatusSuccess
}

// errorOf returns an error that wraps kind and gives the reason.
func errorOf(kind error, why string) error { return fmt.Errorf("%w: %s", kind, why) }

// appendWord appends a word in the byte order of memory.
func appendWord(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
