package verbstest

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func queueCases() []testCase {
	return []testCase{
		{"batch", 0, longBatch},
		{"signal-all", 0, signalAll},
		{"unsignaled", 0, unsignaled},
		{"full", 0, queueFull},
		{"slots-by-later-completion", 0, slotsByLaterCompletion},
		{"refused", 0, postRefused},
		{"flushes-when-full", 0, flushesWhenFull},
		{"lists-are-the-callers", 0, listsAreTheCallers},
		{"outstanding-reads", 0, outstandingReads},
	}
}

// A long batch is posted whole, in order.
func longBatch(t *T) {
	const n = 200
	a, b := t.pair(verbs.QPConfig{MaxSendWR: n})
	wrs := make([]verbs.SendWR, n)
	for i := range wrs {
		wrs[i] = a.write(uint64(i), i, 1, b, i)
	}
	a.store(0, pattern(n, 5))
	a.post(wrs...)
	for i := range wrs {
		a.want(uint64(i), verbs.StatusSuccess)
	}
	a.done(a.read(n, 4096, n, b, 0))
	for i, v := range a.load(4096, n) {
		if v != pattern(n, 5)[i] {
			t.fatalf("byte %d is %d", i, v)
		}
	}
}

// With SignalAll every request produces a completion.
func signalAll(t *T) {
	a, b := t.pair(verbs.QPConfig{SignalAll: true})
	wr := a.write(0, 0, 8, b, 0)
	wr.Flags = 0
	for i := range uint64(10) {
		wr.ID = i
		a.post(wr)
	}
	for i := range uint64(10) {
		a.want(i, verbs.StatusSuccess)
	}
}

// Without the flag a success produces none, and the next signaled one covers it.
func unsignaled(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 8)
	wr := a.add(1, 8, b, 0, 5)
	wr.Flags = 0
	read := a.read(2, 16, 8, b, 0)
	read.Flags = 0
	a.post(wr, read, a.write(3, 0, 8, b, 64))
	a.want(3, verbs.StatusSuccess)
	a.nothing(a.cq)
	if v := a.word(16); v != 5 {
		t.errorf("the unsignaled Read before it has %d, want 5", v)
	}
}

// fill posts wr, which does not complete by itself, until the queue is full.
func (e *end) fill(wr verbs.SendWR) (n int) {
	e.t.on(e.host, func() {
		var err error
		for ; err == nil && n < 1<<16; n++ {
			wr.ID = uint64(n)
			err = e.qp.PostSend([]verbs.SendWR{wr})
		}
		n--
		e.t.refused("one request too many", err, verbs.ErrQueueFull)
	})
	return n
}

// A queue holds at least the requested number, and reports when it is full.
func queueFull(t *T) {
	a, _ := t.pair(verbs.QPConfig{MaxSendWR: 16})
	if n := a.fill(a.send(0, 0, 8)); n < 16 { // there is no receive for them
		t.errorf("it took %d requests, and was asked for 16", n)
	}
}

// Polling a completion frees its slot and all earlier ones.
func slotsByLaterCompletion(t *T) {
	a, b := t.pair(verbs.QPConfig{MaxSendWR: 16})
	wr := a.write(0, 0, 8, b, 0)
	wr.Flags = 0
	for round := range uint64(10) {
		for range 15 {
			a.post(wr)
		}
		a.post(a.write(round, 0, 8, b, 0))
		a.want(round, verbs.StatusSuccess)
	}
}

// A request that cannot be posted is refused with its index in the batch; those before
// it are posted, those after it are not.
func postRefused(t *T) {
	a, b := t.pair(verbs.QPConfig{MaxSendWR: 8, MaxSGE: 2})
	attr := a.dev.Attr()
	good := a.write(1, 0, 8, b, 0)
	pieces := []verbs.SGE{a.sge(0, 1), a.sge(1, 1), a.sge(2, 1)}
	for _, x := range []struct {
		what   string
		change func(wr *verbs.SendWR)
		want   error
	}{
		{"an opcode that is none", func(wr *verbs.SendWR) { wr.Op = 99 }, verbs.ErrInvalid},
		{"opcode 0", func(wr *verbs.SendWR) { wr.Op = 0 }, verbs.ErrInvalid},
		{"flags that are none", func(wr *verbs.SendWR) { wr.Flags = 0x80 }, verbs.ErrInvalid},
		{"too many pieces", func(wr *verbs.SendWR) { wr.SGL = pieces }, verbs.ErrInvalid},
		{"an inline Read", func(wr *verbs.SendWR) { wr.Op, wr.Flags = verbs.OpRead, verbs.Inline }, verbs.ErrInvalid},
		{"an inline Atomic", func(wr *verbs.SendWR) { wr.Op, wr.Flags = verbs.OpFetchAdd, verbs.Inline }, verbs.ErrInvalid},
		{"too much inline", func(wr *verbs.SendWR) { wr.SGL, wr.Flags = a.list(0, 8192), verbs.Inline }, verbs.ErrInvalid},
	} {
		bad := good
		x.change(&bad)
		err := a.tryPost(good, bad, good)
		t.refused(x.what, err, x.want)
		if p := (*verbs.PostError)(nil); !errors.As(err, &p) || p.Index != 1 {
			t.errorf("%s: it does not say which: %v", x.what, err)
		}
		a.want(1, verbs.StatusSuccess)
		a.nothing(a.cq)
	}
	for op, has := range [...]bool{verbs.OpFlush: attr.HasFlush, verbs.OpAtomicWrite: attr.HasAtomicWrite} {
		if op := verbs.Opcode(op); op >= verbs.OpFlush && !has {
			t.refused(op.String(), a.tryPost(verbs.SendWR{Op: op, SGL: a.list(0, 8)}), verbs.ErrUnsupported)
		}
	}
}

// A full queue is flushed to the last request.
func flushesWhenFull(t *T) {
	a, _ := t.pair(verbs.QPConfig{MaxSendWR: 16, MaxRecvWR: 16})
	n := a.fill(a.send(0, 0, 8))
	a.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	for i := range uint64(n) {
		a.want(i, verbs.StatusWRFlushErr)
	}
	a.nothing(a.cq)
}

// Slices passed to a post belong to the caller again when it returns.
func listsAreTheCallers(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 1)
	a.setWord(8, 2)
	b.recv(verbs.RecvWR{ID: 1, SGL: b.list(64, 8)})
	t.on(a.host, func() {
		sgl := a.list(0, 8)
		wrs := []verbs.SendWR{{ID: 1, Op: verbs.OpSend, Flags: verbs.Signaled, SGL: sgl}}
		t.check(a.qp.PostSend(wrs))
		sgl[0] = verbs.SGE{}
		wrs[0] = verbs.SendWR{}
	})
	a.want(1, verbs.StatusSuccess)
	b.wantRecv(1, verbs.StatusSuccess)
	t.on(b.host, func() {
		sgl := b.list(72, 8)
		wrs := []verbs.RecvWR{{ID: 2, SGL: sgl}}
		t.check(b.qp.PostRecv(wrs))
		sgl[0] = verbs.SGE{}
		wrs[0] = verbs.RecvWR{}
	})
	a.done(a.send(2, 8, 8))
	b.wantRecv(2, verbs.StatusSuccess)
	if v, w := b.word(64), b.word(72); v != 1 || w != 2 {
		t.errorf("received %d and %d", v, w)
	}
}

// Reads and Atomics beyond the outstanding limit wait.
func outstandingReads(t *T) {
	a, b := t.pair(verbs.QPConfig{MaxRdAtomic: 1})
	for i := range uint64(16) {
		a.post(a.read(3*i, 8, 8, b, 0), a.add(3*i+1, 16, b, 0, 1), a.write(3*i+2, 24, 8, b, 64))
	}
	for i := range uint64(48) {
		a.want(i, verbs.StatusSuccess)
	}
	if v := a.word(16); v != 15 {
		t.errorf("the last Atomic found %d, want 15", v)
	}
}
