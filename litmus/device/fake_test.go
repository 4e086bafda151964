package device

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// fakeNet is cards made of goroutines, one for each queue pair: enough of package verbs
// to run tests in real time without a card. With reorder it places Writes late and in
// any order.
type fakeNet struct {
	reorder   bool
	mu        sync.Mutex
	last      uint32 // number of a queue pair, or key
	qps       map[uint32]*fakeQP
	mrs       map[uint32]*fakeMR
	open      int // unreleased objects
	cut       bool
	limit     int  // of a send queue; 0: none
	unaligned bool // unaligned requests are refused when posted
	loses     int  // every so many completions one is lost; 0: none
	forgets   int  // every so many signaled requests wait for the next post; 0: none
	completed atomic.Int64
	signaled  atomic.Int64
}

// Cut and Heal implement Links: there are two cards.
func (n *fakeNet) Cut(int, int) error  { return n.link(true) }
func (n *fakeNet) Heal(int, int) error { return n.link(false) }

func (n *fakeNet) link(cut bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	return nil
}

func (n *fakeNet) isCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

func newFakeNet(reorder bool) *fakeNet {
	return &fakeNet{reorder: reorder, last: 16, qps: map[uint32]*fakeQP{}, mrs: map[uint32]*fakeMR{}}
}

// cards makes n devices.
func (n *fakeNet) cards(count int) []verbs.Device {
	var out []verbs.Device
	for i := range count {
		out = append(out, &fakeDevice{n, "fake" + string(rune('0'+i))})
	}
	return out
}

func (n *fakeNet) number(change int) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	n.open += change
	return n.last
}

type fakeDevice struct {
	net  *fakeNet
	name string
}

func (d *fakeDevice) Attr() verbs.DeviceAttr                        { return verbs.DeviceAttr{Name: d.name} }
func (d *fakeDevice) CreateCompChannel() (verbs.CompChannel, error) { return nil, verbs.ErrUnsupported }
func (d *fakeDevice) Close() error                                  { return nil }

func (d *fakeDevice) AllocPD() (verbs.PD, error) {
	d.net.number(1)
	return &fakePD{d.net}, nil
}

func (d *fakeDevice) CreateCQ(int, verbs.CompChannel) (verbs.CQ, error) {
	d.net.number(1)
	return &fakeCQ{net: d.net, wake: make(chan struct{}, 1)}, nil
}

type fakePD struct{ net *fakeNet }

func (p *fakePD) Dealloc() error { p.net.number(-1); return nil }

func (p *fakePD) RegisterMR(mem verbs.Memory, access verbs.Access) (verbs.MR, error) {
	m := &fakeMR{net: p.net, key: p.net.number(1), region: mem.(host.Region), access: access}
	p.net.mu.Lock()
	p.net.mrs[m.key] = m
	p.net.mu.Unlock()
	return m, nil
}

func (p *fakePD) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	if p.net.limit > 0 && cfg.MaxSendWR > p.net.limit {
		return nil, verbs.ErrInvalid
	}
	q := &fakeQP{net: p.net, cfg: cfg, num: p.net.number(1), state: verbs.StateInit, ended: make(chan struct{})}
	q.turn = sync.NewCond(&q.mu)
	p.net.mu.Lock()
	p.net.qps[q.num] = q
	p.net.mu.Unlock()
	return q, nil
}

type fakeMR struct {
	net    *fakeNet
	key    uint32
	region host.Region
	access verbs.Access
	users  sync.WaitGroup // requests that are at its memory
}

func (m *fakeMR) Addr() uint64 { return m.region.Addr() }
func (m *fakeMR) Len() int     { return m.region.Len() }
func (m *fakeMR) LKey() uint32 { return m.key }
func (m *fakeMR) RKey() uint32 { return m.key }

// Dereg waits for requests, those of the other card too, that have come to the memory:
// after it the memory may be freed.
func (m *fakeMR) Dereg() error {
	m.net.mu.Lock()
	if m.net.mrs[m.key] == nil {
		m.net.mu.Unlock()
		return verbs.ErrClosed
	}
	delete(m.net.mrs, m.key)
	m.net.open--
	m.net.mu.Unlock()
	m.users.Wait()
	return nil
}

// at finds the memory that a key, an address and a length name. The caller is one of its
// users then.
func (n *fakeNet) at(key uint32, addr uint64, size int, access verbs.Access) (*fakeMR, int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := n.mrs[key]
	if m == nil || m.access&access != access || addr < m.Addr() || addr-m.Addr()+uint64(size) > uint64(m.Len()) {
		return nil, 0, false
	}
	m.users.Add(1)
	return m, int(addr - m.Addr()), true
}

type fakeCQ struct {
	net  *fakeNet
	mu   sync.Mutex
	wcs  []verbs.WC
	wake chan struct{}
}

func (c *fakeCQ) Destroy() error { c.net.number(-1); return nil }

func (c *fakeCQ) push(wc verbs.WC) {
	if n := c.net.loses; n > 0 && c.net.completed.Add(1)%int64(n) == 0 {
		return
	}
	c.mu.Lock()
	c.wcs = append(c.wcs, wc)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *fakeCQ) Poll(wc []verbs.WC) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(wc, c.wcs)
	c.wcs = append(c.wcs[:0], c.wcs[n:]...)
	return n, nil
}

func (c *fakeCQ) Wait(wc []verbs.WC, timeout time.Duration) (int, error) {
	after := time.NewTimer(timeout)
	defer after.Stop()
	for {
		if n, err := c.Poll(wc); n > 0 || err != nil {
			return n, err
		}
		select {
		case <-c.wake:
		case <-after.C:
			return 0, verbs.ErrTimeout
		}
	}
}

// fakeSend is a request, with its payload if it is inline.
type fakeSend struct {
	verbs.SendWR
	inline []byte
	looked bool // it is not forgotten
}

// fakeQP is a queue pair and the card that serves it.
type fakeQP struct {
	net    *fakeNet
	cfg    verbs.QPConfig
	num    uint32
	peer   *fakeQP
	late   sync.WaitGroup // Writes that are not placed yet
	ended  chan struct{}  // the goroutine of a connected one
	mu     sync.Mutex
	turn   *sync.Cond
	state  verbs.QPState
	gone   bool
	served bool
	sq     []fakeSend
	rq     []verbs.RecvWR
}

func (q *fakeQP) Num() uint32 { return q.num }

func (q *fakeQP) Endpoint() verbs.Endpoint { return verbs.Endpoint{QPN: q.num, MTU: 1024} }

func (q *fakeQP) State() verbs.QPState {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state
}

func (q *fakeQP) Connect(e verbs.Endpoint) (verbs.QP, error) {
	q.net.mu.Lock()
	q.peer = q.net.qps[e.QPN]
	q.net.mu.Unlock()
	q.mu.Lock()
	q.state, q.served = verbs.StateRTS, true
	q.mu.Unlock()
	go q.serve()
	return q, nil
}

func (q *fakeQP) PostRecv(wrs []verbs.RecvWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return verbs.ErrClosed
	}
	for _, wr := range wrs {
		wr.SGL = append([]verbs.SGE(nil), wr.SGL...)
		q.rq = append(q.rq, wr)
	}
	if q.state == verbs.StateErr {
		q.flush()
	}
	q.turn.Broadcast()
	return nil
}

func (q *fakeQP) PostSend(wrs []verbs.SendWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return verbs.ErrClosed
	}
	for _, wr := range wrs {
		if q.net.unaligned && wr.RemoteAddr%8 != 0 {
			return verbs.ErrInvalid
		}
		wr.SGL = append([]verbs.SGE(nil), wr.SGL...)
		s := fakeSend{SendWR: wr}
		if wr.Flags&verbs.Inline != 0 {
			s.inline = q.gather(wr.SGL)
		}
		q.sq = append(q.sq, s)
	}
	q.turn.Broadcast()
	return nil
}

func (q *fakeQP) Modify(a verbs.QPAttr) error {
	if a.SetState {
		q.to(a.State)
	}
	return nil
}

func (q *fakeQP) to(s verbs.QPState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = s
	if s == verbs.StateErr {
		q.flush()
	}
	q.turn.Broadcast()
}

// flush flushes the receives of a queue pair in ERR.
func (q *fakeQP) flush() {
	for _, wr := range q.rq {
		q.cfg.RecvCQ.(*fakeCQ).push(verbs.WC{ID: wr.ID, Status: verbs.StatusWRFlushErr, QPNum: q.num})
	}
	q.rq = nil
}

func (q *fakeQP) Destroy() error {
	q.mu.Lock()
	if q.gone {
		q.mu.Unlock()
		return verbs.ErrClosed
	}
	q.gone = true
	q.turn.Broadcast()
	served := q.served
	q.mu.Unlock()
	if q.peer != nil { // its Send may wait for a receive
		q.peer.mu.Lock()
		q.peer.turn.Broadcast()
		q.peer.mu.Unlock()
	}
	if served {
		<-q.ended
	}
	q.late.Wait()
	q.net.number(-1)
	return nil
}

// serve is the card: it carries out one request after another.
func (q *fakeQP) serve() {
	defer close(q.ended)
	for {
		q.mu.Lock()
		for (len(q.sq) == 0 || q.forgotten()) && !q.gone {
			q.turn.Wait()
		}
		if q.gone {
			q.mu.Unlock()
			return
		}
		wr := q.sq[0]
		q.sq = q.sq[1:]
		failed := q.state == verbs.StateErr
		q.mu.Unlock()
		status := verbs.StatusWRFlushErr
		if !failed {
			status = q.carryOut(&wr)
		}
		if status != verbs.StatusSuccess {
			q.to(verbs.StateErr)
		}
		if status != verbs.StatusSuccess || wr.Flags&verbs.Signaled != 0 {
			q.cfg.SendCQ.(*fakeCQ).push(verbs.WC{ID: wr.ID, Status: status, Op: wr.Op.Completion(), ByteLen: uint32(wr.Length()), QPNum: q.num})
		}
	}
}

// forgotten reports whether the next request is left until another one is posted.
func (q *fakeQP) forgotten() bool {
	n := q.net.forgets
	if n == 0 || len(q.sq) != 1 || q.sq[0].Flags&verbs.Signaled == 0 || q.sq[0].looked {
		return false
	}
	q.sq[0].looked = q.net.signaled.Add(1)%int64(n) != 0
	return !q.sq[0].looked
}

// carryOut is the work of requester and responder for a request.
func (q *fakeQP) carryOut(wr *fakeSend) verbs.Status {
	needs := map[verbs.Opcode]verbs.Access{verbs.OpWrite: verbs.RemoteWrite, verbs.OpWriteImm: verbs.RemoteWrite, verbs.OpRead: verbs.RemoteRead,
		verbs.OpCompareSwap: verbs.RemoteAtomic, verbs.OpFetchAdd: verbs.RemoteAtomic}
	if q.net.isCut() {
		return verbs.StatusRetryExcErr
	}
	b := wr.inline
	if b == nil && needs[wr.Op]&(verbs.RemoteRead|verbs.RemoteAtomic) == 0 {
		b = q.gather(wr.SGL)
	}
	var r host.Region
	var off int
	leave := func() {}
	if need := needs[wr.Op]; need != 0 {
		m, at, ok := q.net.at(wr.RKey, wr.RemoteAddr, wr.Length(), need)
		if !ok {
			q.peer.to(verbs.StateErr)
			return verbs.StatusRemAccessErr
		}
		r, off, leave = m.region, at, m.users.Done
	}
	switch wr.Op {
	case verbs.OpWrite, verbs.OpWriteImm:
		place := func() {
			store(r, off, b)
			leave()
		}
		if q.net.reorder && wr.Op == verbs.OpWrite {
			q.late.Go(func() {
				for range rand.IntN(50) {
					runtime.Gosched()
				}
				place()
			})
			return verbs.StatusSuccess
		}
		q.late.Wait()
		place()
		if wr.Op == verbs.OpWriteImm {
			return q.deliver(wr, nil)
		}
	case verbs.OpSend, verbs.OpSendImm:
		q.late.Wait()
		return q.deliver(wr, b)
	case verbs.OpRead:
		q.late.Wait()
		b := make([]byte, wr.Length())
		load(r, off, b)
		leave()
		q.scatter(wr.SGL, b)
	default:
		q.late.Wait()
		q.net.mu.Lock() // atomics are atomic among themselves
		old := r.Load64(off)
		switch {
		case wr.Op == verbs.OpFetchAdd:
			r.Store64(off, old+wr.Add)
		case old == wr.Compare:
			r.Store64(off, wr.Swap)
		}
		q.net.mu.Unlock()
		leave()
		q.scatter(wr.SGL, binary.LittleEndian.AppendUint64(nil, old))
	}
	return verbs.StatusSuccess
}

// deliver consumes a receive of the peer; without one it waits forever.
func (q *fakeQP) deliver(wr *fakeSend, b []byte) verbs.Status {
	p := q.peer
	for {
		p.mu.Lock()
		gone := p.gone || p.state == verbs.StateErr
		if len(p.rq) > 0 && !gone {
			break
		}
		p.mu.Unlock()
		q.mu.Lock()
		gone = gone || q.gone
		q.mu.Unlock()
		if gone {
			return verbs.StatusRetryExcErr
		}
		runtime.Gosched()
	}
	rw := p.rq[0]
	p.rq = p.rq[1:]
	p.mu.Unlock()
	wc := verbs.WC{ID: rw.ID, Op: verbs.WCRecv, QPNum: p.num, ByteLen: uint32(wr.Length())}
	if wr.Op != verbs.OpSend {
		wc.HasImm, wc.Imm = true, wr.Imm
	}
	if wr.Op == verbs.OpWriteImm {
		wc.Op = verbs.WCRecvWriteImm
	}
	p.scatter(rw.SGL, b)
	p.cfg.RecvCQ.(*fakeCQ).push(wc)
	return verbs.StatusSuccess
}

func (q *fakeQP) gather(sgl []verbs.SGE) []byte {
	var out []byte
	for _, s := range sgl {
		b := make([]byte, s.Length)
		if m, off, ok := q.net.at(s.LKey, s.Addr, len(b), 0); ok {
			load(m.region, off, b)
			m.users.Done()
		}
		out = append(out, b...)
	}
	return out
}

func (q *fakeQP) scatter(sgl []verbs.SGE, b []byte) {
	for _, s := range sgl {
		n := min(int(s.Length), len(b))
		if m, off, ok := q.net.at(s.LKey, s.Addr, n, verbs.LocalWrite); ok {
			store(m.region, off, b[:n])
			m.users.Done()
		}
		b = b[n:]
	}
}

// store and load move aligned words atomically.
func store(r host.Region, off int, b []byte) {
	for ; len(b) >= 8 && off%8 == 0; off, b = off+8, b[8:] {
		r.Store64(off, binary.LittleEndian.Uint64(b))
	}
	r.Store(off, b)
}

func load(r host.Region, off int, b []byte) {
	for ; len(b) >= 8 && off%8 == 0; off, b = off+8, b[8:] {
		binary.LittleEndian.PutUint64(b, r.Load64(off))
	}
	r.Load(off, b)
}
