//go:build rdma

package hw

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// postBatch is how many requests one cgo call posts at most.
const postBatch = 64

// chain is a chain of requests in C memory, each with room for a scatter/gather list. C
// follows pointers in it, so it cannot be Go memory. It is zeroed and linked once;
// afterwards only values change.
type chain[WR any] struct {
	wrs  []WR
	sges []C.struct_ibv_sge
	each int               // SGEs of a request
	post *C.struct_vb_post // the argument of the cgo call
}

// alloc allocates n requests. link sets a request's successor, or nil, and its list. It
// reports false if there is no memory.
func (c *chain[WR]) alloc(n, each int, link func(wr, next *WR, list *C.struct_ibv_sge)) bool {
	c.each = each
	c.wrs = zeroed[WR](n)
	c.sges = zeroed[C.struct_ibv_sge](n * each)
	post := zeroed[C.struct_vb_post](1)
	c.post = unsafe.SliceData(post)
	if c.wrs == nil || c.sges == nil || post == nil {
		c.free()
		return false
	}
	c.post.chain = unsafe.Pointer(&c.wrs[0])
	for i := range c.wrs {
		var next *WR
		if i+1 < n {
			next = &c.wrs[i+1]
		}
		link(&c.wrs[i], next, &c.sges[i*each])
	}
	return true
}

func (c *chain[WR]) free() {
	C.free(unsafe.Pointer(unsafe.SliceData(c.wrs)))
	C.free(unsafe.Pointer(unsafe.SliceData(c.sges)))
	C.free(unsafe.Pointer(c.post))
	c.wrs, c.sges, c.post = nil, nil, nil
}

// ref returns a pointer into C memory, to pass to C.
func ref[T any](p *T) C.vb_ref { return C.vb_ref(uintptr(unsafe.Pointer(p))) }

// zeroed allocates n values in C memory. It returns nil if there is no memory.
func zeroed[T any](n int) []T {
	var t T
	p := (*T)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(t))))
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, n)
}

// linkSend and linkRecv are arguments of alloc.
func linkSend(wr, next *C.struct_ibv_send_wr, list *C.struct_ibv_sge) {
	wr.next, wr.sg_list = next, list
}

func linkRecv(wr, next *C.struct_ibv_recv_wr, list *C.struct_ibv_sge) {
	wr.next, wr.sg_list = next, list
}

// setList writes a scatter/gather list into the chain, and returns its length in bytes.
func setList(to []C.struct_ibv_sge, sgl []verbs.SGE) (length int) {
	for i := range sgl {
		x, s := &sgl[i], &to[i]
		s.addr, s.length, s.lkey = C.uint64_t(x.Addr), C.uint32_t(x.Length), C.uint32_t(x.LKey)
		length += int(x.Length)
	}
	return length
}
