package soft

import (
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/internal/sleepers"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// channel is a completion channel. It implements verbs.CompChannel. One lock guards the
// channel and its CQs, so that several CQs can be read at one moment.
type channel struct {
	d      *device
	mu     sync.Mutex
	gone   bool
	cqs    []*cq
	next   int // the CQ to poll first, for fairness
	asleep sleepers.Room
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
	if err := verbs.CheckDestroyChannel(ch.gone, len(ch.cqs)); err != nil {
		return ch.d.errorf("destroy a channel: %w", err)
	}
	ch.gone = true
	ch.asleep.WakeAll()
	ch.d.open.Add(-1)
	return nil
}

// wait returns when ready returns true; ready is called with ch locked. It sleeps on the
// sleeper that join returns.
func (ch *channel) wait(timeout time.Duration, join func() *sleepers.Sleeper, ready func() (bool, error)) error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ok, err := ready(); ok || err != nil {
		return err
	}
	if timeout == 0 {
		return verbs.ErrTimeout
	}
	w := join()
	if timeout > 0 {
		w.Timer.Reset(timeout)
	}
	defer ch.asleep.Leave(w)
	for late := false; ; {
		ch.mu.Unlock()
		select {
		case <-w.C:
		case <-w.Timer.C:
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

// Wait implements verbs.CompChannel.
func (ch *channel) Wait(timeout time.Duration) (found verbs.CQ, err error) {
	err = ch.wait(timeout, ch.asleep.JoinAny, func() (bool, error) {
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

// has reports whether x belongs to the channel.
func (ch *channel) has(x verbs.CQ) bool {
	q, ok := x.(*cq)
	return ok && q.ch == ch
}

// Gather implements verbs.CompChannel.
func (ch *channel) Gather(cqs []verbs.CQ, wc []verbs.WC, timeout time.Duration) error {
	if err := verbs.CheckGather(cqs, wc, ch.has); err != nil {
		return ch.d.errorf("gather: %w", err)
	}
	return ch.wait(timeout, func() *sleepers.Sleeper { return ch.asleep.JoinAll(cqs) }, func() (bool, error) {
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
