package verbstest

import (
	"bytes"
	"errors"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// wrong is a request that completes in error.
type wrong struct {
	name string
	qp   verbs.QPConfig
	// access of the responder's memory, if it is not all.
	access verbs.Access
	before func(a, b *end)
	wr     func(a, b *end) verbs.SendWR
	want   verbs.Status
	// remote: the responder refuses it, so that its queue pair fails as well.
	remote bool
	// orRefused: a card may also refuse to take it.
	orRefused bool
	// late: it may have changed the responder's memory before it failed.
	late bool
}

func errorCases() []testCase {
	var out []testCase
	for _, w := range wrongs() {
		out = append(out, testCase{w.name, 0, w.run})
	}
	return append(out,
		testCase{"first-has-the-cause", 0, firstHasTheCause},
		testCase{"receive-in-err", 0, receiveInErr},
		testCase{"unsignaled-fails", 0, unsignaledFails},
		testCase{"behind-is-not-executed", 0, behindIsNotExecuted},
		testCase{"behind-local-error", 0, behindLocalError},
		testCase{"earlier-succeed", 0, earlierSucceed},
		testCase{"other-connections-live", 0, otherConnectionsLive},
		testCase{"peer-in-err", 0, peerInErr},
		testCase{"peer-in-reset", 0, peerInReset},
		testCase{"peer-unconnected", 0, peerUnconnected},
	)
}

func wrongs() []wrong {
	write := func(a, b *end) verbs.SendWR { return a.write(5, 0, 8, b, 0) }
	read := func(a, b *end) verbs.SendWR { return a.read(5, 0, 8, b, 0) }
	atomic := func(a, b *end) verbs.SendWR { return a.add(5, 0, b, 0, 1) }
	send := func(a, b *end) verbs.SendWR { return a.send(5, 0, 8) }
	far := func(f func(a, b *end) verbs.SendWR, rkey uint32, to func(b *end) uint64) func(a, b *end) verbs.SendWR {
		return func(a, b *end) verbs.SendWR {
			wr := f(a, b)
			wr.RKey ^= rkey
			wr.RemoteAddr = to(b)
			return wr
		}
	}
	near := func(f func(a, b *end) verbs.SendWR, change func(s *verbs.SGE)) func(a, b *end) verbs.SendWR {
		return func(a, b *end) verbs.SendWR {
			wr := f(a, b)
			change(&wr.SGL[0])
			return wr
		}
	}
	at := func(off int) func(b *end) uint64 { return func(b *end) uint64 { return b.at(off) } }
	const (
		rw       = verbs.LocalWrite | verbs.RemoteRead | verbs.RemoteWrite
		access   = verbs.StatusRemAccessErr
		invalid  = verbs.StatusRemInvReqErr
		protect  = verbs.StatusLocProtErr
		keyFlip  = 0x5500
		readOnly = verbs.LocalWrite | verbs.RemoteRead
	)
	return []wrong{
		{name: "rkey-write", wr: far(write, keyFlip, at(0)), want: access, remote: true},
		{name: "rkey-read", wr: far(read, keyFlip, at(0)), want: access, remote: true},
		{name: "rkey-atomic", wr: far(atomic, keyFlip, at(0)), want: access, remote: true},
		{name: "range-end", wr: far(write, 0, at(memSize-4)), want: access, remote: true},
		{name: "range-end-read", wr: far(read, 0, at(memSize-7)), want: access, remote: true},
		{name: "range-end-atomic", wr: far(atomic, 0, at(memSize)), want: access, remote: true},
		{name: "range-start", wr: far(write, 0, at(-4)), want: access, remote: true},
		{name: "range-wraps", wr: far(write, 0, func(*end) uint64 { return ^uint64(3) }), want: access, remote: true},
		{name: "range-wraps-atomic", wr: far(atomic, 0, func(*end) uint64 { return ^uint64(7) }), want: access, remote: true},
		{name: "mr-no-write", access: readOnly, wr: write, want: access, remote: true},
		{name: "mr-no-read", access: verbs.LocalWrite | verbs.RemoteWrite, wr: read, want: access, remote: true},
		{name: "mr-no-atomic", access: rw, wr: atomic, want: access, remote: true},
		{name: "qp-no-write", qp: verbs.QPConfig{Access: verbs.RemoteRead | verbs.RemoteAtomic}, wr: write, want: invalid, remote: true},
		{name: "qp-no-read", qp: verbs.QPConfig{Access: verbs.RemoteWrite | verbs.RemoteAtomic}, wr: read, want: invalid, remote: true},
		{name: "qp-no-atomic", qp: verbs.QPConfig{Access: verbs.RemoteWrite | verbs.RemoteRead}, wr: atomic, want: invalid, remote: true},
		{name: "misaligned-add", wr: far(atomic, 0, at(4)), want: invalid, remote: true, orRefused: true},
		{name: "misaligned-swap", wr: far(func(a, b *end) verbs.SendWR { return a.swap(5, 0, b, 0, 1, 2) }, 0, at(1)), want: invalid, remote: true,
			orRefused: true},
		{name: "lkey-write", wr: near(write, func(s *verbs.SGE) { s.LKey ^= keyFlip }), want: protect},
		{name: "lkey-send", wr: near(send, func(s *verbs.SGE) { s.LKey ^= keyFlip }), want: protect},
		{name: "local-range", wr: near(write, func(s *verbs.SGE) { s.Addr += memSize - 4 }), want: protect},
		{name: "local-range-wraps", wr: near(write, func(s *verbs.SGE) { s.Addr = ^uint64(3) }), want: protect},
		{name: "local-length", wr: near(write, func(s *verbs.SGE) { s.Addr, s.Length = s.Addr+8, memSize }), want: protect, late: true},
		{name: "read-into-readonly", before: func(a, b *end) { a.lock() }, wr: read, want: protect},
		{name: "atomic-into-readonly", before: func(a, b *end) { a.lock() }, wr: atomic, want: protect, late: true},
		{name: "atomic-length", wr: near(atomic, func(s *verbs.SGE) { s.Length = 4 }), want: verbs.StatusLocLenErr, orRefused: true},
		{name: "no-receive", qp: verbs.QPConfig{RNRRetry: 1}, wr: send, want: verbs.StatusRNRRetryExcErr},
		{name: "no-receive-imm", qp: verbs.QPConfig{RNRRetry: 1}, wr: func(a, b *end) verbs.SendWR {
			wr := a.write(5, 0, 8, b, 0)
			wr.Op = verbs.OpWriteImm
			return wr
		}, want: verbs.StatusRNRRetryExcErr},
		{name: "peer-destroyed", qp: verbs.QPConfig{RetryCount: 1}, before: func(a, b *end) {
			b.t.on(b.host, func() { b.t.check(b.destroy()) })
		}, wr: write, want: verbs.StatusRetryExcErr},
	}
}

// lock makes the end's memory read-only for its card: it gets another registration.
func (e *end) lock() {
	e.t.on(e.host, func() {
		e.t.check(e.dereg())
		e.mr = must[verbs.MR](e.t)(e.pd.RegisterMR(e.mem, verbs.RemoteRead))
	})
}

// run provokes the error. Afterwards the queue pair is in ERR, accepts requests, and
// flushes them; so does the responder's if it refused. Memory is unchanged.
func (w wrong) run(t *T) {
	a, b := t.link(0, 1, endConfig{qp: w.qp, access: w.access})
	old := pattern(64, 99)
	b.store(0, old)
	b.store(memSize-64, old)
	if w.before != nil {
		w.before(a, b)
	}
	if w.remote {
		b.recv(verbs.RecvWR{ID: 8})
	}
	wr := w.wr(a, b)
	err := a.tryPost(wr)
	if w.orRefused && errors.Is(err, verbs.ErrInvalid) {
		t.notef("it is refused when it is posted: %v", err)
		return
	}
	t.check(err)
	a.want(wr.ID, w.want)
	a.failed()
	if w.remote {
		b.wantRecv(8, verbs.StatusWRFlushErr)
		b.failed()
	}
	if !w.late && (!bytes.Equal(b.load(0, 64), old) || !bytes.Equal(b.load(memSize-64, 64), old)) {
		t.errorf("the request that failed has changed memory")
	}
}

// failed checks that the queue pair is in ERR and flushes new requests.
func (e *end) failed() {
	if s := e.state(); s != verbs.StateErr {
		e.t.errorf("after the error the queue pair is in %v", s)
	}
	e.post(verbs.SendWR{ID: 66, Op: verbs.OpWrite, RKey: 1, RemoteAddr: 8, SGL: e.list(0, 8)}, verbs.SendWR{ID: 67, Op: verbs.OpSend})
	e.want(66, verbs.StatusWRFlushErr)
	e.want(67, verbs.StatusWRFlushErr)
}

// In ERR receives are accepted too, and flushed (IBA, C10-42).
func receiveInErr(t *T) {
	a, _ := t.pair(verbs.QPConfig{})
	a.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	a.failed()
	a.recv(verbs.RecvWR{ID: 68, SGL: a.list(0, 8)})
	a.wantRecv(68, verbs.StatusWRFlushErr)
}

// The first completion in error has the cause; all later ones are flushed, in order,
// including unsignaled ones and receives.
func firstHasTheCause(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.recv(verbs.RecvWR{ID: 20}, verbs.RecvWR{ID: 21})
	bad := a.write(2, 0, 8, b, 0)
	bad.RKey ^= 0x5500
	quiet := a.write(3, 0, 8, b, 0)
	quiet.Flags = 0
	a.post(a.write(1, 0, 8, b, 0), bad, quiet, a.read(4, 0, 8, b, 0), a.add(5, 0, b, 0, 1), a.send(6, 0, 8))
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusRemAccessErr)
	for id := uint64(3); id <= 6; id++ {
		a.want(id, verbs.StatusWRFlushErr)
	}
	a.wantRecv(20, verbs.StatusWRFlushErr)
	a.wantRecv(21, verbs.StatusWRFlushErr)
	a.nothing(a.cq)
}

// An unsignaled request that fails produces a completion.
func unsignaledFails(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	good, bad := a.write(1, 0, 8, b, 0), a.write(2, 0, 8, b, 0)
	good.Flags, bad.Flags = 0, 0
	bad.RKey ^= 0x5500
	a.post(good, bad)
	a.want(2, verbs.StatusRemAccessErr)
	a.nothing(a.cq)
}

// Requests behind a refused one are not executed.
func behindIsNotExecuted(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	bad := a.write(1, 0, 8, b, 0)
	bad.RKey ^= 0x5500
	behind(t, a, b, bad, verbs.StatusRemAccessErr)
	b.failed()
}

// behind posts bad and two requests behind it, which are not executed.
func behind(t *T, a, b *end, bad verbs.SendWR, status verbs.Status) {
	a.setWord(0, 1)
	a.post(bad, a.write(2, 0, 8, b, 8), a.add(3, 8, b, 16, 1))
	a.want(1, status)
	a.want(2, verbs.StatusWRFlushErr)
	a.want(3, verbs.StatusWRFlushErr)
	if v, w := b.word(8), b.word(16); v != 0 || w != 0 {
		t.errorf("a flushed Write left %d, a flushed Atomic %d", v, w)
	}
}

// Nor are those behind one that failed locally.
func behindLocalError(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	bad := a.write(1, 0, 8, b, 0)
	bad.SGL[0].LKey ^= 0x5500
	behind(t, a, b, bad, verbs.StatusLocProtErr)
}

// Earlier requests were executed.
func earlierSucceed(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 1)
	bad := a.write(4, 0, 8, b, 0)
	bad.RKey ^= 0x5500
	a.post(a.write(1, 0, 8, b, 8), a.add(2, 8, b, 16, 1), a.read(3, 16, 8, b, 8), bad)
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusSuccess)
	a.want(3, verbs.StatusSuccess)
	a.want(4, verbs.StatusRemAccessErr)
	if v, w, x := a.word(16), b.word(8), b.word(16); v != 1 || w != 1 || x != 1 {
		t.errorf("read %d; at the responder %d and %d", v, w, x)
	}
}

// An error affects only its connection.
func otherConnectionsLive(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	c, d := t.pair(verbs.QPConfig{})
	bad := a.write(1, 0, 8, b, 0)
	bad.RKey ^= 0x5500
	a.post(bad)
	a.want(1, verbs.StatusRemAccessErr)
	c.setWord(0, 3)
	c.done(c.write(2, 0, 8, d, 0))
	d.done(d.read(3, 0, 8, c, 0))
	if c.state() != verbs.StateRTS || d.state() != verbs.StateRTS {
		t.errorf("the other connection is in %v and %v", c.state(), d.state())
	}
}

// silent checks that requests to a queue pair that does not answer end in retries,
// and change nothing.
func silent(t *T, a, b *end) {
	a.setWord(0, 1)
	a.post(a.write(1, 0, 8, b, 0), a.add(2, 8, b, 8, 1))
	a.want(1, verbs.StatusRetryExcErr)
	a.want(2, verbs.StatusWRFlushErr)
	a.failed()
	if v, w := b.word(0), b.word(8); v != 0 || w != 0 {
		t.errorf("it changed memory to %d and %d", v, w)
	}
}

func peerInErr(t *T) {
	a, b := t.pair(verbs.QPConfig{RetryCount: 1})
	b.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	silent(t, a, b)
}

func peerInReset(t *T) {
	a, b := t.pair(verbs.QPConfig{RetryCount: 1})
	b.modify(verbs.QPAttr{SetState: true, State: verbs.StateReset})
	silent(t, a, b)
}

func peerUnconnected(t *T) {
	cfg := endConfig{qp: verbs.QPConfig{RetryCount: 1}}
	a, b := t.newEnd(0, cfg), t.newEnd(1, cfg)
	to := b.endpoint()
	t.on(a.host, func() { a.qp = must[verbs.QP](t)(a.prepared.Connect(to)) })
	silent(t, a, b)
}
