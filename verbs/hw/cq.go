//go:build rdma

package hw

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/internal/sleepers"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Both must have the same layout, because C writes completions directly into Go memory.
var _ = [1]struct{}{}[unsafe.Sizeof(verbs.WC{})-unsafe.Sizeof(C.struct_vb_wc{})]

var _ = [1]struct{}{}[unsafe.Offsetof(verbs.WC{}.HasImm)-unsafe.Offsetof(C.struct_vb_wc{}.has_imm)+
	unsafe.Offsetof(verbs.WC{}.VendorErr)-unsafe.Offsetof(C.struct_vb_wc{}.vendor)+
	unsafe.Offsetof(verbs.WC{}.QPNum)-unsafe.Offsetof(C.struct_vb_wc{}.qpn)]

// cq is a completion queue. It implements verbs.CQ.
//
// A channel reports that a CQ has completions, and Gather waits for a completion of each
// of several CQs: both must check without consuming. A post checks as well, since it is
// already in C. So every completion is first polled into the stash, and Poll takes it from
// there.
type cq struct {
	d      *device
	ch     *channel
	own    bool                   // the channel is for this CQ alone
	c      *C.struct_ibv_cq       // identifies the CQ of an event; guarded by the lock of the channel
	handle uint32                 // likewise
	failed atomic.Pointer[string] // the card has reported that it lost completions
	mu     sync.Mutex
	refs   int                   // queue pairs
	stash  *C.struct_vb_stash    // in C memory; nil after Destroy
	wcs    *[C.VB_STASH]verbs.WC // the stash's completions
	at     int                   // wcs[at:stash.n] are not yet polled
}

// CreateCQ implements verbs.Device.
func (d *device) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	if err := verbs.CheckDepth(depth, d.maxCQE); err != nil {
		return nil, fmt.Errorf("hw: %s: create CQ: %w", d.name, err)
	}
	q := &cq{d: d}
	if ch == nil { // a wait needs a channel to sleep on
		own, err := d.CreateCompChannel()
		if err != nil {
			return nil, err
		}
		ch, q.own = own, true
	}
	c, ok := ch.(*channel)
	if !ok || c.d != d {
		return nil, fmt.Errorf("hw: %s: create CQ: %w: the channel is of another device", d.name, verbs.ErrInvalid)
	}
	q.ch = c
	stash := zeroed[C.struct_vb_stash](1)
	if stash == nil {
		err := fmt.Errorf("hw: %s: create CQ: %w", d.name, syscall.ENOMEM)
		if q.own {
			err = joinErr(err, c.Destroy())
		}
		return nil, err
	}
	q.stash = &stash[0]
	q.wcs = (*[C.VB_STASH]verbs.WC)(unsafe.Pointer(&q.stash.wc))
	if err := c.add(q, depth); err != nil {
		q.freeStash()
		if q.own {
			err = joinErr(err, c.Destroy())
		}
		return nil, err
	}
	d.open.Add(1)
	return q, nil
}

// Destroy implements verbs.CQ.
func (q *cq) Destroy() error {
	q.mu.Lock()
	err := q.destroy()
	q.mu.Unlock()
	if err != nil {
		return err
	}
	q.ch.remove(q)
	q.d.open.Add(-1)
	if q.own {
		return q.ch.Destroy()
	}
	return nil
}

func (q *cq) destroy() error {
	if err := verbs.CheckDestroyCQ(q.stash == nil, q.refs); err != nil {
		return fmt.Errorf("hw: %s: destroy CQ: %w", q.d.name, err)
	}
	if rc := C.ibv_destroy_cq(q.stash.cq); rc != 0 {
		return q.d.err("destroy CQ", rc, "")
	}
	q.freeStash()
	return nil
}

func (q *cq) freeStash() {
	C.free(unsafe.Pointer(q.stash))
	q.stash, q.wcs = nil, nil
}

// use adds n to the number of queue pairs that use the CQ.
func (q *cq) use(n int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stash == nil {
		return verbs.ErrClosed
	}
	q.refs += n
	return nil
}

// Poll implements verbs.CQ.
func (q *cq) Poll(wc []verbs.WC) (n int, err error) {
	if err := verbs.CheckRoom(wc); err != nil {
		return 0, fmt.Errorf("hw: %s: poll: %w", q.d.name, err)
	}
	q.mu.Lock()
	if q.stash == nil || q.at == int(q.stash.n) {
		err = q.ask()
	}
	for ; err == nil && n < len(wc) && q.at < int(q.stash.n); n++ {
		wc[n] = q.wcs[q.at]
		q.at++
	}
	q.mu.Unlock()
	return n, err
}

// ask polls the card, if the stash is empty. A dead device may still have completions;
// once it has none, no more will arrive. The caller holds q.mu.
func (q *cq) ask() error {
	if q.stash == nil {
		return fmt.Errorf("hw: %s: poll: %w", q.d.name, verbs.ErrClosed)
	}
	q.at, q.stash.n = 0, 0
	C.vb_poll(ref(q.stash))
	if e := q.stash.err; e != 0 {
		return callError(q.d.name, "poll", syscall.Errno(e), "has the CQ overflowed? It must hold all completions of its QPs")
	}
	if q.stash.n == 0 {
		return q.lost()
	}
	return nil
}

// lost returns the reason why an empty CQ will get no more completions, or nil.
func (q *cq) lost() error {
	if q.d.dead.Load() != nil {
		return q.d.alive()
	}
	if why := q.failed.Load(); why != nil {
		return fmt.Errorf("hw: %s: poll: %w: the CQ has overflowed: it must hold all completions of its QPs (%s)", q.d.name, verbs.ErrInvalid, *why)
	}
	return nil
}

// reserve locks q.mu and makes room in the stash. It returns false, without the lock, if
// another caller is using the CQ.
func (q *cq) reserve() bool {
	if !q.mu.TryLock() {
		return false
	}
	if q.at == int(q.stash.n) {
		q.at, q.stash.n = 0, 0
	}
	return true
}

// forget drops the completions of a queue pair that is reset or gone: the card has
// dropped them too.
func (q *cq) forget(qp uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.at
	for i := q.at; i < int(q.stash.n); i++ {
		if q.wcs[i].QPNum != qp {
			q.wcs[kept] = q.wcs[i]
			kept++
		}
	}
	q.stash.n = C.int(kept)
}

// has reports whether there is a completion, without consuming it.
func (q *cq) has() (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stash == nil || q.at == int(q.stash.n) {
		if err := q.ask(); err != nil {
			return false, err
		}
	}
	return q.at < int(q.stash.n), nil
}

// arm requests an event at the next completion.
func (q *cq) arm() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stash == nil {
		return fmt.Errorf("hw: %s: wait: %w", q.d.name, verbs.ErrClosed)
	}
	if rc := C.vb_arm(q.stash.cq); rc != 0 {
		return q.d.err("request an event", rc, "")
	}
	return nil
}

// Wait implements verbs.CQ.
func (q *cq) Wait(wc []verbs.WC, timeout time.Duration) (n int, err error) {
	join := func() *sleepers.Sleeper { return q.ch.asleep.Join(q) }
	err = q.ch.wait(timeout, join, func() (bool, error) {
		n, err = q.Poll(wc)
		return n > 0, err
	}, q.arm)
	return n, err
}
