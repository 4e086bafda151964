package soft

import "github.com/verbatim-rdma/verbatim/verbs"

// Requests complete in the order of posting. After the first error all are flushed. The
// queue pair is locked.

// complete completes the oldest request.
func (q *qp) complete(status verbs.Status) {
	s := q.slot(q.head)
	if l := q.out; l != nil && q.head < l.sent && s.req.op.Responds() {
		l.reads--
	}
	q.head++
	if status == verbs.StatusSuccess && !s.signaled {
		q.quiet++
		return
	}
	wc := verbs.WC{ID: s.id, Status: status, Op: s.req.op.Completion(), QPNum: q.num}
	if s.req.op == verbs.OpRead || s.req.op.IsAtomic() {
		wc.ByteLen = s.req.length
	}
	q.sendCQ.push(entry{wc: wc, q: q, slots: q.quiet + 1})
	q.quiet = 0
}

// fail completes the oldest request in error, and moves the queue pair to ERR.
func (q *qp) fail(status verbs.Status) {
	q.state = verbs.StateErr
	q.complete(status)
	q.flush()
}

// flush completes all queued requests, in ERR.
func (q *qp) flush() {
	q.letGo()
	for q.head < q.tail {
		q.complete(verbs.StatusWRFlushErr)
	}
	for q.rhead < q.rtail {
		q.received(verbs.WC{Status: verbs.StatusWRFlushErr})
	}
}

// received completes the oldest receive.
func (q *qp) received(wc verbs.WC) {
	wc.ID, wc.QPNum = q.receive(q.rhead).id, q.num
	if wc.Op == 0 {
		wc.Op = verbs.WCRecv
	}
	q.rhead++
	q.recvCQ.push(entry{wc: wc, q: q, slots: 1, recv: true})
}

// settle fails the request that could not be sent, once all requests before it have completed.
func (q *qp) settle() {
	if l := q.out; l != nil && l.bad != verbs.StatusSuccess && q.head == l.sent {
		q.fail(l.bad)
	}
}

// index returns the position in the send queue for the sequence number of an answer,
// and whether that request is outstanding.
func (l *link) index(seq uint32) (uint64, bool) {
	q := l.q
	i := q.head + uint64(seq-l.seq(q.head))
	return i, i < l.sent
}

// seq returns the sequence number of a position.
func (l *link) seq(i uint64) uint32 { return l.q.cfg.PSN + uint32(i) }

// answered processes an answer with its payload. It reports whether the peer obeys the protocol.
func (l *link) answered(a answer, payload []byte) bool {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.out != l {
		return false
	}
	i, ok := l.index(a.seq)
	if !ok {
		return l.bad != verbs.StatusSuccess // the answer to a request that was aborted
	}
	l.alive()
	for q.head < i {
		if !l.acked() {
			return false
		}
	}
	switch a.kind {
	case ack:
		ok = l.acked()
	case data:
		ok = l.returned(payload)
	case nak:
		q.fail(a.status)
	case rnr:
		ok = l.notReady()
	}
	q.settle()
	if q.out == l && l.sent < q.tail {
		l.kick()
	}
	return ok
}

// acked completes the oldest request, unless it waits for data.
func (l *link) acked() bool {
	s := l.q.slot(l.q.head)
	if (s.req.op == verbs.OpRead || s.req.op.IsAtomic()) && s.got < s.req.length {
		return false
	}
	l.rnr = 0
	l.q.complete(verbs.StatusSuccess)
	return true
}

// returned places a packet of the response to the oldest request.
func (l *link) returned(b []byte) bool {
	q := l.q
	s := q.slot(q.head)
	if s.req.op != verbs.OpRead && !s.req.op.IsAtomic() || uint32(len(b)) > s.req.length-s.got {
		return false
	}
	if status := q.pd.scatter(s.list, int(s.got), b); status != verbs.StatusSuccess {
		q.fail(status)
		return true
	}
	if s.got += uint32(len(b)); s.got == s.req.length {
		return l.acked()
	}
	return true
}

// notReady resends the oldest request, and all requests after it, after the RNR timer. It
// cannot resend if a request was sent only in part.
func (l *link) notReady() bool {
	q := l.q
	if !q.slot(q.head).req.op.ConsumesRecv() {
		return false
	}
	const forEver = 7
	if l.rnr++; q.cfg.RNRRetry != forEver && l.rnr > q.cfg.RNRRetry {
		q.fail(verbs.StatusRNRRetryExcErr)
		return true
	}
	if l.cut {
		return false
	}
	l.rewind(q.head)
	l.bad = verbs.StatusSuccess // the error of a later request, which pick finds again
	l.wait()
	return true
}
