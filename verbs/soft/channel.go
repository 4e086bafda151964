package soft

import (
	"slices"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// channel is a completion channel. It implements verbs.CompChannel. One lock guards it
// and its CQs, so that a look at several of them is a look at one moment.
type channel struct {
	d       *device
	mu      sync.Mutex
	gone    bool
	cqs     []*cq
	next    int // the CQ to look at first, so that all get their turn
	waiters []*waiter
	idle    []*waiter // of earlier waits, because a wait must not allocate
}

// waiter is a sleeping wait.
type waiter struct {
	wake  chan struct{}
	timer *time.Timer
}

// CreateCompChannel implements verbs.Device.
func (d *device) CreateCompChannel() (verbs.CompChannel, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	d.open.Add(1)
	return &channel{d: d}, nil
}

// Destroy implements verbs.CompChannel.
func (ch *channel) Destroy() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	switch {
	case ch.gone:
		return ch.d.errorf("destroy a channel: %w", verbs.ErrClosed)
	case len(ch.cqs) > 0:
		return ch.d.errorf("destroy a channel: %w: %d CQs report on it", verbs.ErrBusy, len(ch.cqs))
	}
	ch.gone = true
	ch.wake()
	ch.d.open.Add(-1)
	return nil
}

// wake lets all that wait look again. ch is locked.
func (ch *channel) wake() {
	for _, w := range ch.waiters {
		select {
		case w.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

// wait returns when ready, which is called with ch locked, says so.
func (ch *channel) wait(timeout time.Duration, ready func() (bool, error)) error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ok, err := ready(); ok || err != nil {
		return err
	}
	if timeout == 0 {
		return verbs.ErrTimeout
	}
	w := ch.join()
	if timeout > 0 {
		w.timer.Reset(timeout)
	}
	defer ch.leave(w)
	for late := false; ; {
		ch.mu.Unlock()
		select {
		case <-w.wake:
		case <-w.timer.C:
			late = true
		}
		ch.mu.Lock()
		if ok, err := ready(); ok || err != nil {
			return err
		}
		if late {
			return verbs.ErrTimeout
		}
	}
}

// join is the beginning of a wait. ch is locked.
func (ch *channel) join() *waiter {
	var w *waiter
	if n := len(ch.idle); n > 0 {
		w, ch.idle = ch.idle[n-1], ch.idle[:n-1]
	} else {
		w = &waiter{wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
		w.timer.Stop()
	}
	ch.waiters = append(ch.waiters, w)
	return w
}

// leave is the end of a wait. ch is locked.
func (ch *channel) leave(w *waiter) {
	i := slices.Index(ch.waiters, w)
	ch.waiters = slices.Delete(ch.waiters, i, i+1)
	w.timer.Stop()
	select {
	case <-w.wake:
	default:
	}
	ch.idle = append(ch.idle, w)
}

// Wait implements verbs.CompChannel.
func (ch *channel) Wait(timeout time.Duration) (found verbs.CQ, err error) {
	err = ch.wait(timeout, func() (bool, error) {
		if ch.gone {
			return false, ch.d.errorf("wait: %w: the channel", verbs.ErrClosed)
		}
		for i := range ch.cqs {
			at := (ch.next + i) % len(ch.cqs)
			q := ch.cqs[at]
			if err := q.usable(); err != nil {
				return false, err
			}
			if q.n > 0 {
				ch.next, found = at+1, q
				return true, nil
			}
		}
		return false, nil
	})
	return found, err
}

// has reports whether x is of the channel.
func (ch *channel) has(x verbs.CQ) bool {
	q, ok := x.(*cq)
	return ok && q.ch == ch
}

// Gather implements verbs.CompChannel.
func (ch *channel) Gather(cqs []verbs.CQ, wc []verbs.WC, timeout time.Duration) error {
	if err := verbs.CheckGather(cqs, wc, ch.has); err != nil {
		return ch.d.errorf("gather: %w", err)
	}
	return ch.wait(timeout, func() (bool, error) {
		for _, x := range cqs {
			q := x.(*cq)
			if err := q.usable(); err != nil {
				return false, err
			}
			if q.n == 0 {
				return false, nil
			}
		}
		for i, x := range cqs {
			x.(*cq).take(wc[i : i+1])
		}
		return true, nil
	})
}
