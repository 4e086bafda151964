package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim/order"
)

// unlimited is the reach of a queue that nothing has cut off.
const unlimited = 1 << 40

// sqEntry is a send work request from its posting until its completion.
type sqEntry struct {
	id                 uint64
	op                 verbs.Opcode
	flags              verbs.SendFlags
	imm                uint32
	length             int
	compare, swap, add uint64
	mr                 *mr          // the remote memory it names
	into               []*mr        // of a Send: the memory of its receive
	local              verbs.Status // the requester's card refuses it
	nak                verbs.Status // the responder will refuse it
	need               verbs.Access // what the responder must grant
	recvErr            verbs.Status // how its receive completes then
	early              bool         // nak is for the QP's access flags, which may change before it comes
	keyless            bool         // its key does not give what it needs
	came               bool         // it has reached the responder for certain
	recv               bool         // its receive has completed
	signaled           bool
	at                 int   // when it was posted
	dst                []sge // where the response goes
	payload            []*elem
	place              order.Request
}

// recvWR is a receive that has not completed.
type recvWR struct {
	verbs.RecvWR
	at int // when it was posted
}

type sge struct {
	r      *region
	off, n int
}

// qp is one end of a reliable connection: requester for its own send queue and
// responder for that of its peer.
type qp struct {
	w       *World
	pd      *pd
	h       *Host
	num     uint32
	cfg     verbs.QPConfig
	sendCQ  *cq
	recvCQ  *cq
	state   verbs.QPState
	erredAt int // the moment at which it went to ERR
	access  verbs.Access
	remote  verbs.Endpoint
	peer    *qp // the other end, once both are connected (meet)
	gone    bool
	linked  bool         // Connect has named the other end
	nth     int          // among those of its host that lead there
	sq      []sqEntry    // a ring: request i is at i modulo its length
	base    int          // the oldest request that it holds
	head    int          // first work request without a completion
	done    []completion // decided, and not polled yet
	posted  int
	last    order.Request // of those posted
	freed   int           // slots given back
	limit   int           // work requests from here on can never arrive
	cutAt   int           // and from here on not while the link is cut
	unacked int           // and from here on never acknowledged: the responder's queue pair stopped first (acked.go)
	held    int           // and from here on not before the queue pair leaves SQD
	first   int           // the requests before were wiped by a RESET
	since   int           // the first request of the last connection that was made
	stale   bool          // its peer has a new connection, and it has not
	broken  bool
	// refusedBy: it is failing because its peer refused something, and takes it along.
	refusedBy bool
	forsaken  bool // what was lost since the link was cut for good is not sent again if code heals it: the queue pair had given up then
	misfitted bool // its next receive has failed, and is in the CQ before what is flushed
	// catching: see catchUp.
	catching   bool
	completing bool // what it brings is being placed
	elems      []*elem
	rq         []recvWR
	met        int // of these, from the first on, have met the request that takes them
	matched    int // in the peer's SQ: requests before it have met their receives
	unmet      int // requests whose receive has not completed
	recvNext   int // in the peer's SQ: first request whose receive has not completed
	untold     int // Host.tells when it was made: nobody else knows of it while that number stays
	// buffer: it is not a queue pair but the queue of this store buffer.
	buffer *storeBuffer
}

// connection returns the connection of request i: 2 for the present one, 1 for the one before, 0 for an earlier one.
func (q *qp) connection(i int) int { return boolInt(i >= q.since) + boolInt(i >= q.first) }

func (q *qp) ent(i int) *sqEntry { return &q.sq[i&(len(q.sq)-1)] }

func (q *qp) name() string {
	if q.buffer != nil {
		return q.h.Name() + "/" + q.buffer.t.name + "'s store"
	}
	to := "?"
	if q.linked {
		to = q.w.nodes[q.remoteNode()].spec.Name
	}
	return q.h.Name() + "→" + to
}

func (p *pd) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	send, ok1 := cfg.SendCQ.(*cq)
	recv, ok2 := cfg.RecvCQ.(*cq)
	if !ok1 || !ok2 || send.h != p.c.h || recv.h != p.c.h {
		return nil, fmt.Errorf("sim: create QP: %w: both CQs must be of this device", verbs.ErrInvalid)
	}
	p.c.h.w.guard()
	p.c.h.w.cur.pauseShared()
	if p.gone || send.gone || recv.gone {
		return nil, p.c.h.w.cur.refused(fmt.Errorf("sim: create QP: %w: the protection domain or a CQ", verbs.ErrClosed))
	}
	attr := p.c.Attr()
	cfg, err := cfg.Resolve(&attr)
	if err != nil {
		return nil, fmt.Errorf("sim: create QP: %w", err)
	}
	q := p.c.h.w.pools.qps.get()
	p.c.h.w.bound("queue pairs of a host", len(p.c.qps)+1, maxOrd)
	p.open++
	*q = qp{pd: p, sq: q.sq, elems: q.elems[:0], rq: q.rq[:0], w: p.c.h.w, h: p.c.h, num: uint32(len(p.c.qps) + 1), cfg: cfg, sendCQ: send, recvCQ: recv,
		state: verbs.StateInit, access: cfg.Access, last: order.Empty(), limit: unlimited, cutAt: unlimited, unacked: unlimited, held: unlimited,
		untold: p.c.h.tells}
	q.w.touch(object(objKeys, q.h.node.idx, 0), Write) // a request that arrives for it earlier is refused
	p.c.qps = append(p.c.qps, q)
	q.w.qps = append(q.w.qps, q)
	q.h.makes(madeQP, int(q.num), p.ord, send.ord, recv.ord, cfg.MaxSendWR, cfg.MaxRecvWR, cfg.MaxSGE, cfg.MaxInline, cfg.MaxRdAtomic,
		cfg.RetryCount, cfg.RNRRetry, boolInt(cfg.SignalAll), int(cfg.PSN))
	send.qps = append(send.qps, q)
	recv.rqps = append(recv.rqps, q)
	return (*prepared)(q), nil
}

func (p *prepared) Num() uint32                                { return p.num }
func (p *prepared) PostRecv(wrs []verbs.RecvWR) error          { return (*qp)(p).PostRecv(wrs) }
func (p *prepared) Destroy() error                             { return (*qp)(p).Destroy() }
func (p *prepared) Endpoint() verbs.Endpoint                   { return (*qp)(p).endpoint() }
func (p *prepared) Connect(e verbs.Endpoint) (verbs.QP, error) { return (*qp)(p).connect(e) }

// Num implements verbs.QP.
func (q *qp) Num() uint32 { return q.num }

// State implements verbs.QP. It is a look, and a step of its own: a failure of the
// peer takes this end to ERR as well.
func (q *qp) State() verbs.QPState {
	t := q.w.cur
	if t != nil {
		q.w.guard()
	}
	if t != nil && q.linked && !q.w.dying() {
		t.wait(op{kind: opRun})
		q.touch(Write)
		q.looked()
		t.looked = true
		t.obs.seeUint(uint64(q.state) + 1)
	}
	return q.state
}

// alone reports whether this connection never had another end.
func (q *qp) alone() bool {
	p := q.peer
	if p == nil {
		return !q.stale || q.limit == unlimited
	}
	return q.limit == unlimited && (p.state < verbs.StateRTR || p.state == verbs.StateErr)
}

// reach is the index of the first work request that cannot have arrived yet.
func (q *qp) reach() int {
	p := q.peer
	if q.alone() {
		return q.acked()
	}
	if p == nil || p.state < verbs.StateRTR || p.state == verbs.StateErr {
		return min(q.sent(), q.refused())
	}
	return q.finds(len(p.rq))
}

// sent is the index of the first work request that the link, or the state of q, keeps from the other end.
func (q *qp) sent() int {
	n := min(q.limit, q.cutAt, q.held, q.posted)
	if !q.sends() {
		n = min(n, q.denied())
	}
	return n
}

// finds is the index of the first work request that fails, or does not find one of so many receives.
func (q *qp) finds(receives int) int {
	n, from := q.sent(), q.head
	if q.peer != nil && q.unmet > 0 {
		from = max(q.peer.recvNext, q.base)
	}
	for i := from; i < n; i++ {
		s := q.ent(i)
		if s.nak != verbs.StatusSuccess || s.local != verbs.StatusSuccess {
			return i
		}
		if s.op.ConsumesRecv() && !s.recv {
			if receives == 0 {
				return i
			}
			receives--
		}
	}
	return n
}

func (q *qp) acked() int { return q.head }

// outstanding is the end of the requests that may have left: what was posted in SQD stays.
func (q *qp) outstanding() int { return min(q.posted, q.held) }

func (w *World) qpByNum(h *Host, num uint32) *qp { return h.card.qps[num-1] }
