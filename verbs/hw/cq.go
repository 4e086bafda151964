//go:build rdma

package hw

/*
#include "binding.h"
#cgo noescape vb_poll
#cgo nocallback vb_poll
*/
import "C"

import (
	"fmt"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// pollBatch is how many completions one call into C takes at most.
const pollBatch = 64

// The two must have one layout, because C writes completions where Go reads them.
var _ = [1]struct{}{}[unsafe.Sizeof(verbs.WC{})-unsafe.Sizeof(C.struct_vb_wc{})]

var _ = [1]struct{}{}[unsafe.Offsetof(verbs.WC{}.HasImm)-unsafe.Offsetof(C.struct_vb_wc{}.has_imm)+
	unsafe.Offsetof(verbs.WC{}.VendorErr)-unsafe.Offsetof(C.struct_vb_wc{}.vendor)+
	unsafe.Offsetof(verbs.WC{}.QPNum)-unsafe.Offsetof(C.struct_vb_wc{}.qpn)]

// cq is a completion queue. It implements verbs.CQ.
//
// A channel says that a CQ has completions, and Gather wants one of each of
// several: both must look without taking. Hence the stash: completions that came
// out of the card and that nobody has polled. A post fills it too.
type cq struct {
	d    *device
	ch   *channel
	own  bool // the channel is for this CQ alone
	mu   sync.Mutex
	c    *C.struct_ibv_cq // nil after Destroy
	refs int              // queue pairs
	// stash[at:n] are in it.
	stash [pollBatch]verbs.WC
	at, n int
}

// CreateCQ implements verbs.Device.
func (d *device) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	if depth <= 0 || depth > d.maxCQE {
		return nil, fmt.Errorf("hw: %s: create CQ: %w: depth is %d, and must be 1 to %d", d.name, verbs.ErrInvalid, depth, d.maxCQE)
	}
	q := &cq{d: d}
	if ch == nil { // a wait sleeps on a channel, so there is one
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
	if err := c.add(q, depth); err != nil {
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
	switch {
	case q.c == nil:
		return fmt.Errorf("hw: %s: destroy CQ: %w", q.d.name, verbs.ErrClosed)
	case q.refs > 0:
		return fmt.Errorf("hw: %s: destroy CQ: %w: %d QPs use it", q.d.name, verbs.ErrBusy, q.refs)
	}
	if rc := C.ibv_destroy_cq(q.c); rc != 0 {
		return q.d.err("destroy CQ", rc, "")
	}
	q.c = nil
	return nil
}

// use counts a queue pair in, or out again.
func (q *cq) use(n int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.c == nil {
		return verbs.ErrClosed
	}
	q.refs += n
	return nil
}

// Poll implements verbs.CQ.
func (q *cq) Poll(wc []verbs.WC) (int, error) {
	if len(wc) == 0 {
		return 0, fmt.Errorf("hw: %s: poll: %w: no room for completions", q.d.name, verbs.ErrInvalid)
	}
	q.mu.Lock()
	if q.at < q.n {
		n := copy(wc, q.stash[q.at:q.n])
		q.at += n
		q.mu.Unlock()
		return n, nil
	}
	n, err := q.poll(wc)
	q.mu.Unlock()
	return n, err
}

// poll asks the card. q.mu is held.
func (q *cq) poll(wc []verbs.WC) (int, error) {
	if q.c == nil {
		return 0, fmt.Errorf("hw: %s: poll: %w", q.d.name, verbs.ErrClosed)
	}
	n := int(C.vb_poll(ref(q.c), C.int(min(len(wc), pollBatch)), (*C.struct_vb_wc)(unsafe.Pointer(&wc[0]))))
	if n < 0 {
		return 0, callError(q.d.name, "poll", syscall.Errno(-n), "has the CQ overflowed? It must hold all completions of its QPs")
	}
	return n, nil
}

// reserve is the free part of the stash, with q.mu held; nil, without it, if somebody
// else has it.
func (q *cq) reserve() []verbs.WC {
	if !q.mu.TryLock() {
		return nil
	}
	if q.at == q.n {
		q.at, q.n = 0, 0
	}
	return q.stash[q.n:]
}

// has reports whether there is a completion, without taking it.
func (q *cq) has() (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.at < q.n {
		return true, nil
	}
	n, err := q.poll(q.stash[:])
	q.at, q.n = 0, n
	return n > 0, err
}

// arm asks for an event at the next completion.
func (q *cq) arm() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.c == nil {
		return fmt.Errorf("hw: %s: wait: %w", q.d.name, verbs.ErrClosed)
	}
	if rc := C.vb_arm(q.c); rc != 0 {
		return q.d.err("ask for an event", rc, "")
	}
	return nil
}

// Wait implements verbs.CQ.
func (q *cq) Wait(wc []verbs.WC, timeout time.Duration) (n int, err error) {
	err = q.ch.wait(timeout, func() (bool, error) {
		n, err = q.Poll(wc)
		return n > 0, err
	}, q.arm)
	return n, err
}
