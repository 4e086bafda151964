package verbstest

import (
	"bytes"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func verbCases() []testCase {
	return []testCase{
		{"write-and-read", 0, writeAndRead},
		{"both-ways", 0, bothWays},
		{"one-host", 0, oneHost},
		{"send", 0, sendAndReceive},
		{"send-long", 0, sendLong},
		{"write-imm", 0, writeImm},
		{"fetch-add", 0, fetchAdd},
		{"compare-swap", 0, compareSwap},
		{"inline", 0, inline},
		{"inline-not-asked", 0, notInline},
		{"inline-gathered", 0, inlineGathered},
		{"sgl-write", 0, gatheredWrite},
		{"sgl-read", 0, scatteredRead},
		{"sgl-send", 0, gatheredSend},
		{"no-bytes", 0, noBytes},
		{"no-bytes-any-key", 0, noBytesAnyKey},
		{"poll", 0, pollInstead},
		{"read-only-source", 0, readOnlySource},
		{"atomic-write", 0, atomicWrite},
		{"flush", 0, flush},
	}
}

// Written bytes can be read back, whatever their number and alignment.
func writeAndRead(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i, n := range []int{1, 7, 8, 9, 100, 1023, 1024, 1025, 4096, 4097, 10000} {
		id, far := uint64(2*i), 4096+i
		src := pattern(n, byte(i+1))
		a.store(0, src)
		if wc := a.done(a.write(id, 0, n, b, far)); wc.Op != verbs.WCWrite {
			t.errorf("the completion of a Write says %v", wc.Op)
		}
		if wc := a.done(a.read(id+1, 16<<10, n, b, far)); wc.Op != verbs.WCRead {
			t.errorf("the completion of a Read says %v", wc.Op)
		}
		if !bytes.Equal(b.load(far, n), src) {
			t.errorf("%d bytes differ where they were written", n)
		}
		if !bytes.Equal(a.load(16<<10, n), src) {
			t.errorf("%d bytes differ where they were read to", n)
		}
	}
}

// Either end can be the requester.
func bothWays(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 1)
	b.setWord(0, 2)
	a.post(a.write(1, 0, 8, b, 8), a.read(2, 16, 8, b, 0))
	b.post(b.write(3, 0, 8, a, 8), b.read(4, 16, 8, a, 0))
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusSuccess)
	b.want(3, verbs.StatusSuccess)
	b.want(4, verbs.StatusSuccess)
	if x, y, u, v := a.word(8), a.word(16), b.word(8), b.word(16); x != 2 || y != 2 || u != 1 || v != 1 {
		t.errorf("a has %d and %d, b has %d and %d", x, y, u, v)
	}
}

// Two queue pairs of one card reach each other.
func oneHost(t *T) {
	a, b := t.link(0, 0, endConfig{})
	a.setWord(0, 7)
	a.post(a.write(1, 0, 8, b, 0))
	a.want(1, verbs.StatusSuccess)
	a.done(a.read(2, 8, 8, b, 0))
	if v := a.word(8); v != 7 {
		t.errorf("read %d, want 7", v)
	}
}

// Sends consume receives in order; only those with an immediate value have one.
func sendAndReceive(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.recv(verbs.RecvWR{ID: 7, SGL: b.list(0, 64)}, verbs.RecvWR{ID: 8, SGL: b.list(64, 64)})
	a.store(0, []byte("hello, world"))
	imm := a.send(2, 7, 5)
	imm.Op, imm.Imm, imm.Flags = verbs.OpSendImm, 0xdeadbeef, verbs.Signaled|verbs.Solicited
	a.post(a.send(1, 0, 5), imm)
	for id := uint64(1); id <= 2; id++ {
		if wc := a.want(id, verbs.StatusSuccess); wc.Op != verbs.WCSend {
			t.errorf("the completion of a Send says %v", wc.Op)
		}
	}
	if wc := b.wantRecv(7, verbs.StatusSuccess); wc.Op != verbs.WCRecv || wc.ByteLen != 5 || wc.HasImm {
		t.errorf("of the Send: %+v", wc)
	}
	if wc := b.wantRecv(8, verbs.StatusSuccess); wc.Op != verbs.WCRecv || wc.ByteLen != 5 || !wc.HasImm || wc.Imm != 0xdeadbeef {
		t.errorf("of the Send with immediate: %+v", wc)
	}
	if s := string(b.load(0, 5)) + string(b.load(64, 5)); s != "helloworld" {
		t.errorf("received %q", s)
	}
}

// A Send of several packets arrives whole.
func sendLong(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	const n = 9000
	src := pattern(n, 3)
	a.store(0, src)
	b.recv(verbs.RecvWR{ID: 1, SGL: b.list(16, n)})
	a.done(a.send(2, 0, n))
	if wc := b.wantRecv(1, verbs.StatusSuccess); wc.ByteLen != n || !bytes.Equal(b.load(16, n), src) {
		t.errorf("%d bytes, or others than were sent", wc.ByteLen)
	}
}

// A Write with immediate consumes a receive but none of its memory.
func writeImm(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.recv(verbs.RecvWR{ID: 9}, verbs.RecvWR{ID: 10, SGL: b.list(0, 8)})
	a.store(0, []byte("hello, world"))
	wr := a.write(3, 0, 12, b, 200)
	wr.Op, wr.Imm = verbs.OpWriteImm, 42
	empty := wr
	empty.ID, empty.SGL, empty.Imm = 4, nil, 43
	a.post(wr, empty)
	if wc := a.want(3, verbs.StatusSuccess); wc.Op != verbs.WCWrite {
		t.errorf("its completion says %v", wc.Op)
	}
	a.want(4, verbs.StatusSuccess)
	if wc := b.wantRecv(9, verbs.StatusSuccess); wc.Op != verbs.WCRecvWriteImm || wc.ByteLen != 12 || !wc.HasImm || wc.Imm != 42 {
		t.errorf("at the responder: %+v", wc)
	}
	if wc := b.wantRecv(10, verbs.StatusSuccess); wc.Op != verbs.WCRecvWriteImm || wc.ByteLen != 0 || wc.Imm != 43 {
		t.errorf("of an empty one: %+v", wc)
	}
	if s := string(b.load(200, 12)); s != "hello, world" {
		t.errorf("received %q", s)
	}
	if v := b.word(0); v != 0 {
		t.errorf("the receive's memory has %#x", v)
	}
}

// FetchAdd returns the old value; the sum wraps around.
func fetchAdd(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.setWord(8, 40)
	for i, x := range []struct{ add, old, now uint64 }{{2, 40, 42}, {^uint64(0), 42, 41}, {1 << 63, 41, 1<<63 + 41}, {1 << 63, 1<<63 + 41, 41}} {
		if wc := a.done(a.add(uint64(i), 16, b, 8, x.add)); wc.Op != verbs.WCFetchAdd {
			t.errorf("its completion says %v", wc.Op)
		}
		if old, now := a.word(16), b.word(8); old != x.old || now != x.now {
			t.errorf("plus %d: from %d to %d, want %d to %d", x.add, old, now, x.old, x.now)
		}
	}
}

// CompareSwap returns the old value, swapped or not.
func compareSwap(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.setWord(8, 42)
	for i, x := range []struct{ from, to, old, now uint64 }{{41, 7, 42, 42}, {42, 1 << 60, 42, 1 << 60}, {1 << 60, 0, 1 << 60, 0}} {
		if wc := a.done(a.swap(uint64(i), 16, b, 8, x.from, x.to)); wc.Op != verbs.WCCompareSwap {
			t.errorf("its completion says %v", wc.Op)
		}
		if old, now := a.word(16), b.word(8); old != x.old || now != x.now {
			t.errorf("%d to %d: from %d to %d, want %d to %d", x.from, x.to, old, now, x.old, x.now)
		}
	}
}

// An inline request copies its bytes when it is posted: the source may change at once,
// and need not be registered.
func inline(t *T) {
	n := t.inline()
	a, b := t.pair(verbs.QPConfig{MaxInline: n})
	if n == 0 {
		t.skipf("%s takes nothing inline", a.dev.Attr().Name)
	}
	src := pattern(n, 3)
	b.recv(verbs.RecvWR{ID: 5, SGL: b.list(128, n)})
	a.store(0, src)
	wr, send := a.write(1, 0, n, b, 0), a.send(2, 0, n)
	wr.Flags |= verbs.Inline
	send.Flags |= verbs.Inline
	t.on(a.host, func() {
		t.check(a.qp.PostSend([]verbs.SendWR{wr, send}))
		a.mem.Store(0, make([]byte, n))
	})
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusSuccess)
	b.wantRecv(5, verbs.StatusSuccess) // and with it all that came before
	if !bytes.Equal(b.load(0, n), src) || !bytes.Equal(b.load(128, n), src) {
		t.errorf("written %x and sent %x, want %x", b.load(0, n), b.load(128, n), src)
	}
}

// inline returns how many bytes a queue pair of host 0 takes inline, up to 64.
func (t *T) inline() (n int) {
	t.on(0, func() { n = min(t.site.Host(0).Device().Attr().MaxInline, 64) })
	return n
}

// A queue pair that was not asked to take anything inline does not.
func notInline(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	wr := a.write(1, 0, 1, b, 0)
	wr.Flags |= verbs.Inline
	t.refused("an inline Write", a.tryPost(wr), verbs.ErrInvalid)
}

// The pieces of an inline request are concatenated.
func inlineGathered(t *T) {
	n := t.inline()
	a, b := t.pair(verbs.QPConfig{MaxInline: n})
	if n < 12 {
		t.skipf("%s takes %d bytes inline", a.dev.Attr().Name, n)
	}
	a.store(0, pattern(100, 1))
	wr := a.write(1, 0, 0, b, 3)
	wr.SGL, wr.Flags = []verbs.SGE{a.sge(0, 3), a.sge(50, 4), a.sge(20, 5)}, verbs.Signaled|verbs.Inline
	a.post(wr, a.read(2, 200, 12, b, 3))
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusSuccess)
	p := pattern(100, 1)
	if want := bytes.Join([][]byte{p[:3], p[50:54], p[20:25]}, nil); !bytes.Equal(a.load(200, 12), want) {
		t.errorf("got %x, want %x", a.load(200, 12), want)
	}
}

// A Write gathers its list.
func gatheredWrite(t *T) {
	a, b := t.pair(verbs.QPConfig{MaxSGE: 4})
	m := pattern(1000, 1)
	a.store(0, m)
	wr := a.write(1, 0, 0, b, 5)
	wr.SGL = []verbs.SGE{a.sge(0, 3), a.sge(100, 100), a.sge(500, 5), a.sge(900, 1)}
	a.post(wr, a.read(2, 2000, 109, b, 5))
	a.want(1, verbs.StatusSuccess)
	a.want(2, verbs.StatusSuccess)
	if want := bytes.Join([][]byte{m[:3], m[100:200], m[500:505], m[900:901]}, nil); !bytes.Equal(b.load(5, len(want)), want) {
		t.errorf("a gathered Write differs")
	}
}

// A Read scatters into its list.
func scatteredRead(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	want := pattern(4200, 9)
	b.store(1, want)
	wr := a.read(1, 0, 0, b, 1)
	wr.SGL = []verbs.SGE{a.sge(2001, 50), a.sge(3000, 2000), a.sge(10000, 2150)}
	if wc := a.done(wr); wc.ByteLen != 4200 {
		t.errorf("its completion says %d bytes", wc.ByteLen)
	}
	if !bytes.Equal(a.load(2001, 50), want[:50]) || !bytes.Equal(a.load(3000, 2000), want[50:2050]) || !bytes.Equal(a.load(10000, 2150), want[2050:]) {
		t.errorf("a scattered Read differs")
	}
}

// A Send is gathered here and scattered there; the rest of the receive's memory stays
// unchanged.
func gatheredSend(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.store(0, pattern(100, 1))
	b.store(0, bytes.Repeat([]byte{0xee}, 300))
	b.recv(verbs.RecvWR{ID: 1, SGL: []verbs.SGE{b.sge(0, 10), b.sge(100, 30), b.sge(200, 50)}})
	wr := a.send(2, 0, 0)
	wr.SGL = []verbs.SGE{a.sge(0, 33), a.sge(50, 11)}
	a.done(wr)
	if wc := b.wantRecv(1, verbs.StatusSuccess); wc.ByteLen != 44 {
		t.errorf("%d bytes received, want 44", wc.ByteLen)
	}
	p := pattern(100, 1)
	want := append(p[:33:33], p[50:61]...)
	if !bytes.Equal(b.load(0, 10), want[:10]) || !bytes.Equal(b.load(100, 30), want[10:40]) || !bytes.Equal(b.load(200, 4), want[40:]) {
		t.errorf("a scattered Send differs")
	}
	if rest := b.load(204, 46); !bytes.Equal(rest, bytes.Repeat([]byte{0xee}, 46)) {
		t.errorf("behind the Send there is %x", rest)
	}
}

// Requests without bytes complete like others.
func noBytes(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.recv(verbs.RecvWR{ID: 1}, verbs.RecvWR{ID: 2, SGL: b.list(0, 8)})
	b.setWord(0, 5)
	write, read, first, second := a.write(1, 0, 0, b, 0), a.read(2, 0, 0, b, 0), a.send(3, 0, 0), a.send(4, 0, 0)
	for _, wr := range []*verbs.SendWR{&write, &read, &first} {
		wr.SGL = nil
	}
	a.post(write, read, first, second)
	for id := uint64(1); id <= 4; id++ {
		a.want(id, verbs.StatusSuccess)
	}
	for id := uint64(1); id <= 2; id++ {
		if wc := b.wantRecv(id, verbs.StatusSuccess); wc.ByteLen != 0 {
			t.errorf("%d bytes came with nothing", wc.ByteLen)
		}
	}
	if v := b.word(0); v != 5 {
		t.errorf("nothing changed 5 to %d", v)
	}
}

// A request without bytes accesses no memory, so its key is not checked (IBA, C9-88).
func noBytesAnyKey(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead} {
		a.done(verbs.SendWR{ID: uint64(i), Op: op, Flags: verbs.Signaled, RKey: b.mr.RKey() ^ 0x5500, RemoteAddr: 1 << 40})
	}
}

// Poll finds what Wait would.
func pollInstead(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(10) {
		a.post(a.write(i, 0, 8, b, 0))
		if wc := a.poll(a.cq); wc.ID != i || wc.Status != verbs.StatusSuccess {
			t.fatalf("polled %+v, want %d", wc, i)
		}
	}
	t.on(a.host, func() {
		if n, err := a.cq.Poll(make([]verbs.WC, 4)); n != 0 || err != nil {
			t.errorf("%d more, %v", n, err)
		}
	})
}

// Read-only memory can be sent from, and read remotely if that is permitted.
func readOnlySource(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	var mr verbs.MR
	t.on(a.host, func() { mr = must[verbs.MR](t)(a.pd.RegisterMR(a.mem, verbs.RemoteRead)) })
	t.cleanup(a.host, func() error { return mr.Dereg() })
	a.setWord(0, 77)
	wr := a.write(1, 0, 8, b, 0)
	wr.SGL[0].LKey = mr.LKey()
	a.done(wr)
	b.setWord(8, 0)
	back := b.read(2, 8, 8, a, 0)
	back.RKey = mr.RKey()
	b.done(back)
	if v := b.word(8); v != 77 {
		t.errorf("read %d, want 77", v)
	}
}

// An Atomic Write has placed its eight bytes when its completion arrives.
func atomicWrite(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 0x0102030405060708)
	wr := a.write(1, 0, 8, b, 16)
	wr.Op = verbs.OpAtomicWrite
	a.post(wr)
	if wc := a.want(1, verbs.StatusSuccess); wc.Op != verbs.WCAtomicWrite {
		t.errorf("its completion says %v", wc.Op)
	}
	if v := b.word(16); v != 0x0102030405060708 {
		t.errorf("placed %#x", v)
	}
}

// A Flush to global visibility makes earlier Writes visible when it completes.
func flush(t *T) {
	const both = verbs.FlushGlobal | verbs.FlushPersistent
	a, b := t.link(0, 1, endConfig{qp: verbs.QPConfig{Access: allRemote | both}, access: verbs.LocalWrite | allRemote | both})
	a.setWord(0, 9)
	a.post(a.write(1, 0, 8, b, 16), verbs.SendWR{ID: 2, Op: verbs.OpFlush, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(16),
		FlushLen: 8, FlushTo: verbs.FlushGlobal})
	a.want(1, verbs.StatusSuccess)
	if wc := a.want(2, verbs.StatusSuccess); wc.Op != verbs.WCFlush {
		t.errorf("its completion says %v", wc.Op)
	}
	if v := b.word(16); v != 9 {
		t.errorf("after the Flush the word is %d, want 9", v)
	}
}
