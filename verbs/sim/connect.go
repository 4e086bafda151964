package sim

import (
	"encoding/binary"
	"fmt"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// How the two queue pairs of a connection meet, for the first time or again.

// prepared is a qp before it is connected.
type prepared qp

func (q *qp) endpoint() verbs.Endpoint {
	e := verbs.Endpoint{QPN: q.num, PSN: q.cfg.PSN, MTU: uint16(q.w.cfg.Profile.MTU)}
	e.GID = q.h.gid()
	return e
}

// gid returns the address of a machine: the number of the host, and its life.
func (h *Host) gid() (g [16]byte) {
	g[0] = byte(h.node.idx)
	binary.BigEndian.PutUint32(g[1:], uint32(h.life))
	return g
}

func gidHost(g [16]byte) int { return int(g[0]) }

func gidLife(g [16]byte) int { return int(binary.BigEndian.Uint32(g[1:])) }

func (q *qp) connect(e verbs.Endpoint) (verbs.QP, error) {
	q.w.guard()
	if q.w.dying() {
		return nil, verbs.ErrClosed
	}
	q.w.cur.drain()
	if q.untold != q.h.tells || q.h.live > 1 {
		q.w.cur.pauseAfter() // earlier requests find no connection, and may have failed for that reason
	} else {
		q.w.cur.passes()
	}
	if q.gone {
		return nil, q.w.cur.refused(fmt.Errorf("sim: connect QP %d: %w", q.num, verbs.ErrClosed))
	}
	if q.state != verbs.StateInit || q.linked {
		return nil, q.w.cur.refused(fmt.Errorf("sim: connect QP %d: %w: in state %v", q.num, verbs.ErrState, q.state))
	}
	if err := e.Check(1); err != nil {
		return nil, fmt.Errorf("sim: connect QP %d: the peer: %w", q.num, err)
	}
	if gidHost(e.GID) >= len(q.w.nodes) {
		return nil, fmt.Errorf("sim: connect QP %d: %w: no host has the address %x", q.num, verbs.ErrInvalid, e.GID)
	}
	for _, p := range q.h.card.qps {
		q.nth += boolInt(p.linked && p.remote.GID == e.GID)
	}
	q.remote, q.state, q.linked = e, verbs.StateRTS, true
	q.link()
	q.w.cur.ends()
	if q.w.tracer != nil {
		q.w.trace(q.h, "connect", "connects %s", q.name())
	}
	return q, nil
}

// link starts a connection of the queue pair, the first one or one after a RESET.
func (q *qp) link() {
	q.touchElems()
	if p := q.peer; p != nil && p.peer == q {
		p.keepReceived()
		p.peer, p.stale = nil, true
	}
	q.leaveBehind()
	q.peer, q.stale, q.broken, q.unmet, q.met = nil, false, false, 0, 0
	q.limit, q.cutAt, q.unacked, q.held, q.since = unlimited, unlimited, unlimited, unlimited, q.first
	if q.w.linkCut(q.h.node.idx, q.remoteNode()) {
		q.cutAt = q.posted
	}
	q.meet()
}

// leaveBehind decides which requests of the old connection have arrived by now; the rest never will.
// It leaves nothing open, even in late mode, so that no rule needs to distinguish two connections.
func (q *qp) leaveBehind() {
	q.w.expireAtomics(q, 0) // the peer's card executes those that have arrived: an element behind one has not arrived without it
	reach := q.reach()
	for all := sweep(&q.elems); all.next(); {
		switch e := all.e; {
		case e.wr >= q.first || e.frozen && e.changes():
		case e.changes() && q.w.machine.accepted(e):
			q.w.land(e)
			all.again()
		case !e.changes() || !e.could && e.wr >= reach:
			q.w.discard(e)
			all.again()
		case q.w.machine.stops(e):
			all.again()
		}
	}
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.wr < q.first && e.frozen && e.changes() && !e.struck() {
			q.w.settleFrozen(e.reg, e.off, e.n)
			all.again()
		}
	}
}

// meet links the two queue pairs once both are connected to each other.
func (q *qp) meet() {
	for _, p := range q.w.qps {
		if p.num == q.remote.QPN && p.h.gid() == q.remote.GID &&
			p.state >= verbs.StateRTR && p.state != verbs.StateErr && p.peer == nil && !p.stale && p.remote.QPN == q.num &&
			p.remote.GID == q.h.gid() && !p.gone && !p.asks(isRetry) {
			q.peer, p.peer = p, q
			q.touchElems()
			q.recvNext, p.recvNext = p.first, q.first
			q.matched, p.matched = p.first, q.first
			q.meets() // requests that were posted before they met can arrive from now on
			p.meets()
		}
	}
}

// meets makes the checks for requests that were posted before the queue pairs met.
func (q *qp) meets() {
	for i := q.head; i < q.posted; i++ {
		if s := q.ent(i); s.nak == verbs.StatusSuccess {
			q.checkAccess(s)
		}
	}
	q.match()
}

func (q *qp) remoteNode() int { return gidHost(q.remote.GID) }

func (q *qp) remoteLife() int { return gidLife(q.remote.GID) }

func (q *qp) remoteSym() int {
	if !q.linked {
		return -1
	}
	return q.w.nodes[q.remoteNode()].sym
}

func (w *World) linkCut(a, b int) bool {
	if a > b {
		a, b = b, a
	}
	for _, c := range w.cuts {
		if c.a == a && c.b == b {
			return true
		}
	}
	return false
}
