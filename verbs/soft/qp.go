package soft

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// qp is a queue pair. It implements verbs.QP, and prepared verbs.PreparedQP.
//
// Its lock is held while memory is read or written for it, one packet at a time, so that
// access is revoked once Modify returns.
type qp struct {
	d      *device
	pd     *pd
	num    uint32
	cfg    verbs.QPConfig
	sendCQ *cq
	recvCQ *cq
	freed  atomic.Uint64 // slots of the send queue that polls have freed, in total
	rfreed atomic.Uint64 // the same for the receive queue

	mu         sync.Mutex
	gone       bool
	connected  bool
	state      verbs.QPState
	access     verbs.Access
	remote     verbs.Endpoint
	sq         []slot
	head, tail uint64 // sq[head:tail] has not completed, counted from the first post
	quiet      uint64 // completed unsignaled requests
	inlines    []byte // for each slot, once a request is inline
	rq         []receive
	rhead      uint64
	rtail      uint64
	out        *link    // our requests; nil until the first one
	lives      uint32   // number of links so far
	in         *inbound // the peer's requests
	used       bool     // the peer has made requests since RTR
}

type prepared qp

// CreateQP implements verbs.PD.
func (p *pd) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	d := p.d
	send, ok1 := cfg.SendCQ.(*cq)
	recv, ok2 := cfg.RecvCQ.(*cq)
	if !ok1 || !ok2 || send.d != d || recv.d != d {
		return nil, d.errorf("create QP: %w: both CQs must be of this device", verbs.ErrInvalid)
	}
	if err := d.alive(); err != nil {
		return nil, err
	}
	attr := d.Attr()
	cfg, err := cfg.Resolve(&attr)
	if err != nil {
		return nil, d.errorf("create QP: %w", err)
	}
	for cfg.PSN == 0 {
		cfg.PSN = rand.Uint32() & (1<<24 - 1)
	}
	q := &qp{d: d, pd: p, cfg: cfg, sendCQ: send, recvCQ: recv, state: verbs.StateInit, access: cfg.Access,
		sq: make([]slot, cfg.MaxSendWR), rq: make([]receive, cfg.MaxRecvWR)}
	for i, list := range lists(cfg.MaxSendWR, cfg.MaxSGE) {
		q.sq[i].list = list
	}
	for i, list := range lists(cfg.MaxRecvWR, cfg.MaxSGE) {
		q.rq[i].list = list
	}
	if err := q.join(); err != nil {
		return nil, d.errorf("create QP: %w", err)
	}
	if err := d.addQP(q); err != nil {
		q.leave()
		return nil, err
	}
	return (*prepared)(q), nil
}

// lists allocates n lists of size elements, so that posting allocates nothing.
func lists(n, size int) [][]verbs.SGE {
	all, out := make([]verbs.SGE, n*size), make([][]verbs.SGE, n)
	for i := range out {
		out[i] = all[i*size : i*size : (i+1)*size]
	}
	return out
}

// join adds the queue pair to the counts of its objects, and leave removes it.
func (q *qp) join() error {
	if err := q.pd.join(); err != nil {
		return err
	}
	for i, c := range []*cq{q.sendCQ, q.recvCQ} {
		if err := c.use(1); err != nil {
			if i == 1 {
				_ = q.sendCQ.use(-1) // join has just added it
			}
			q.pd.leave()
			return err
		}
	}
	return nil
}

func (q *qp) leave() {
	_ = q.sendCQ.use(-1) // cannot fail: a CQ in use cannot be destroyed
	_ = q.recvCQ.use(-1)
	q.pd.leave()
}

// Num and the methods below implement verbs.PreparedQP.
func (p *prepared) Num() uint32                       { return p.num }
func (p *prepared) PostRecv(wrs []verbs.RecvWR) error { return (*qp)(p).PostRecv(wrs) }
func (p *prepared) Destroy() error                    { return (*qp)(p).Destroy() }

// Endpoint carries the address of the device: the IP address as the GID, and the port as
// the LID, which has no other use on Ethernet.
func (p *prepared) Endpoint() verbs.Endpoint {
	return verbs.Endpoint{GID: p.d.at.Addr().As16(), LID: p.d.at.Port(), QPN: p.num, PSN: p.cfg.PSN, MTU: mtu}
}

func (p *prepared) Connect(remote verbs.Endpoint) (verbs.QP, error) {
	q := (*qp)(p)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.gone:
		return nil, q.d.errorf("connect QP %d: %w", q.num, verbs.ErrClosed)
	case q.connected:
		return nil, q.d.errorf("connect QP %d: %w: it is connected already", q.num, verbs.ErrState)
	}
	if err := checkEndpoint(remote); err != nil {
		return nil, q.d.errorf("connect QP %d: %w", q.num, err)
	}
	q.remote, q.connected, q.state = remote, true, verbs.StateRTS
	return q, nil
}

// checkEndpoint validates the endpoint of the peer.
func checkEndpoint(e verbs.Endpoint) error {
	if err := e.Check(verbs.MinMTU); err != nil {
		return fmt.Errorf("the peer: %w", err)
	}
	if e.GID == [16]byte{} || e.LID == 0 {
		return errorOf(verbs.ErrInvalid, "the endpoint has no IP address (GID) or no port (LID): it is not an endpoint of a soft device")
	}
	return nil
}

// peer returns the address of the peer's device.
func (q *qp) peer() netip.AddrPort { return addrOf(q.remote.GID, q.remote.LID) }

func addrOf(gid [16]byte, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(gid).Unmap(), port)
}

// Num and the methods below implement verbs.QP.
func (q *qp) Num() uint32 { return q.num }

func (q *qp) State() verbs.QPState {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return verbs.StateErr
	}
	return q.state
}

// Modify implements verbs.QP. It changes the state and the access flags; the other
// attributes keep the values with which the QP was connected.
func (q *qp) Modify(a verbs.QPAttr) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return q.d.errorf("modify QP %d: %w", q.num, verbs.ErrClosed)
	}
	to := q.state
	if a.SetState {
		to = a.State
	}
	if err := verbs.CheckTransition(q.state, to, a.Mask); err != nil {
		return q.d.errorf("modify QP %d: %w", q.num, err)
	}
	if a.Mask&verbs.AttrAltPath != 0 {
		return q.d.errorf("modify QP %d: %w: an alternate path", q.num, verbs.ErrUnsupported)
	}
	if a.Mask&verbs.AttrAccess != 0 {
		if err := verbs.CheckAccess(a.Access, q.d.Attr().HasFlush); err != nil {
			return q.d.errorf("modify QP %d: %w", q.num, err)
		}
		q.access = a.Access
	}
	q.state = to
	switch {
	case to == verbs.StateReset:
		q.reset()
	case to == verbs.StateErr:
		q.flush()
	case q.out != nil:
		q.out.kick() // the state may be RTS again
	}
	return nil
}

// reset drops queued requests, and completions that have not been polled.
func (q *qp) reset() {
	q.letGo()
	q.sendCQ.forget(q)
	q.recvCQ.forget(q)
	q.head, q.tail, q.quiet, q.rhead, q.rtail, q.used = 0, 0, 0, 0, 0, false
	q.freed.Store(0)
	q.rfreed.Store(0)
}

// letGo closes both connections.
func (q *qp) letGo() {
	if l := q.out; l != nil {
		q.out = nil
		l.cancel()
		if l.conn != nil {
			_ = l.conn.Close() // no request follows
		}
	}
	if in := q.in; in != nil {
		q.in = nil
		in.dead = true
		_ = in.conn.Close()
	}
}

// Destroy implements verbs.QP.
func (q *qp) Destroy() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return q.d.errorf("destroy QP %d: %w", q.num, verbs.ErrClosed)
	}
	q.gone = true
	q.reset()
	q.d.removeQP(q.num)
	q.leave()
	return nil
}
