package oshost

import (
	"unsafe"

	"github.com/verbatim-rdma/verbatim/internal/pages"
)

// canFlush: this build has instructions to write back cache lines.
const canFlush = true

const lineBytes = 64

// The instructions, best first: CLWB keeps the line in the cache, CLFLUSHOPT does
// not, and CLFLUSH waits for each line before it continues.
const (
	useCLFLUSH = iota
	useCLFLUSHOPT
	useCLWB
)

var flushWith = bestFlush()

func bestFlush() int {
	switch b := features(); {
	case b&(1<<24) != 0:
		return useCLWB
	case b&(1<<23) != 0:
		return useCLFLUSHOPT
	}
	return useCLFLUSH
}

// flushLines writes back the cache lines that b touches.
func flushLines(b []byte) { flushBy(b, flushWith) }

func flushBy(b []byte, with int) {
	if len(b) == 0 {
		return
	}
	lead := int(pages.Addr(b) & (lineBytes - 1))
	first := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -lead)
	for off := 0; off < lead+len(b); off += lineBytes {
		switch p := unsafe.Add(first, off); with {
		case useCLWB:
			clwb(p)
		case useCLFLUSHOPT:
			clflushopt(p)
		default:
			clflush(p)
		}
	}
}

// In flush_amd64.s.

//go:noescape
func clwb(p unsafe.Pointer)

//go:noescape
func clflushopt(p unsafe.Pointer)

//go:noescape
func clflush(p unsafe.Pointer)

// storeFence orders the stores and flushes before it and those after it.
func storeFence()

// features is EBX of CPUID leaf 7, 0 if there is no such leaf.
func features() uint32
