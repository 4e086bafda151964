//go:build rdma

package hw

/*
#include "binding.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// rdmaPart and atomicPart are the members of the union wr of struct ibv_send_wr.
type rdmaPart struct {
	addr uint64
	rkey uint32
}

type atomicPart struct {
	addr, compareAdd, swap uint64
	rkey                   uint32
}

// operation is a kind of request in libibverbs.
type operation struct {
	code  uint32          // ibv_wr_opcode
	part  uint8           // of the union
	imm   bool            // it has immediate data
	flags verbs.SendFlags // allowed flags; see init
}

const (
	notLinked uint8 = iota // struct ibv_send_wr has no member for it
	remote                 // rdmaPart
	swap                   // atomicPart
	add                    // atomicPart
)

var operations = [...]operation{
	verbs.OpWrite:       {code: C.IBV_WR_RDMA_WRITE, part: remote},
	verbs.OpWriteImm:    {code: C.IBV_WR_RDMA_WRITE_WITH_IMM, part: remote, imm: true},
	verbs.OpRead:        {code: C.IBV_WR_RDMA_READ, part: remote},
	verbs.OpSend:        {code: C.IBV_WR_SEND, part: remote},
	verbs.OpSendImm:     {code: C.IBV_WR_SEND_WITH_IMM, part: remote, imm: true},
	verbs.OpCompareSwap: {code: C.IBV_WR_ATOMIC_CMP_AND_SWP, part: swap},
	verbs.OpFetchAdd:    {code: C.IBV_WR_ATOMIC_FETCH_AND_ADD, part: add},
	verbs.OpFlush:       {},
	verbs.OpAtomicWrite: {},
}

// The table holds the flags, so that fill finds everything about an operation in one place.
func init() {
	for op := range operations {
		operations[op].flags = verbs.Opcode(op).Flags()
	}
}

// sendFlags are the ibv_send_flags of verbs.SendFlags.
var sendFlags = func() (of [256]uint32) {
	for f := range of {
		for i, bit := range [...]uint32{C.IBV_SEND_SIGNALED, C.IBV_SEND_FENCE, C.IBV_SEND_INLINE, C.IBV_SEND_SOLICITED} {
			if f&(1<<i) != 0 {
				of[f] |= bit
			}
		}
	}
	return of
}()

// PostSend implements verbs.QP.
//
// Before the cgo call PostSend calls only fill, and Poll calls nothing if the stash has a
// completion. The card or the kernel has run in between, so the processor must fetch the
// code of every called function again, which adds to the latency (docs/benchmarks.md).
//
// The cgo call also polls completions into the CQ's stash, unless another caller is
// using the CQ: a call costs more than the poll, and Soft-RoCE often has the completion
// of the request itself by then.
func (q *qp) PostSend(wrs []verbs.SendWR) error {
	q.mu.Lock()
	err := q.mayPost(q.state.CanPostSend())
	for done := 0; err == nil && done < len(wrs); {
		n := q.fill(wrs[done:])
		if n == 0 { // the next request cannot be in a chain
			if err = q.postOther(&wrs[done]); err != nil {
				err = &verbs.PostError{Index: done, Err: err}
			}
			done++
			continue
		}
		post, look := q.send.post, q.sendCQ.reserve()
		post.n, post.look = C.int(n), flag(look)
		C.vb_post_send(ref(post))
		if look {
			q.sendCQ.mu.Unlock()
		}
		if post.err != 0 {
			err = q.refused(post, done)
		}
		done += n
	}
	q.mu.Unlock()
	return err
}

// mayPost returns nil if q exists and its state permits posting. Without this check the
// request could be sent later: libraries write it into the queue before the kernel checks
// the state, if it does.
func (q *qp) mayPost(state bool) error {
	if q.c != nil && state {
		return nil
	}
	return q.mayNot()
}

func (q *qp) mayNot() error {
	if q.c == nil {
		return &verbs.PostError{Err: fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)}
	}
	return &verbs.PostError{Err: q.state.CheckPostSend(q.num)} // a state without receives has no sends either
}

// fill writes requests into the chain, up to the first that needs another path or that
// check would refuse, and returns their number.
func (q *qp) fill(wrs []verbs.SendWR) int {
	for i := range wrs {
		if i == len(q.send.wrs) {
			return i
		}
		wr, w := &wrs[i], &q.send.wrs[i]
		if int(wr.Op) >= len(operations) || len(wr.SGL) > q.cfg.MaxSGE {
			return i
		}
		op := &operations[wr.Op]
		if op.part == notLinked || wr.Flags&^op.flags != 0 {
			return i
		}
		w.wr_id, w.opcode, w.send_flags, w.num_sge = C.uint64_t(wr.ID), op.code, C.uint(sendFlags[wr.Flags]), C.int(len(wr.SGL))
		length := setList(q.send.sges[i*q.send.each:], wr.SGL)
		if wr.Flags&verbs.Inline != 0 && length > q.cfg.MaxInline {
			return i
		}
		if op.imm {
			binary.BigEndian.PutUint32(w.anon0[:], wr.Imm)
		}
		switch part := unsafe.Pointer(&w.wr); op.part {
		case remote:
			*(*rdmaPart)(part) = rdmaPart{wr.RemoteAddr, wr.RKey}
		case swap:
			*(*atomicPart)(part) = atomicPart{wr.RemoteAddr, wr.Compare, wr.Swap, wr.RKey}
		case add:
			*(*atomicPart)(part) = atomicPart{wr.RemoteAddr, wr.Add, 0, wr.RKey}
		}
	}
	return len(wrs)
}

// postOther posts a request that is not for a chain, or returns why it is invalid.
func (q *qp) postOther(wr *verbs.SendWR) error {
	if err := q.check(wr); err != nil {
		return err
	}
	return q.postExtended(wr)
}

// check detects requests that libibverbs or the card would refuse with less explanation. It cannot detect
// a full queue: only the library can.
func (q *qp) check(wr *verbs.SendWR) error {
	err := q.cfg.CheckSend(q.num, &q.d.attr, wr, false)
	if errors.Is(err, verbs.ErrUnsupported) {
		err = fmt.Errorf("%w: %s, its driver or libibverbs does not support it (it needs Linux 6.2 and rdma-core 46)", err, q.d.name)
	}
	return err
}

// refused returns the error of a post; first is the index of the chain's first request.
func (q *qp) refused(post *C.struct_vb_post, first int) error {
	return &verbs.PostError{Index: first + int(post.at), Err: q.postError(syscall.Errno(post.err))}
}

func (q *qp) postError(e syscall.Errno) error {
	if dead := q.d.alive(); dead != nil {
		return dead
	}
	switch e {
	case syscall.ENOMEM:
		return fmt.Errorf("%w: QP %d of %s", verbs.ErrQueueFull, q.num, q.d.name)
	case syscall.EINVAL:
		if err := q.ask().CheckPostSend(q.num); err != nil {
			return err
		}
	}
	return callError(q.d.name, fmt.Sprintf("QP %d: post", q.num), e, "")
}

// postExtended posts operations that struct ibv_send_wr cannot express.
func (q *qp) postExtended(wr *verbs.SendWR) error {
	x := C.struct_vb_ext{id: C.uint64_t(wr.ID), remote: C.uint64_t(wr.RemoteAddr), rkey: C.uint32_t(wr.RKey),
		flags: C.uint32_t(sendFlags[wr.Flags&^verbs.Inline])}
	if wr.Op == verbs.OpFlush {
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
		// The interface takes the eight bytes, not their address: they are read here,
		// so they must be memory that the caller has registered.
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
	err := q.mayPost(q.state.CanPostRecv())
	for done := 0; err == nil && done < len(wrs); {
		n := q.fillRecv(wrs[done:])
		if n == 0 {
			return &verbs.PostError{Index: done, Err: q.cfg.CheckRecv(q.num, &wrs[done], false)}
		}
		post := q.recv.post
		post.n = C.int(n)
		C.vb_post_recv(ref(post))
		if post.err != 0 {
			err = q.refused(post, done)
		}
		done += n
	}
	return err
}

// fillRecv is fill for receives.
func (q *qp) fillRecv(wrs []verbs.RecvWR) int {
	for i := range wrs {
		wr := &wrs[i]
		if i == len(q.recv.wrs) || len(wr.SGL) > q.cfg.MaxSGE {
			return i
		}
		w := &q.recv.wrs[i]
		w.wr_id, w.num_sge = C.uint64_t(wr.ID), C.int(len(wr.SGL))
		setList(q.recv.sges[i*q.recv.each:], wr.SGL)
	}
	return len(wrs)
}
