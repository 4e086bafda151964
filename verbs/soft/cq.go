package soft

import (
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/internal/sleepers"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// entry is a completion, and the number of slots that it frees in the send queue or the
// receive queue.
type entry struct {
	wc    verbs.WC
	q     *qp
	slots uint64
	recv  bool
}

// cq is a completion queue. It implements verbs.CQ. Its lock is that of its channel.
type cq struct {
	d       *device
	ch      *channel
	own     bool // the channel is for this CQ alone
	ring    []entry
	at, n   int // ring[at:at+n] has not been polled
	refs    int // queue pairs
	overrun bool
	gone    bool
}

// CreateCQ implements verbs.Device.
func (d *device) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	if err := verbs.CheckDepth(depth, maxCQE); err != nil {
		return nil, d.errorf("create CQ: %w", err)
	}
	q := &cq{d: d, ring: make([]entry, depth)}
	if ch == nil { // a wait sleeps on a channel, so there is one
		own, err := d.CreateCompChannel()
		if err != nil {
			return nil, err
		}
		ch, q.own = own, true
	}
	c, ok := ch.(*channel)
	if !ok || c.d != d {
		return nil, d.errorf("create CQ: %w: the channel is of another device", verbs.ErrInvalid)
	}
	q.ch = c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil, d.errorf("create CQ: %w: the channel", verbs.ErrClosed)
	}
	c.cqs = append(c.cqs, q)
	d.open.Add(1)
	return q, nil
}

// Destroy implements verbs.CQ.
func (q *cq) Destroy() error {
	q.ch.mu.Lock()
	if err := verbs.CheckDestroyCQ(q.gone, q.refs); err != nil {
		q.ch.mu.Unlock()
		return q.d.errorf("destroy CQ: %w", err)
	}
	q.gone = true
	q.ch.cqs = slices.DeleteFunc(q.ch.cqs, func(x *cq) bool { return x == q })
	q.ch.asleep.WakeAll() // waiting tasks return an error
	q.ch.mu.Unlock()
	q.d.open.Add(-1)
	if q.own {
		return q.ch.Destroy()
	}
	return nil
}

// use adds n to the number of queue pairs that use the CQ.
func (q *cq) use(n int) error {
	q.ch.mu.Lock()
	defer q.ch.mu.Unlock()
	if q.gone {
		return verbs.ErrClosed
	}
	q.refs += n
	return nil
}

// push adds a completion. If there is no room, it is lost and the CQ has overflowed, as on a card.
func (q *cq) push(e entry) {
	q.ch.mu.Lock()
	if q.n == len(q.ring) {
		q.overrun = true
	} else {
		q.ring[(q.at+q.n)%len(q.ring)] = e
		q.n++
	}
	q.ch.asleep.Wake(q)
	q.ch.mu.Unlock()
}

// forget drops the completions of a queue pair that is reset or destroyed.
func (q *cq) forget(qp *qp) {
	q.ch.mu.Lock()
	defer q.ch.mu.Unlock()
	kept := 0
	for i := range q.n {
		e := q.ring[(q.at+i)%len(q.ring)]
		if e.q != qp {
			q.ring[(q.at+kept)%len(q.ring)] = e
			kept++
		}
	}
	q.n = kept
}

// usable returns nil unless the CQ is destroyed or has overflowed. The channel is locked.
func (q *cq) usable() error {
	switch {
	case q.gone:
		return q.d.errorf("poll: %w", verbs.ErrClosed)
	case q.overrun:
		return q.d.errorf("poll: %w: the CQ has overflowed: it must hold all completions of its QPs", verbs.ErrInvalid)
	}
	return nil
}

// take moves completions into wc. The channel is locked.
func (q *cq) take(wc []verbs.WC) (n int) {
	for ; n < len(wc) && q.n > 0; n++ {
		e := &q.ring[q.at]
		wc[n] = e.wc
		if e.recv {
			e.q.rfreed.Add(e.slots)
		} else {
			e.q.freed.Add(e.slots)
		}
		e.q = nil
		q.at = (q.at + 1) % len(q.ring)
		q.n--
	}
	return n
}

// Poll implements verbs.CQ.
func (q *cq) Poll(wc []verbs.WC) (int, error) {
	if err := verbs.CheckRoom(wc); err != nil {
		return 0, q.d.errorf("poll: %w", err)
	}
	q.ch.mu.Lock()
	defer q.ch.mu.Unlock()
	if err := q.usable(); err != nil {
		return 0, err
	}
	return q.take(wc), nil
}

// Wait implements verbs.CQ.
func (q *cq) Wait(wc []verbs.WC, timeout time.Duration) (n int, err error) {
	if err := verbs.CheckRoom(wc); err != nil {
		return 0, q.d.errorf("wait: %w", err)
	}
	err = q.ch.wait(timeout, func() *sleepers.Sleeper { return q.ch.asleep.Join(q) }, func() (bool, error) {
		if err := q.usable(); err != nil {
			return false, err
		}
		n = q.take(wc)
		return n > 0, nil
	})
	return n, err
}
