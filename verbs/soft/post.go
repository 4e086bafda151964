package soft

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// slot is a request in the send queue. Its memory is used again by later requests.
type slot struct {
	id       uint64
	req      request
	list     []verbs.SGE
	inline   []byte // the payload, if it was taken when the request was posted
	isInline bool
	signaled bool
	fence    bool
	got      uint32       // bytes that have been returned
	local    verbs.Status // what is wrong with it here
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

// start lets what was posted be sent, or flushes it.
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
	switch atomic := wr.Op.IsAtomic() || wr.Op == verbs.OpAtomicWrite; {
	case atomic && n != word, n > maxMessage:
		s.local = verbs.StatusLocLenErr
	case s.isInline:
		s.inline = q.room(q.tail)[:n]
		s.local = q.pd.gather(s.inline, s.list, 0)
	}
	q.tail++
	return nil
}

// room is where the payload of an inline request at a position goes.
func (q *qp) room(i uint64) []byte {
	if q.inlines == nil {
		q.inlines = make([]byte, len(q.sq)*q.cfg.MaxInline)
	}
	at := int(i%uint64(len(q.sq))) * q.cfg.MaxInline
	return q.inlines[at : at+q.cfg.MaxInline]
}

// check finds what a card would refuse to take.
func (q *qp) check(wr *verbs.SendWR) error {
	const anyFlags = verbs.Signaled | verbs.Fence | verbs.Inline | verbs.Solicited
	const flushes = verbs.FlushGlobal | verbs.FlushPersistent
	switch {
	case q.gone:
		return fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)
	case !q.state.CanPostSend():
		return fmt.Errorf("%w: QP %d is in %v", verbs.ErrState, q.num, q.state)
	case !wr.Op.Valid():
		return fmt.Errorf("%w: opcode %d", verbs.ErrInvalid, wr.Op)
	case wr.Flags&^anyFlags != 0:
		return fmt.Errorf("%w: flags %#x", verbs.ErrInvalid, uint8(wr.Flags))
	case len(wr.SGL) > q.cfg.MaxSGE:
		return fmt.Errorf("%w: %d SGEs, the QP takes %d", verbs.ErrInvalid, len(wr.SGL), q.cfg.MaxSGE)
	case wr.Op == verbs.OpFlush && (len(wr.SGL) > 0 || wr.FlushTo == 0 || wr.FlushTo&^flushes != 0):
		return fmt.Errorf("%w: a Flush has no SGL, and FlushTo is FlushGlobal, FlushPersistent or both", verbs.ErrInvalid)
	case q.tail-q.freed.Load() >= uint64(len(q.sq)):
		return fmt.Errorf("%w: QP %d", verbs.ErrQueueFull, q.num)
	case wr.Flags&verbs.Inline == 0:
		return nil
	case wr.Op == verbs.OpRead || wr.Op.IsAtomic() || wr.Op == verbs.OpFlush:
		return fmt.Errorf("%w: %v cannot be inline", verbs.ErrInvalid, wr.Op)
	}
	if n := wr.Length(); n > q.cfg.MaxInline {
		return fmt.Errorf("%w: %d bytes inline, the QP takes %d", verbs.ErrInvalid, n, q.cfg.MaxInline)
	}
	return nil
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
	switch {
	case q.gone:
		return fmt.Errorf("QP %d: %w", q.num, verbs.ErrClosed)
	case !q.state.CanPostRecv():
		return fmt.Errorf("%w: QP %d is in %v", verbs.ErrState, q.num, q.state)
	case len(wr.SGL) > q.cfg.MaxSGE:
		return fmt.Errorf("%w: %d SGEs, the QP takes %d", verbs.ErrInvalid, len(wr.SGL), q.cfg.MaxSGE)
	case q.rtail-q.rfreed.Load() >= uint64(len(q.rq)):
		return fmt.Errorf("%w: receives of QP %d", verbs.ErrQueueFull, q.num)
	}
	r := q.receive(q.rtail)
	r.id, r.list, r.length = wr.ID, append(r.list[:0], wr.SGL...), wr.Length()
	q.rtail++
	return nil
}

func (q *qp) receive(i uint64) *receive { return &q.rq[i%uint64(len(q.rq))] }
