package verbstest

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

const (
	memSize   = 32 << 10
	allRemote = verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
)

// end is one end of a connection with all its objects. Its methods run on its host.
type end struct {
	t        *T
	host     int
	h        host.Host
	dev      verbs.Device
	pd       verbs.PD
	cq, rcq  verbs.CQ // of requests sent, and of receives
	mem      host.Region
	mr       verbs.MR
	prepared verbs.PreparedQP
	qp       verbs.QP
}

// endConfig describes how an end differs from the usual one.
type endConfig struct {
	qp     verbs.QPConfig
	access verbs.Access      // of the responder's memory; 0 is all but what Flush needs
	ch     verbs.CompChannel // of the CQ of requests sent
	size   int               // of the memory
}

// newEnd creates an unconnected end.
func (t *T) newEnd(h int, c endConfig) *end {
	e := &end{t: t, host: h}
	if c.access == 0 {
		c.access = verbs.LocalWrite | allRemote
	}
	if c.qp.Access == 0 {
		c.qp.Access = allRemote
	}
	if c.size == 0 {
		c.size = memSize
	}
	t.on(h, func() {
		e.h = t.site.Host(h)
		e.dev = e.h.Device()
		e.pd = must[verbs.PD](t)(e.dev.AllocPD())
		t.cleanup(h, func() error { return e.pd.Dealloc() })
		e.cq = must[verbs.CQ](t)(e.dev.CreateCQ(max(c.qp.MaxSendWR, 64)+8, c.ch))
		t.cleanup(h, func() error { return e.cq.Destroy() })
		e.rcq = must[verbs.CQ](t)(e.dev.CreateCQ(max(c.qp.MaxRecvWR, 64)+8, nil))
		t.cleanup(h, func() error { return e.rcq.Destroy() })
		e.mem = must[host.Region](t)(e.h.Alloc(c.size))
		t.cleanup(h, func() error { return e.mem.Free() })
		mr, err := e.pd.RegisterMR(e.mem, c.access)
		t.can(err)
		e.mr = mr
		t.cleanup(h, e.dereg)
		c.qp.SendCQ, c.qp.RecvCQ = e.cq, e.rcq
		qp, err := e.pd.CreateQP(c.qp)
		t.can(err)
		e.prepared = qp
		t.cleanup(h, e.destroy)
	})
	return e
}

func must[V any](t *T) func(V, error) V {
	return func(v V, err error) V {
		t.check(err)
		return v
	}
}

// dereg and destroy tolerate objects that are already destroyed.
func (e *end) dereg() error {
	if e.mr == nil {
		return nil
	}
	err := e.mr.Dereg()
	e.mr = nil
	return err
}

func (e *end) destroy() error {
	if e.prepared == nil {
		return nil
	}
	p := e.prepared
	e.prepared = nil
	if e.qp != nil {
		return e.qp.Destroy()
	}
	return p.Destroy()
}

// connect connects two ends to each other.
func (t *T) connect(a, b *end) {
	from, to := a.endpoint(), b.endpoint()
	t.on(b.host, func() { b.qp = must[verbs.QP](t)(b.prepared.Connect(from)) })
	t.on(a.host, func() { a.qp = must[verbs.QP](t)(a.prepared.Connect(to)) })
}

func (e *end) endpoint() (p verbs.Endpoint) {
	e.t.on(e.host, func() { p = e.prepared.Endpoint() })
	return p
}

// pair is two connected ends on hosts 0 and 1.
func (t *T) pair(cfg verbs.QPConfig) (a, b *end) { return t.link(0, 1, endConfig{qp: cfg}) }

// link is two connected ends on two hosts.
func (t *T) link(i, j int, c endConfig) (a, b *end) {
	a = t.newEnd(i, endConfig{qp: c.qp, size: c.size, ch: c.ch})
	b = t.newEnd(j, endConfig{qp: c.qp, size: c.size, access: c.access})
	t.connect(a, b)
	return a, b
}

// at returns the address of an offset, for the peer; sge and list name n bytes there.
func (e *end) at(off int) uint64 { return e.mr.Addr() + uint64(off) }

func (e *end) sge(off, n int) verbs.SGE {
	return verbs.SGE{Addr: e.at(off), Length: uint32(n), LKey: e.mr.LKey()}
}

func (e *end) list(off, n int) []verbs.SGE { return []verbs.SGE{e.sge(off, n)} }

// write, read, send, add and swap are signaled requests of e; what they reach lies
// at the offset far of peer.
func (e *end) write(id uint64, off, n int, peer *end, far int) verbs.SendWR {
	return verbs.SendWR{ID: id, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: peer.mr.RKey(), RemoteAddr: peer.at(far), SGL: e.list(off, n)}
}

func (e *end) read(id uint64, off, n int, peer *end, far int) verbs.SendWR {
	wr := e.write(id, off, n, peer, far)
	wr.Op = verbs.OpRead
	return wr
}

func (e *end) send(id uint64, off, n int) verbs.SendWR {
	return verbs.SendWR{ID: id, Op: verbs.OpSend, Flags: verbs.Signaled, SGL: e.list(off, n)}
}

func (e *end) add(id uint64, off int, peer *end, far int, delta uint64) verbs.SendWR {
	wr := e.write(id, off, 8, peer, far)
	wr.Op, wr.Add = verbs.OpFetchAdd, delta
	return wr
}

func (e *end) swap(id uint64, off int, peer *end, far int, from, to uint64) verbs.SendWR {
	wr := e.write(id, off, 8, peer, far)
	wr.Op, wr.Compare, wr.Swap = verbs.OpCompareSwap, from, to
	return wr
}

// post posts requests, which must be accepted; tryPost returns the result.
func (e *end) post(wrs ...verbs.SendWR) { e.t.can(e.tryPost(wrs...)) }

func (e *end) tryPost(wrs ...verbs.SendWR) (err error) {
	e.t.on(e.host, func() { err = e.qp.PostSend(wrs) })
	return err
}

// recv posts receives, before or after the end is connected.
func (e *end) recv(wrs ...verbs.RecvWR) { e.t.check(e.tryRecv(wrs...)) }

func (e *end) tryRecv(wrs ...verbs.RecvWR) (err error) {
	e.t.on(e.host, func() {
		if e.qp != nil {
			err = e.qp.PostRecv(wrs)
		} else {
			err = e.prepared.PostRecv(wrs)
		}
	})
	return err
}

// next waits for the next completion of cq.
func (e *end) next(cq verbs.CQ) verbs.WC {
	wc, err := e.wait(cq, patience)
	e.t.check(err)
	return wc
}

func (e *end) wait(cq verbs.CQ, timeout time.Duration) (verbs.WC, error) {
	var wc [1]verbs.WC
	var err error
	e.t.on(e.host, func() { _, err = cq.Wait(wc[:], timeout) })
	return wc[0], err
}

// want waits for the completion of a request that was sent.
func (e *end) want(id uint64, status verbs.Status) verbs.WC { return e.wantOf(e.cq, id, status) }

// wantRecv waits for the completion of a receive.
func (e *end) wantRecv(id uint64, status verbs.Status) verbs.WC { return e.wantOf(e.rcq, id, status) }

func (e *end) wantOf(cq verbs.CQ, id uint64, status verbs.Status) verbs.WC {
	timeout := patience
	lost := e.t.lost(status)
	if lost {
		timeout = moment
	}
	wc, err := e.wait(cq, timeout)
	if lost && errors.Is(err, verbs.ErrTimeout) {
		return wc
	}
	e.t.check(err)
	if wc.ID != id || wc.QPNum != e.prepared.Num() || wc.Status != status && !e.t.known(status, wc.Status) {
		e.t.fatalf("completion %d of QP %d with %v, want %d of QP %d with %v", wc.ID, wc.QPNum, wc.Status, id, e.prepared.Num(), status)
	}
	if err := wc.Err(); status != verbs.StatusSuccess && !errors.Is(err, verbs.ErrCompletion) {
		e.t.errorf("its error is %v", err)
	}
	return wc
}

// done posts a request and waits for its success.
func (e *end) done(wr verbs.SendWR) verbs.WC {
	e.post(wr)
	return e.want(wr.ID, verbs.StatusSuccess)
}

// nothing checks that no completion of cq arrives.
func (e *end) nothing(cq verbs.CQ) {
	e.t.on(e.host, func() {
		var wc [1]verbs.WC
		if n, err := cq.Wait(wc[:], moment); !errors.Is(err, verbs.ErrTimeout) {
			e.t.errorf("%d completions, %v, %+v; want none", n, err, wc[0])
		}
	})
}

// modify changes the queue pair, which must be allowed.
func (e *end) modify(a verbs.QPAttr) { e.t.check(e.tryModify(a)) }

func (e *end) tryModify(a verbs.QPAttr) (err error) {
	e.t.on(e.host, func() { err = e.qp.Modify(a) })
	return err
}

// state returns the state that the device reports.
func (e *end) state() (s verbs.QPState) {
	e.t.on(e.host, func() { s = e.qp.State() })
	return s
}

// load and store access the end's memory from the CPU.
func (e *end) load(off, n int) []byte {
	b := make([]byte, n)
	e.t.on(e.host, func() { e.mem.Load(off, b) })
	return b
}

func (e *end) store(off int, b []byte) { e.t.on(e.host, func() { e.mem.Store(off, b) }) }

func (e *end) word(off int) (v uint64) {
	e.t.on(e.host, func() { v = e.mem.Load64(off) })
	return v
}

func (e *end) setWord(off int, v uint64) { e.t.on(e.host, func() { e.mem.Store64(off, v) }) }

// pattern is n bytes that differ from their neighbours and depend on seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed + byte(i*7+i>>8)
	}
	return b
}

// poll polls until there is a completion; it does not sleep.
func (e *end) poll(cq verbs.CQ) verbs.WC {
	var wc [1]verbs.WC
	e.t.on(e.host, func() {
		began := e.h.Now()
		for n := 0; n == 0; {
			var err error
			if n, err = cq.Poll(wc[:]); err != nil || e.h.Now()-began > patience {
				e.t.fatalf("poll: %v, after %v", err, (e.h.Now() - began).Round(time.Second))
			}
		}
	})
	return wc[0]
}
