package soft

import "github.com/verbatim-rdma/verbatim/verbs"

// A responder executes a request in these steps: the checks in the order of the
// specification; the payload, packet by packet, with the checks repeated; the completion.
// Each step holds the lock of the queue pair.

// verdict is the result of a step.
type verdict uint8

const (
	goOn     verdict = iota
	gone             // the queue pair has closed the connection
	notReady         // no receive is posted
	refused          // with a status
)

// execute executes a request. It reports whether the connection continues, or the status with
// which the request is refused.
func (in *inbound) execute(req *request) (bool, verbs.Status) {
	v, status := in.begin(req)
	if v == notReady {
		in.skipping = true
		return in.answer(answer{kind: rnr, seq: req.seq}, nil) == nil && in.skip(req.payload()), verbs.StatusSuccess
	}
	n := req.payload()
	for off := 0; v == goOn && off < n; {
		b, err := in.r.Peek(min(mtu, n-off))
		if err != nil {
			return false, verbs.StatusSuccess
		}
		v, status = in.place(req, off, b)
		off += len(b)
		_, _ = in.r.Discard(len(b)) // cannot fail: the bytes are buffered
	}
	if v == goOn {
		v, status = in.finish(req)
	}
	if v == goOn {
		in.expected++
	}
	return v == goOn, status
}

// needs returns the access that a request requires.
func (r *request) needs() verbs.Access { return r.op.Needs(r.flush) }

// begin makes the checks that do not need the payload.
func (in *inbound) begin(req *request) (verdict, verbs.Status) {
	q := in.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if v, status := in.allowed(req); v != goOn {
		return v, status
	}
	q.used = true
	if req.op.ConsumesRecv() && q.rhead == q.rtail {
		return notReady, verbs.StatusSuccess
	}
	switch {
	case req.op == verbs.OpSend || req.op == verbs.OpSendImm:
		if int(req.length) > q.receive(q.rhead).length {
			return in.fault(verbs.StatusLocLenErr, verbs.StatusRemInvReqErr)
		}
	case !req.op.Aligned(req.addr):
		return in.fail(verbs.StatusRemInvReqErr)
	case req.op == verbs.OpFlush && req.whole:
		// The key is looked up when it is flushed.
	case req.length > 0 && !q.pd.reaches(req.rkey, req.addr, int(req.length), req.needs()):
		return in.fail(verbs.StatusRemAccessErr)
	}
	return goOn, verbs.StatusSuccess
}

// allowed checks the state and the access flags of the queue pair.
func (in *inbound) allowed(req *request) (verdict, verbs.Status) {
	switch q := in.q; {
	case in.dead || !q.responds():
		return gone, verbs.StatusSuccess
	case req.needs()&^q.access != 0:
		return in.fail(verbs.StatusRemInvReqErr)
	}
	return goOn, verbs.StatusSuccess
}

// fail moves the queue pair to ERR. The connection stays open for the NAK.
func (in *inbound) fail(status verbs.Status) (verdict, verbs.Status) {
	in.dead = true
	in.q.in = nil
	in.q.state = verbs.StateErr
	in.q.flush()
	return refused, status
}

// fault is fail for an error of a receive of this side.
func (in *inbound) fault(local, remote verbs.Status) (verdict, verbs.Status) {
	in.q.received(verbs.WC{Status: local})
	return in.fail(remote)
}

// place copies a packet of the payload to its destination.
func (in *inbound) place(req *request, off int, b []byte) (verdict, verbs.Status) {
	q := in.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if v, status := in.allowed(req); v != goOn {
		return v, status
	}
	if req.op == verbs.OpSend || req.op == verbs.OpSendImm {
		if status := q.pd.scatter(q.receive(q.rhead).list, off, b); status != verbs.StatusSuccess {
			return in.fault(status, verbs.StatusRemOpErr)
		}
		return goOn, verbs.StatusSuccess
	}
	return in.access(req, off, len(b), func(to []byte) { store(to, b) })
}

// access calls f with the bytes of the request, or a part of them.
func (in *inbound) access(req *request, off, n int, f func(b []byte)) (verdict, verbs.Status) {
	m, b := in.q.pd.acquire(req.rkey, req.addr+uint64(off), n, req.needs())
	if m == nil {
		return in.fail(verbs.StatusRemAccessErr)
	}
	err := guarded(func() { f(b) })
	m.release()
	if err != nil {
		return in.fail(verbs.StatusRemOpErr)
	}
	return goOn, verbs.StatusSuccess
}

// finish executes the part after the payload, and answers. It answers without the lock: a
// requester that reads no answers must not block others on the queue pair.
func (in *inbound) finish(req *request) (verdict, verbs.Status) {
	if req.op == verbs.OpRead && req.length > 0 {
		return in.read(req)
	}
	old, v, status := in.conclude(req)
	switch {
	case v != goOn:
	case req.op.IsAtomic():
		if in.answer(answer{kind: data, seq: req.seq}, appendWord(in.scratch[:0], old)) != nil {
			v = gone
		}
	default:
		in.acks, in.acked = true, req.seq
	}
	return v, status
}

// conclude executes requests without payload, and completes the receive of requests that
// consume one. old is the result of an Atomic.
func (in *inbound) conclude(req *request) (old uint64, v verdict, status verbs.Status) {
	q := in.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if v, status = in.allowed(req); v != goOn {
		return 0, v, status
	}
	switch req.op {
	case verbs.OpSend, verbs.OpSendImm:
		q.received(verbs.WC{Op: verbs.WCRecv, ByteLen: req.length, HasImm: req.op == verbs.OpSendImm, Imm: req.imm})
	case verbs.OpWriteImm:
		q.received(verbs.WC{Op: verbs.WCRecvWriteImm, ByteLen: req.length, HasImm: true, Imm: req.imm})
	case verbs.OpFetchAdd:
		v, status = in.access(req, 0, word, func(b []byte) { old = update(b, func(v uint64) uint64 { return v + req.a }) })
	case verbs.OpCompareSwap:
		v, status = in.access(req, 0, word, func(b []byte) {
			old = update(b, func(v uint64) uint64 {
				if v == req.a {
					return req.b
				}
				return v
			})
		})
	case verbs.OpFlush:
		v, status = in.flush(req)
	}
	return old, v, status
}

// read answers a Read, packet by packet.
func (in *inbound) read(req *request) (verdict, verbs.Status) {
	for off := 0; off < int(req.length); {
		piece := in.scratch[:min(mtu, int(req.length)-off)]
		if v, status := in.sample(req, off, piece); v != goOn {
			return v, status
		}
		if in.answer(answer{kind: data, seq: req.seq}, piece) != nil {
			return gone, verbs.StatusSuccess
		}
		off += len(piece)
	}
	return goOn, verbs.StatusSuccess
}

func (in *inbound) sample(req *request, off int, to []byte) (verdict, verbs.Status) {
	in.q.mu.Lock()
	defer in.q.mu.Unlock()
	if v, status := in.allowed(req); v != goOn {
		return v, status
	}
	return in.access(req, off, len(to), func(b []byte) { load(to, b) })
}

// flush makes earlier Writes persistent. For global visibility it does nothing: they are visible.
func (in *inbound) flush(req *request) (verdict, verbs.Status) {
	r, n := *req, int(req.length)
	in.d.mu.RLock()
	m := in.d.mrs[req.rkey]
	in.d.mu.RUnlock()
	if m != nil && req.whole {
		r.addr, n = m.addr, len(m.bytes)
	}
	return in.access(&r, 0, n, func([]byte) {
		if p, ok := m.mem.(persistent); ok && req.flush&verbs.FlushPersistent != 0 {
			p.Flush(int(r.addr-m.addr), n)
			p.Fence()
		}
	})
}
