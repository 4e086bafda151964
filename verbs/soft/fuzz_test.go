package soft

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/pages"
	"github.com/verbatim-rdma/verbatim/verbs"
)

const page = 4096

// guardedMemory is a page with a page on each side that nobody may touch.
type guardedMemory struct {
	all []byte
}

func newGuarded(t testing.TB) *guardedMemory {
	t.Helper()
	b, err := pages.Map(3*page, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, pages.Unmap(b)) })
	return &guardedMemory{b}
}

func (g *guardedMemory) Bytes() []byte  { return g.all[page : 2*page : 2*page] }
func (g *guardedMemory) Addr() uint64   { return pages.Addr(g.Bytes()) }
func (g *guardedMemory) Len() int       { return page }
func (g *guardedMemory) Flush(_, _ int) {}
func (g *guardedMemory) Fence()         {}

func (g *guardedMemory) untouched() bool {
	zeros := make([]byte, page)
	return bytes.Equal(g.all[:page], zeros) && bytes.Equal(g.all[2*page:], zeros)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// rig is a device with one queue pair, connected to one that does not exist.
type rig struct {
	d   *device
	pd  verbs.PD
	cq  verbs.CQ
	mem *guardedMemory
	mr  verbs.MR
	q   *qp
}

const everything = verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic | verbs.FlushGlobal | verbs.FlushPersistent

func newRig(t testing.TB, cfg verbs.QPConfig) *rig {
	t.Helper()
	r := &rig{d: must[verbs.Device](t)(Open(Config{})).(*device), mem: newGuarded(t)}
	t.Cleanup(func() { check(t, r.d.Close()) })
	r.pd = must[verbs.PD](t)(r.d.AllocPD())
	t.Cleanup(func() { check(t, r.pd.Dealloc()) })
	r.cq = must[verbs.CQ](t)(r.d.CreateCQ(256, nil))
	t.Cleanup(func() { check(t, r.cq.Destroy()) })
	r.mr = must[verbs.MR](t)(r.pd.RegisterMR(r.mem, verbs.LocalWrite|everything))
	t.Cleanup(func() { check(t, r.mr.Dereg()) })
	cfg.SendCQ, cfg.RecvCQ, cfg.Access = r.cq, r.cq, everything
	p := must[verbs.PreparedQP](t)(r.pd.CreateQP(cfg))
	t.Cleanup(func() { check(t, p.Destroy()) })
	e := p.Endpoint()
	e.QPN, e.PSN, e.LID = 77, 99, 9 // port discard: nobody is there
	r.q = must[verbs.QP](t)(p.Connect(e)).(*qp)
	return r
}

func (r *rig) list(off, n int) []verbs.SGE {
	return []verbs.SGE{{Addr: r.mr.Addr() + uint64(off), Length: uint32(n), LKey: r.mr.LKey()}}
}

// again takes the queue pair to where it was connected.
func (r *rig) again(t testing.TB) {
	for _, s := range []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
		a := verbs.QPAttr{SetState: true, State: s, Access: everything}
		for _, row := range verbs.Transitions {
			if row.From == r.q.State() && row.To == s {
				a.Mask = row.Required
			}
		}
		check(t, r.q.Modify(a))
	}
}

// hello returns the hello of the peer.
func (r *rig) hello() []byte {
	h := hello{to: r.q.num, from: 77, psn: 99, gid: r.d.at.Addr().As16(), port: 9}
	return h.append(nil)
}

// feed gives the device bytes of a connection, takes what it answers, and returns that when
// the device is done with the connection.
func (r *rig) feed(t testing.TB, input []byte) []byte {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		r.d.serve(there)
		_ = there.Close()
		close(done)
	}()
	answers := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(here) // until one of the two closes it
		answers <- b
	}()
	_, _ = here.Write(input) // it may close before it has read everything
	_ = here.Close()
	<-done
	return <-answers
}

// Whatever is parsed is written the same way again, but for bits that mean nothing, of which
// there are none.
func FuzzParse(f *testing.F) {
	h, r, a := hello{1, 2, 3, 4, [16]byte{5}, 6}, request{op: verbs.OpCompareSwap, seq: 1, length: 8, rkey: 2, addr: 3, a: 4, b: 5}, answer{data, 0, 7, 8}
	f.Add(h.append(nil))
	f.Add(appendWelcome(nil, true))
	f.Add(r.append(nil))
	f.Add(a.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHello(b); err == nil {
			if got := h.append(nil); !bytes.Equal(got, b) {
				t.Errorf("hello %x is written %x", b, got)
			}
		}
		if r, err := parseRequest(b); err == nil {
			if got := r.append(nil); !bytes.Equal(got, b) {
				t.Errorf("request %x is written %x", b, got)
			}
			if n := r.payload(); n < 0 || n > maxMessage {
				t.Errorf("request %x has %d bytes", b, n)
			}
		}
		if a, err := parseAnswer(b); err == nil {
			if got := a.append(nil); !bytes.Equal(got, b) {
				t.Errorf("answer %x is written %x", b, got)
			}
		}
		_ = parseWelcome(b)
	})
}

// steer makes more of the input reach memory: in each head the sequence number is the
// expected one, and the key and the address are near those of the region, but where the
// input has other wishes.
func (r *rig) steer(b []byte) []byte {
	out := r.hello()
	for seq := uint32(99); len(b) >= requestSize; seq++ {
		var req request
		head := bytes.Clone(b[:requestSize])
		head[0], head[1], head[2], head[3] = head[0]%10, head[1]&byte(verbs.FlushGlobal|verbs.FlushPersistent), head[2]&1, 0
		copy(head[28:32], make([]byte, 4))
		wild := head[8]
		head[8], head[9] = 0, 0 // lengths of at most 64 KiB
		req, err := parseRequest(head)
		if err != nil {
			req = request{op: verbs.OpWrite, length: uint32(head[11])}
		}
		req.seq = seq
		if wild&1 == 0 {
			req.rkey = r.mr.RKey()
		}
		if wild&2 == 0 {
			req.addr = r.mr.Addr() + uint64(int64(int16(req.addr)))%(2*page)
		}
		out = req.append(out)
		b = b[requestSize:]
		n := min(req.payload(), len(b))
		out = append(out, b[:n]...)
		b = b[n:]
	}
	return append(out, b...)
}

// A device that is fed what a stranger, or a peer that has gone mad, may send neither
// panics nor hangs, and touches nothing outside of the region.
func FuzzResponder(f *testing.F) {
	w := request{op: verbs.OpWrite, length: 16}
	s := request{op: verbs.OpSendImm, length: 8, imm: 3}
	for mode := range byte(3) {
		f.Add(mode, append(w.append(nil), make([]byte, 16)...))
		f.Add(mode, append(s.append(nil), make([]byte, 8)...))
		f.Add(mode, (&request{op: verbs.OpFetchAdd, length: 8, a: 1}).append((&request{op: verbs.OpRead, length: 5000}).append(nil)))
		f.Add(mode, (&request{op: verbs.OpFlush, flush: verbs.FlushPersistent, whole: true}).append(nil))
	}
	r := newRig(f, verbs.QPConfig{})
	f.Fuzz(func(t *testing.T, mode byte, b []byte) {
		r.again(t)
		check(t, r.q.PostRecv([]verbs.RecvWR{{ID: 1, SGL: r.list(0, 64)}, {ID: 2, SGL: r.list(page-8, 8)}}))
		switch mode % 3 {
		case 1:
			b = append(r.hello(), b...)
		case 2:
			b = r.steer(b)
		}
		r.feed(t, b)
		if !r.mem.untouched() {
			t.Fatal("the device wrote outside of the region")
		}
	})
}

// A requester that is answered with anything completes each of its requests once.
func FuzzRequester(f *testing.F) {
	r := newRig(f, verbs.QPConfig{PSN: 1})
	for seq := range uint32(9) {
		f.Add((&answer{kind: ack, seq: seq}).append(nil))
		f.Add(append((&answer{kind: data, seq: seq, length: 8}).append(nil), make([]byte, 8)...))
		f.Add((&answer{kind: nak, status: verbs.StatusRemAccessErr, seq: seq}).append(nil))
		f.Add((&answer{kind: rnr, seq: seq}).append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r.again(t)
		wr := verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Signaled, SGL: r.list(0, 8)}
		l := newLink(r.q)
		here, there := net.Pipe()
		l.conn = there
		r.q.mu.Lock()
		r.q.out = l // nobody sends
		for i, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpSend, verbs.OpRead, verbs.OpFetchAdd, verbs.OpFlush, verbs.OpSendImm, verbs.OpRead} {
			x := wr
			x.ID, x.Op = uint64(i), op
			if op == verbs.OpFlush {
				x.SGL, x.FlushTo = nil, verbs.FlushGlobal
			}
			check(t, r.q.postOne(&x))
			l.sent++
			if op.Responds() {
				l.reads++
			}
		}
		r.q.mu.Unlock()
		done := make(chan struct{})
		go func() { l.receive(there); close(done) }()
		_, _ = here.Write(b) // it may be closed before
		_ = here.Close()
		<-done
		var wc [8]verbs.WC
		n, err := r.cq.Poll(wc[:])
		if n != 7 || err != nil {
			t.Fatalf("%d completions, %v", n, err)
		}
		for i := range n {
			if wc[i].ID != uint64(i) {
				t.Errorf("completion %d is of %d", i, wc[i].ID)
			}
		}
		if !r.mem.untouched() {
			t.Fatal("the device wrote outside of the region")
		}
	})
}
