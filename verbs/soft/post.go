package soft

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// slot is a request in the send queue. Later requests reuse its memory.
type slot struct {
	id       uint64
	req      request
	list     []verbs.SGE
	inline   []byte // the payload, if it was copied at the post
	isInline bool
	signaled bool
	fence    bool
	got      uint32       // bytes that have been returned
	local    verbs.Status // the local error, if any
}

// receive is a request in the receive queue.
type receive struct {
	id     uint64
	list   []verbs.SGE
	length int
}

func (q *qp) slot(i uint64) *slot { return &q.sq[i%uint64(len(q.sq))] }

// PostSend implements verbs.QP.
func (q *qp) PostSend(wrs []verbs.SendWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range wrs {
		if err := q.postOne(&wrs[i]); err != nil {
			q.start()
			return &verbs.PostError{Index: i, Err: err}
		}
	}
	q.start()
	return nil
}

// start lets the posted requests be sent, or flushes them.
func (q *qp) start() {
	switch {
	case q.state == verbs.StateErr:
		q.flush()
	case q.head == q.tail:
	case q.out == nil:
		q.out = newLink(q)
		q.d.tasks.Go(q.out.run)
	default:
		q.out.kick()
	}
}

func (q *qp) postOne(wr *verbs.SendWR) error {
	if err := q.check(wr); err != nil {
		return err
	}
	s := q.slot(q.tail)
	n := wr.Length()
	*s = slot{id: wr.ID, list: append(s.list[:0], wr.SGL...), isInline: wr.Flags&verbs.Inline != 0,
		signaled: wr.Flags&verbs.Signaled != 0 || q.cfg.SignalAll, fence: wr.Flags&verbs.Fence != 0}
	s.req = request{op: wr.Op, rkey: wr.RKey, addr: wr.RemoteAddr, imm: wr.Imm, length: uint32(n)}
	switch {
	case wr.Op == verbs.OpFlush:
		s.req.flush, s.req.whole, s.req.length = wr.FlushTo, wr.FlushMR, wr.FlushLen
	case wr.Op == verbs.OpCompareSwap:
		s.req.a, s.req.b = wr.Compare, wr.Swap
	case wr.Op == verbs.OpFetchAdd:
		s.req.a = wr.Add
	}
	switch {
	case !wr.Op.Fits(n), n > maxMessage:
		s.local = verbs.StatusLocLenErr
	case s.isInline:
		s.inline = q.room(q.tail)[:n]
		s.local = q.pd.gather(s.inline, s.list, 0)
	}
	q.tail++
	return nil
}

// room returns the buffer for the payload of an inline request at a position.
func (q *qp) room(i uint64) []byte {
	if q.inlines == nil {
		q.inlines = make([]byte, len(q.sq)*q.cfg.MaxInline)
	}
	at := int(i%uint64(len(q.sq))) * q.cfg.MaxInline
	return q.inlines[at : at+q.cfg.MaxInline]
}

// check returns the error with which a card would refuse the request.
func (q *qp) check(wr *verbs.SendWR) error {
	if q.gone {
		return fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)
	}
	if err := q.state.CheckPostSend(q.num); err != nil {
		return err
	}
	attr := q.d.Attr()
	return q.cfg.CheckSend(q.num, &attr, wr, q.tail-q.freed.Load() >= uint64(len(q.sq)))
}

// PostRecv implements verbs.QP and verbs.PreparedQP.
func (q *qp) PostRecv(wrs []verbs.RecvWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var err error
	for i := 0; err == nil && i < len(wrs); i++ {
		if err = q.postRecv(&wrs[i]); err != nil {
			err = &verbs.PostError{Index: i, Err: err}
		}
	}
	if q.state == verbs.StateErr && !q.gone {
		q.flush()
	}
	return err
}

func (q *qp) postRecv(wr *verbs.RecvWR) error {
	if q.gone {
		return fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)
	}
	if err := q.state.CheckPostRecv(q.num); err != nil {
		return err
	}
	if err := q.cfg.CheckRecv(q.num, wr, q.rtail-q.rfreed.Load() >= uint64(len(q.rq))); err != nil {
		return err
	}
	r := q.receive(q.rtail)
	r.id, r.list, r.length = wr.ID, append(r.list[:0], wr.SGL...), wr.Length()
	q.rtail++
	return nil
}

func (q *qp) receive(i uint64) *receive { return &q.rq[i%uint64(len(q.rq))] }
