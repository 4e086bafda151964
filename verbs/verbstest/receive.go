package verbstest

import (
	"github.com/verbatim-rdma/verbatim/verbs"
)

func receiveCases() []testCase {
	return []testCase{
		{"in-order", 0, receivesInOrder},
		{"rnr-waits", 0, rnrWaits},
		{"rnr-holds-the-queue", 0, rnrHoldsTheQueue},
		{"too-short", 0, receiveTooShort},
		{"too-short-by-packets", 0, receiveTooShortByPackets},
		{"fits", 0, receiveFits},
		{"bad-lkey", 0, receiveBadKey},
		{"readonly", 0, receiveReadOnly},
		{"queue-full", 0, receiveQueueFull},
		{"too-many-pieces", 0, receiveTooManyPieces},
		{"flushed", 0, receivesFlushed},
		{"acknowledged-then-err", 0, acknowledgedThenErr},
	}
}

// Receives are consumed in the order in which they were posted.
func receivesInOrder(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(16) {
		b.recv(verbs.RecvWR{ID: 100 + i, SGL: b.list(int(8*i), 8)})
	}
	t.on(a.host, func() {
		for i := range uint64(16) {
			a.mem.Store64(int(8*i), i+1)
			a.post(a.send(i, int(8*i), 8))
		}
	})
	for i := range uint64(16) {
		b.wantRecv(100+i, verbs.StatusSuccess)
		if v := b.word(int(8 * i)); v != i+1 {
			t.errorf("receive %d has %d", i, v)
		}
		a.want(i, verbs.StatusSuccess)
	}
}

// With RNRRetry 7 a Send waits for its receive without limit.
func rnrWaits(t *T) {
	a, b := t.pair(verbs.QPConfig{RNRRetry: 7})
	a.setWord(0, 3)
	a.post(a.send(1, 0, 8))
	a.nothing(a.cq)
	b.recv(verbs.RecvWR{ID: 2, SGL: b.list(0, 8)})
	b.wantRecv(2, verbs.StatusSuccess)
	a.want(1, verbs.StatusSuccess)
	if v := b.word(0); v != 3 {
		t.errorf("received %d, want 3", v)
	}
}

// Requests behind such a Send wait with it.
func rnrHoldsTheQueue(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 3)
	a.post(a.send(1, 0, 8), a.write(2, 0, 8, b, 64))
	a.nothing(a.cq)
	if v := b.word(64); v != 0 {
		t.errorf("a Write passed a Send that waits")
	}
	b.recv(verbs.RecvWR{ID: 3, SGL: b.list(0, 8)})
	b.wantRecv(3, verbs.StatusSuccess)
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusSuccess)
}

// badReceive sends n bytes to a receive that cannot hold them.
func badReceive(t *T, n int, r func(b *end) verbs.SGE, sender, receiver verbs.Status) {
	a, b := t.pair(verbs.QPConfig{})
	b.recv(verbs.RecvWR{ID: 1, SGL: []verbs.SGE{r(b)}}, verbs.RecvWR{ID: 2, SGL: b.list(0, 8)})
	a.post(a.send(3, 0, n), a.write(4, 0, 8, b, 64))
	a.want(3, sender)
	a.want(4, verbs.StatusWRFlushErr)
	a.failed()
	b.wantRecv(1, receiver)
	b.wantRecv(2, verbs.StatusWRFlushErr)
	b.failed()
}

// A Send that is longer than its receive fails on both sides.
func receiveTooShort(t *T) {
	badReceive(t, 9, func(b *end) verbs.SGE { return b.sge(0, 8) }, verbs.StatusRemInvReqErr, verbs.StatusLocLenErr)
}

func receiveTooShortByPackets(t *T) {
	badReceive(t, 9000, func(b *end) verbs.SGE { return b.sge(0, 8999) }, verbs.StatusRemInvReqErr, verbs.StatusLocLenErr)
}

// A receive may be longer than the Send.
func receiveFits(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.recv(verbs.RecvWR{ID: 1, SGL: b.list(0, 8)}, verbs.RecvWR{ID: 2, SGL: b.list(0, 9000)})
	a.post(a.send(3, 0, 8), a.send(4, 0, 3))
	if wc := b.wantRecv(1, verbs.StatusSuccess); wc.ByteLen != 8 {
		t.errorf("received %d bytes, want 8", wc.ByteLen)
	}
	if wc := b.wantRecv(2, verbs.StatusSuccess); wc.ByteLen != 3 {
		t.errorf("received %d bytes, want 3", wc.ByteLen)
	}
}

// A receive into invalid memory fails on both sides: the fault is the responder's.
func receiveBadKey(t *T) {
	badReceive(t, 8, func(b *end) verbs.SGE {
		s := b.sge(0, 8)
		s.LKey ^= 0x5500
		return s
	}, verbs.StatusRemOpErr, verbs.StatusLocProtErr)
}

// So does one into memory that the card may not write.
func receiveReadOnly(t *T) {
	badReceive(t, 8, func(b *end) verbs.SGE {
		var mr verbs.MR
		t.on(b.host, func() { mr = must[verbs.MR](t)(b.pd.RegisterMR(b.mem, verbs.RemoteRead)) })
		t.cleanup(b.host, func() error { return mr.Dereg() })
		s := b.sge(0, 8)
		s.LKey = mr.LKey()
		return s
	}, verbs.StatusRemOpErr, verbs.StatusLocProtErr)
}

// The receive queue is bounded, reports when it is full, and has room again after a
// receive was consumed.
func receiveQueueFull(t *T) {
	a, b := t.pair(verbs.QPConfig{MaxRecvWR: 8})
	n := 0
	var err error
	t.on(b.host, func() {
		for ; err == nil && n < 1<<16; n++ {
			err = b.qp.PostRecv([]verbs.RecvWR{{ID: uint64(n), SGL: b.list(0, 8)}})
		}
	})
	t.refused("one receive too many", err, verbs.ErrQueueFull)
	if n-1 < 8 {
		t.errorf("it took %d receives, and was asked for 8", n-1)
	}
	a.done(a.send(1, 0, 8))
	b.wantRecv(0, verbs.StatusSuccess)
	b.recv(verbs.RecvWR{ID: 1, SGL: b.list(0, 8)})
}

func receiveTooManyPieces(t *T) {
	_, b := t.pair(verbs.QPConfig{MaxSGE: 2})
	good, bad := verbs.RecvWR{ID: 1, SGL: b.list(0, 8)}, verbs.RecvWR{ID: 2, SGL: make([]verbs.SGE, 3)}
	for i := range bad.SGL {
		bad.SGL[i] = b.sge(8*i, 8)
	}
	err := b.tryRecv(good, bad, good)
	t.refused("three pieces", err, verbs.ErrInvalid)
	if p, ok := err.(*verbs.PostError); !ok || p.Index != 1 {
		t.errorf("it does not say which: %v", err)
	}
	b.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	b.wantRecv(1, verbs.StatusWRFlushErr) // the one before it was posted, the one behind it was not
	b.nothing(b.rcq)
}

// Posted receives are flushed when the queue pair fails, in order.
func receivesFlushed(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(5) {
		b.recv(verbs.RecvWR{ID: i, SGL: b.list(0, 8)})
	}
	a.done(a.send(9, 0, 8))
	b.wantRecv(0, verbs.StatusSuccess)
	b.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	for i := uint64(1); i < 5; i++ {
		b.wantRecv(i, verbs.StatusWRFlushErr)
	}
	b.nothing(b.rcq)
}

// A Send that was acknowledged has been received, whatever happens to the queue pair
// before its completion is polled.
func acknowledgedThenErr(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(4) {
		b.recv(verbs.RecvWR{ID: i, SGL: b.list(int(8*i), 8)})
	}
	a.setWord(0, 1)
	a.done(a.send(8, 0, 8))
	a.done(a.send(9, 0, 8))
	b.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	b.wantRecv(0, verbs.StatusSuccess)
	b.wantRecv(1, verbs.StatusSuccess)
	b.wantRecv(2, verbs.StatusWRFlushErr)
	b.wantRecv(3, verbs.StatusWRFlushErr)
	if v, w := b.word(0), b.word(8); v != 1 || w != 1 {
		t.errorf("received %d and %d", v, w)
	}
}
