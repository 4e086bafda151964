//go:build rdma

package hw

/*
#include "binding.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/internal/sleepers"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// channel is a completion channel. It implements verbs.CompChannel.
//
// One goroutine receives events and wakes those that wait for their CQs, as package
// sleepers explains.
type channel struct {
	d      *device
	c      *C.struct_ibv_comp_channel
	events *descriptor
	mu     sync.Mutex
	gone   bool
	cqs    []*cq
	next   int // the CQ to check first, for fairness
	asleep sleepers.Room
}

// CreateCompChannel implements verbs.Device.
func (d *device) CreateCompChannel() (verbs.CompChannel, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	c, err := C.ibv_create_comp_channel(d.ctx)
	if c == nil {
		return nil, d.errno("create a completion channel", err, "is the limit on open files reached?")
	}
	ch := &channel{d: d, c: c}
	ch.events, err = watch(d.name, c.fd, func() bool {
		for {
			q := C.vb_event_of(c)
			if q == nil {
				return d.dead.Load() == nil
			}
			ch.woken(q)
		}
	})
	if err != nil {
		C.ibv_destroy_comp_channel(c)
		return nil, err
	}
	d.open.Add(1)
	d.mu.Lock()
	d.channels = append(d.channels, ch)
	d.mu.Unlock()
	return ch, nil
}

// add creates the CQ and attaches it to the channel.
func (ch *channel) add(q *cq, depth int) error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.gone {
		return fmt.Errorf("hw: %s: create CQ: %w: the channel", ch.d.name, verbs.ErrClosed)
	}
	// Interrupts of different CQs go to different cores.
	vector := (ch.d.vector.Add(1) - 1) % uint32(max(ch.d.ctx.num_comp_vectors, 1))
	c, err := C.ibv_create_cq(ch.d.ctx, C.int(depth), nil, ch.c, C.int(vector))
	if c == nil {
		return ch.d.errno(fmt.Sprintf("create a CQ of %d entries", depth), err, hintRegister(errnoOf(err), lockLimit()))
	}
	q.c, q.handle, q.stash.cq = c, uint32(c.handle), c
	ch.cqs = append(ch.cqs, q)
	return nil
}

func (ch *channel) remove(q *cq) {
	ch.mu.Lock()
	ch.cqs = slices.DeleteFunc(ch.cqs, func(x *cq) bool { return x == q })
	ch.mu.Unlock()
	ch.wakeAll() // wakes those who wait for it
}

// Destroy implements verbs.CompChannel.
func (ch *channel) Destroy() error {
	ch.mu.Lock()
	n, gone := len(ch.cqs), ch.gone
	ch.gone = ch.gone || n == 0
	ch.mu.Unlock()
	if err := verbs.CheckDestroyChannel(gone, n); err != nil {
		return fmt.Errorf("hw: %s: destroy a channel: %w", ch.d.name, err)
	}
	ch.wakeAll()
	ch.events.close()
	ch.d.mu.Lock()
	ch.d.channels = slices.DeleteFunc(ch.d.channels, func(x *channel) bool { return x == ch })
	ch.d.mu.Unlock()
	ch.d.open.Add(-1)
	if rc := C.ibv_destroy_comp_channel(ch.c); rc != 0 {
		return ch.d.err("destroy a channel", rc, "")
	}
	return nil
}

func (ch *channel) wakeAll() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.asleep.WakeAll()
}

// woken is called for an event of a CQ. A CQ that has left the channel has no waiters.
func (ch *channel) woken(c *C.struct_ibv_cq) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for _, q := range ch.cqs {
		if q.c == c {
			ch.asleep.Wake(q)
		}
	}
}

// fail marks the CQ with the handle as failed, if it is here, and wakes those that wait.
func (ch *channel) fail(handle uint32, why *string) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for _, q := range ch.cqs {
		if q.handle == handle {
			q.failed.Store(why)
			ch.asleep.WakeAll()
		}
	}
}

// wait returns when ready returns true. It polls for a while and then sleeps, on the
// sleeper that join returns; arm requests an event from the CQs. It reads the clock only
// after the first few polls: on some machines a reading costs more than these polls.
func (ch *channel) wait(timeout time.Duration, join func() *sleepers.Sleeper, ready func() (bool, error), arm func() error) error {
	var start time.Time
	for i := 1; ; i++ {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		if timeout == 0 {
			return verbs.ErrTimeout
		}
		if i%16 != 0 {
			continue
		}
		if start.IsZero() {
			start = time.Now()
		}
		if t := time.Since(start); t >= ch.d.cfg.Spin || timeout > 0 && t >= timeout {
			break
		}
		runtime.Gosched()
	}
	ch.mu.Lock()
	w := join()
	ch.mu.Unlock()
	defer ch.leave(w)
	if timeout > 0 {
		w.Timer.Reset(timeout - time.Since(start))
	}
	for {
		if err := arm(); err != nil {
			return err
		}
		// A completion before the CQ was armed causes no event: check once more.
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case <-w.C:
		case <-w.Timer.C:
			if ok, err := ready(); ok || err != nil {
				return err
			}
			return verbs.ErrTimeout
		}
	}
}

func (ch *channel) leave(w *sleepers.Sleeper) {
	ch.mu.Lock()
	ch.asleep.Leave(w)
	ch.mu.Unlock()
}

// Wait implements verbs.CompChannel.
func (ch *channel) Wait(timeout time.Duration) (found verbs.CQ, err error) {
	err = ch.wait(timeout, ch.asleep.JoinAny, func() (bool, error) {
		q, err := ch.look()
		if q != nil {
			found = q
		}
		return q != nil, err
	}, ch.armAll)
	return found, err
}

// look returns a CQ that has completions, or nil.
func (ch *channel) look() (*cq, error) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.gone {
		return nil, fmt.Errorf("hw: %s: wait: %w: the channel", ch.d.name, verbs.ErrClosed)
	}
	if len(ch.cqs) == 0 {
		return nil, ch.d.alive()
	}
	for i := range ch.cqs {
		at := (ch.next + i) % len(ch.cqs)
		q := ch.cqs[at]
		ok, err := q.has()
		switch {
		case errors.Is(err, verbs.ErrClosed): // the CQ is about to leave the channel
		case err != nil:
			return nil, err
		case ok:
			ch.next = at + 1
			return q, nil
		}
	}
	return nil, nil
}

func (ch *channel) armAll() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for _, q := range ch.cqs {
		if err := q.arm(); err != nil && !errors.Is(err, verbs.ErrClosed) {
			return err
		}
	}
	return nil
}

// has reports whether x belongs to the channel.
func (ch *channel) has(x verbs.CQ) bool {
	q, ok := x.(*cq)
	return ok && q.ch == ch
}

// Gather implements verbs.CompChannel.
func (ch *channel) Gather(cqs []verbs.CQ, wc []verbs.WC, timeout time.Duration) error {
	if err := verbs.CheckGather(cqs, wc, ch.has); err != nil {
		return fmt.Errorf("hw: %s: gather: %w", ch.d.name, err)
	}
	if len(cqs) == 0 {
		return nil
	}
	join := func() *sleepers.Sleeper { return ch.asleep.JoinAll(cqs) }
	err := ch.wait(timeout, join, func() (bool, error) { return allHave(cqs) }, func() error {
		for _, x := range cqs {
			if err := x.(*cq).arm(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, x := range cqs {
		if n, err := x.Poll(wc[i : i+1]); n == 0 || err != nil {
			return joinErr(fmt.Errorf("hw: %s: gather: CQ %d was polled by another task meanwhile", ch.d.name, i), err)
		}
	}
	return nil
}

func allHave(cqs []verbs.CQ) (bool, error) {
	for _, x := range cqs {
		if ok, err := x.(*cq).has(); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func joinErr(a, b error) error {
	if b == nil {
		return a
	}
	return errors.Join(a, b)
}
