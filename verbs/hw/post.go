//go:build rdma

package hw

/*
#include <stdlib.h>
#include "binding.h"
#cgo noescape vb_post_send
#cgo nocallback vb_post_send
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// postBatch is how many requests one call into C posts at most.
const postBatch = 64

// chain is a chain of requests in C memory, each with room for a scatter/gather
// list. C follows pointers in it, so it cannot be Go memory. It is zeroed and
// linked once; afterwards only values change.
type chain[WR any] struct {
	wrs  []WR
	sges []C.struct_ibv_sge
	each int // SGEs of a request
}

// alloc makes n requests. link gives one its successor, or nil, and its list.
func (c *chain[WR]) alloc(n, each int, link func(wr, next *WR, list *C.struct_ibv_sge)) {
	c.each = each
	c.wrs = zeroed[WR](n)
	c.sges = zeroed[C.struct_ibv_sge](n * each)
	for i := range c.wrs {
		var next *WR
		if i+1 < n {
			next = &c.wrs[i+1]
		}
		link(&c.wrs[i], next, &c.sges[i*each])
	}
}

func (c *chain[WR]) free() {
	C.free(unsafe.Pointer(unsafe.SliceData(c.wrs)))
	C.free(unsafe.Pointer(unsafe.SliceData(c.sges)))
	c.wrs, c.sges = nil, nil
}

// ref is a pointer into C memory for C.
func ref[T any](p *T) C.vb_ref { return C.vb_ref(uintptr(unsafe.Pointer(p))) }

// zeroed is n values in C memory.
func zeroed[T any](n int) []T {
	var t T
	return unsafe.Slice((*T)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(t)))), n)
}

// linkSend and linkRecv are for alloc.
func linkSend(wr, next *C.struct_ibv_send_wr, list *C.struct_ibv_sge) {
	wr.next, wr.sg_list = next, list
}

func linkRecv(wr, next *C.struct_ibv_recv_wr, list *C.struct_ibv_sge) {
	wr.next, wr.sg_list = next, list
}

// setList writes a scatter/gather list to where the chain has it.
func setList(to []C.struct_ibv_sge, sgl []verbs.SGE) {
	for i := range sgl {
		x, s := &sgl[i], &to[i]
		s.addr, s.length, s.lkey = C.uint64_t(x.Addr), C.uint32_t(x.Length), C.uint32_t(x.LKey)
	}
}

// rdmaPart and atomicPart are the members of the union wr of struct ibv_send_wr.
type rdmaPart struct {
	addr uint64
	rkey uint32
}

type atomicPart struct {
	addr, compareAdd, swap uint64
	rkey                   uint32
}

// opcodes are the ibv_wr_opcode of verbs.Opcode.
var opcodes = [...]uint32{
	verbs.OpWrite: C.IBV_WR_RDMA_WRITE, verbs.OpWriteImm: C.IBV_WR_RDMA_WRITE_WITH_IMM, verbs.OpRead: C.IBV_WR_RDMA_READ,
	verbs.OpSend: C.IBV_WR_SEND, verbs.OpSendImm: C.IBV_WR_SEND_WITH_IMM, verbs.OpCompareSwap: C.IBV_WR_ATOMIC_CMP_AND_SWP,
	verbs.OpFetchAdd: C.IBV_WR_ATOMIC_FETCH_AND_ADD,
}

const knownFlags = verbs.Signaled | verbs.Fence | verbs.Inline | verbs.Solicited

func sendFlags(f verbs.SendFlags) uint32 {
	var out uint32
	if f&verbs.Signaled != 0 {
		out |= C.IBV_SEND_SIGNALED
	}
	if f&verbs.Fence != 0 {
		out |= C.IBV_SEND_FENCE
	}
	if f&verbs.Inline != 0 {
		out |= C.IBV_SEND_INLINE
	}
	if f&verbs.Solicited != 0 {
		out |= C.IBV_SEND_SOLICITED
	}
	return out
}

// PostSend implements verbs.QP.
func (q *qp) PostSend(wrs []verbs.SendWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.c == nil {
		return &verbs.PostError{Err: fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)}
	}
	// Libraries write the request into the queue first and ask the kernel then, if at
	// all, so that it would be sent later.
	if !q.state.CanPostSend() {
		return &verbs.PostError{Err: fmt.Errorf("%w: QP %d is in %v", verbs.ErrState, q.num, q.state)}
	}
	n := 0 // requests in the chain; they are wrs[i-n:i]
	for i := range wrs {
		wr := &wrs[i]
		err := q.check(wr)
		extended := err == nil && (wr.Op == verbs.OpFlush || wr.Op == verbs.OpAtomicWrite)
		if n > 0 && (n == len(q.send.wrs) || err != nil || extended) {
			if err := q.flush(n, i); err != nil {
				return err
			}
			n = 0
		}
		switch {
		case err != nil:
			return &verbs.PostError{Index: i, Err: err}
		case extended:
			if err := q.postExtended(wr); err != nil {
				return &verbs.PostError{Index: i, Err: err}
			}
		default:
			q.fill(n, wr)
			n++
		}
	}
	if n > 0 {
		return q.flush(n, len(wrs))
	}
	return nil
}

// check finds what libibverbs or the card would refuse with less of a reason.
func (q *qp) check(wr *verbs.SendWR) error {
	switch {
	case !wr.Op.Valid():
		return fmt.Errorf("%w: opcode %d", verbs.ErrInvalid, wr.Op)
	case wr.Flags&^knownFlags != 0:
		return fmt.Errorf("%w: flags %#x", verbs.ErrInvalid, uint8(wr.Flags))
	case len(wr.SGL) > q.cfg.MaxSGE:
		return fmt.Errorf("%w: %d SGEs, the QP takes %d", verbs.ErrInvalid, len(wr.SGL), q.cfg.MaxSGE)
	case wr.Op == verbs.OpFlush && !q.d.attr.HasFlush, wr.Op == verbs.OpAtomicWrite && !q.d.attr.HasAtomicWrite:
		return fmt.Errorf("%w: %v: %s, or its driver, or libibverbs does not have it (it takes Linux 6.2 and rdma-core 46)",
			verbs.ErrUnsupported, wr.Op, q.d.name)
	}
	if wr.Flags&verbs.Inline != 0 {
		if wr.Op == verbs.OpRead || wr.Op.IsAtomic() || wr.Op == verbs.OpFlush {
			return fmt.Errorf("%w: %v cannot be inline", verbs.ErrInvalid, wr.Op)
		}
		if n := wr.Length(); n > q.cfg.MaxInline {
			return fmt.Errorf("%w: %d bytes inline, the QP takes %d", verbs.ErrInvalid, n, q.cfg.MaxInline)
		}
	}
	return nil
}

// fill writes wr into place i of the chain.
func (q *qp) fill(i int, wr *verbs.SendWR) {
	w := &q.send.wrs[i]
	w.wr_id = C.uint64_t(wr.ID)
	w.opcode = opcodes[wr.Op]
	w.send_flags = C.uint(sendFlags(wr.Flags))
	w.num_sge = C.int(len(wr.SGL))
	setList(q.send.sges[i*q.send.each:], wr.SGL)
	switch wr.Op {
	case verbs.OpWriteImm, verbs.OpSendImm:
		binary.BigEndian.PutUint32(w.anon0[:], wr.Imm)
	}
	switch wr.Op {
	case verbs.OpCompareSwap:
		*(*atomicPart)(unsafe.Pointer(&w.wr)) = atomicPart{wr.RemoteAddr, wr.Compare, wr.Swap, wr.RKey}
	case verbs.OpFetchAdd:
		*(*atomicPart)(unsafe.Pointer(&w.wr)) = atomicPart{wr.RemoteAddr, wr.Add, 0, wr.RKey}
	default:
		*(*rdmaPart)(unsafe.Pointer(&w.wr)) = rdmaPart{wr.RemoteAddr, wr.RKey}
	}
}

// flush posts the n requests of the chain, which end before request end of the batch.
//
// While it is in C it also takes completions into the CQ's stash, unless somebody
// else is at the CQ: the way there costs more than the look, and Soft-RoCE often
// has the completion of the very request by then.
func (q *qp) flush(n, end int) error {
	var cq C.vb_ref
	var out *C.struct_vb_wc
	s := q.sendCQ
	free := s.reserve()
	if len(free) > 0 {
		cq, out = ref(s.c), (*C.struct_vb_wc)(unsafe.Pointer(&free[0]))
	}
	rc := int64(C.vb_post_send(ref(q.c), ref(&q.send.wrs[0]), C.int(n), cq, C.int(len(free)), out))
	refused := rc>>32 != 0
	if free != nil {
		if !refused {
			s.n += int(rc)
		}
		s.mu.Unlock()
	}
	if refused {
		return q.refused(rc, end-n)
	}
	return nil
}

// refused is the error of a post; first is the index of the chain's first request.
func (q *qp) refused(rc int64, first int) error {
	return &verbs.PostError{Index: first + int(rc&0xffffffff), Err: q.postError(syscall.Errno(rc >> 32))}
}

func (q *qp) postError(e syscall.Errno) error {
	if dead := q.d.alive(); dead != nil {
		return dead
	}
	switch e {
	case syscall.ENOMEM:
		return fmt.Errorf("%w: QP %d of %s", verbs.ErrQueueFull, q.num, q.d.name)
	case syscall.EINVAL:
		if s := q.ask(); !s.CanPostSend() {
			return fmt.Errorf("%w: QP %d is in %v", verbs.ErrState, q.num, s)
		}
	}
	return callError(q.d.name, fmt.Sprintf("QP %d: post", q.num), e, "")
}

// postExtended posts what struct ibv_send_wr has no place for.
func (q *qp) postExtended(wr *verbs.SendWR) error {
	x := C.struct_vb_ext{id: C.uint64_t(wr.ID), remote: C.uint64_t(wr.RemoteAddr), rkey: C.uint32_t(wr.RKey),
		flags: C.uint32_t(sendFlags(wr.Flags &^ verbs.Inline))}
	if wr.Op == verbs.OpFlush {
		const both = verbs.FlushGlobal | verbs.FlushPersistent
		if len(wr.SGL) > 0 || wr.FlushTo&both == 0 || wr.FlushTo&^both != 0 {
			return fmt.Errorf("%w: a Flush has no SGL, and FlushTo is FlushGlobal, FlushPersistent or both", verbs.ErrInvalid)
		}
		x.op, x.len = C.VB_FLUSH, C.uint64_t(wr.FlushLen)
		if wr.FlushTo&verbs.FlushGlobal != 0 {
			x._type |= 1
		}
		if wr.FlushTo&verbs.FlushPersistent != 0 {
			x._type |= 2
		}
		if wr.FlushMR {
			x.level = 1
		}
	} else {
		// The interface takes the eight bytes, not where they are: they are read
		// here, so they had better be memory that the caller has registered.
		if len(wr.SGL) != 1 || wr.SGL[0].Length != 8 || !q.pd.covers(wr.SGL[0]) {
			return fmt.Errorf("%w: an AtomicWrite has one SGE of eight registered bytes", verbs.ErrInvalid)
		}
		x.op, x.addr = C.VB_ATOMIC_WRITE, C.uint64_t(wr.SGL[0].Addr)
	}
	if rc := C.vb_post_ext(q.c, &x); rc != 0 {
		return q.postError(syscall.Errno(rc))
	}
	return nil
}

// PostRecv implements verbs.QP and verbs.PreparedQP.
func (q *qp) PostRecv(wrs []verbs.RecvWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.c == nil {
		return &verbs.PostError{Err: fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)}
	}
	if !q.state.CanPostRecv() {
		return &verbs.PostError{Err: fmt.Errorf("%w: QP %d is in %v", verbs.ErrState, q.num, q.state)}
	}
	for first := 0; first < len(wrs); first += len(q.recv.wrs) {
		n := min(len(wrs)-first, len(q.recv.wrs))
		for i := range n {
			wr := &wrs[first+i]
			if len(wr.SGL) > q.cfg.MaxSGE {
				err := fmt.Errorf("%w: %d SGEs, the QP takes %d", verbs.ErrInvalid, len(wr.SGL), q.cfg.MaxSGE)
				if i > 0 {
					if rc := C.vb_post_recv(ref(q.c), ref(&q.recv.wrs[0]), C.int(i)); rc != 0 {
						return q.refused(int64(rc), first)
					}
				}
				return &verbs.PostError{Index: first + i, Err: err}
			}
			w := &q.recv.wrs[i]
			w.wr_id, w.num_sge = C.uint64_t(wr.ID), C.int(len(wr.SGL))
			setList(q.recv.sges[i*q.recv.each:], wr.SGL)
		}
		if rc := C.vb_post_recv(ref(q.c), ref(&q.recv.wrs[0]), C.int(n)); rc != 0 {
			return q.refused(int64(rc), first)
		}
	}
	return nil
}
