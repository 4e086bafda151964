package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim/order"
)

// unlimited is the reach of a queue that nothing has cut off.
const unlimited = 1 << 40

// sqEntry is a send work request from its post until its completion.
type sqEntry struct {
	id                 uint64
	op                 verbs.Opcode
	flags              verbs.SendFlags
	imm                uint32
	length             int
	compare, swap, add uint64
	mr                 *mr          // the remote memory that it names
	into               []*mr        // of a Send: the registrations of its receive
	local              verbs.Status // the error with which the requester's card refuses it
	nak                verbs.Status // the error with which the responder will refuse it
	need               verbs.Access // the access that the responder must grant
	recvErr            verbs.Status // the error with which its receive then completes
	early              bool         // nak is because of the QP's access flags, which may change before the request arrives
	keyless            bool         // its key does not grant what it needs
	came               bool         // it has certainly reached the responder
	recv               bool         // its receive has completed
	signaled           bool
	at                 int   // when it was posted
	dst                []sge // the local memory of its scatter/gather list
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

// qp is one side of a reliable connection: the requester for its own send queue, and the responder for its peer's.
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
	peer    *qp // the other side, once both are connected (meet)
	gone    bool
	linked  bool         // Connect has named the other side
	nth     int          // its number among the QPs of its host that lead there
	sq      []sqEntry    // a ring: request i is at i modulo its length
	base    int          // the oldest request that it holds
	head    int          // first work request without a completion
	done    []completion // decided but not polled yet
	posted  int
	last    order.Request // the place of the last one posted
	freed   int           // requests whose slots are free again
	limit   int           // work requests from here on can never arrive
	cutAt   int           // and from here on none arrives while the link is cut
	unacked int           // and from here on none is ever acknowledged: the responder's queue pair stopped first (acked.go)
	held    int           // and from here on none leaves before the queue pair leaves SQD
	first   int           // the requests before this one were wiped by a RESET
	since   int           // the first request of the latest connection
	stale   bool          // its peer has a new connection, and this queue pair has not
	broken  bool
	// refusedBy keeps q from failing by itself (canFail): it is failing because its peer
	// refused a request, or it has just reported that it has no receive.
	refusedBy bool
	forsaken  bool // a request was counted as lost while the link was cut for good; a heal does not send it again, since the queue pair had given up
	misfitted bool // its next receive has failed, and is in the CQ before the flushed ones
	// catching is set during catchUp.
	catching   bool
	completing bool // the data that it brings is being placed
	elems      []*elem
	rq         []recvWR
	met        int // how many of rq, from the first on, have met the request that consumes them
	matched    int // in the peer's SQ: requests before it have met their receives
	unmet      int // requests whose receive has not completed
	recvNext   int // in the peer's SQ: first request whose receive has not completed
	untold     int // Host.tells when it was made: nobody else knows of it while that number stays the same
	// buffer is set if this is not a queue pair, but the queue of a store buffer.
	buffer *storeBuffer
}

// connection returns the connection of request i: 2 for the current one, 1 for the one before, 0 for an earlier one.
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
	q.w.touch(object(objKeys, q.h.node.idx, 0), Write) // an earlier request for this QP is refused
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

// State implements verbs.QP. It is a look, and a step of its own: a failure of the peer takes this QP to ERR as well.
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

// alone reports whether this connection never had a peer.
func (q *qp) alone() bool {
	p := q.peer
	if p == nil {
		return !q.stale || q.limit == unlimited
	}
	return q.limit == unlimited && (p.state < verbs.StateRTR || p.state == verbs.StateErr)
}

// reach returns the index of the first work request that cannot have arrived yet.
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

// sent returns the index of the first work request that the link, or the state of q, holds back.
func (q *qp) sent() int {
	n := min(q.limit, q.cutAt, q.held, q.posted)
	if !q.sends() {
		n = min(n, q.denied())
	}
	return n
}

// finds returns the index of the first work request that fails, or that finds none of so many receives.
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

// outstanding returns the end of the requests that may have left: those posted in SQD have not.
func (q *qp) outstanding() int { return min(q.posted, q.held) }

func (w *World) qpByNum(h *Host, num uint32) *qp { return h.card.qps[num-1] }
