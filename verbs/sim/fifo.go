package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// A CQ is first in, first out: a request that is posted while a completion waits in the CQ completes behind
// it. The eager machine stores the queue. The late machine decides a completion when code polls it. That
// keeps the order by itself, unless code observed the effect of a completion earlier, such as a response in
// memory. Such a completion is kept until the poll, with the moment at which it entered the CQ.

// keep decides completion o before code polls it.
func (c *cq) keep(o outcome) completion {
	x := completion{wr: o.wr, recv: o.recv, from: o.from()}
	for _, qs := range [2][]*qp{c.qps, c.rqps} {
		for _, q := range qs {
			if q != o.q || len(q.rq) > 0 {
				q.touch(Write) // a post there comes before o or after it
			}
		}
	}
	c.h.w.complete(o, &x.wc)
	c.h.w.ticks++
	x.at = c.h.w.ticks
	return x
}

// from returns the moment since which o has been possible: its request and its receive were posted and, if it is
// flushed, its queue pair was in ERR. Other conditions of a failure, such as actions of the peer, are not considered.
func (o outcome) from() int {
	var at int
	switch {
	case !o.recv:
		at = o.q.ent(o.wr).at
	case o.status == verbs.StatusWRFlushErr:
		at = o.q.rq[0].at
	default:
		at = max(o.q.rq[0].at, o.q.peer.ent(o.q.nextIncoming()).at)
	}
	if o.status == verbs.StatusWRFlushErr {
		at = max(at, o.q.erredAt)
	}
	return at
}

// inOrder removes the outcomes that became possible after the oldest kept completion entered the CQ.
func (c *cq) inOrder(o []outcome) []outcome {
	first := unlimited
	for _, x := range o {
		if x.kept {
			first = min(first, x.keptAs().at)
		}
	}
	if first == unlimited {
		return o
	}
	return slices.DeleteFunc(o, func(x outcome) bool {
		if x.kept {
			return x.keptAs().from > first
		}
		return x.from() > first
	})
}

// keptAs returns the kept completion that a poll of o returns.
func (o outcome) keptAs() *completion {
	if o.recv {
		return &o.q.recvCQ.queue[o.q.inCQ()]
	}
	return &o.q.done[0]
}

// orderPrints covers which posts came after each kept completion, on the other queues of
// its CQ. The moments themselves are not part of the state.
func (w *World) orderPrints(h *Host) {
	for _, c := range h.card.cqs {
		for _, q := range c.qps {
			for i := range q.done {
				w.orderPrint(c, q, i, &q.done[i])
			}
		}
		for i := range c.queue {
			w.orderPrint(c, w.qpByNum(h, c.queue[i].wc.QPNum), i, &c.queue[i])
		}
	}
}

func (w *World) orderPrint(c *cq, q *qp, i int, k *completion) {
	about := func(x *qp, recv bool, later, in int) {
		erred := x.state == verbs.StateErr && x.erredAt > k.at && (x.head < x.posted || len(x.rq) > 0)
		if later+in > 0 || erred {
			w.aboutThree(q.h.node.idx, q.otherNode(), x.otherNode(), q.id().Int(tagOrder).Int(i).Bool(k.recv).Print(x.id()).Bool(recv).Int(later).Int(in).Bool(erred))
		}
	}
	for _, x := range c.qps {
		if x != q || k.recv {
			about(x, false, x.sendsAfter(k.at), 0)
		}
	}
	for _, x := range c.rqps {
		if x != q || !k.recv {
			about(x, true, x.receivesAfter(k.at), x.incomingAfter(k.at))
		}
	}
}

// sendsAfter counts the requests of q that were posted after moment at and whose completions nobody has polled.
func (q *qp) sendsAfter(at int) (n int) {
	for i := q.head; i < q.posted; i++ {
		n += boolInt(q.ent(i).at > at)
	}
	for i := range q.done {
		n += boolInt(q.done[i].from > at)
	}
	return n
}

// receivesAfter counts the receives of q that were posted after moment at and whose completions nobody has polled.
func (q *qp) receivesAfter(at int) (n int) {
	for i := range q.rq {
		n += boolInt(q.rq[i].at > at)
	}
	for _, x := range q.recvCQ.queue {
		n += boolInt(x.recv && x.wc.QPNum == q.num && x.from > at)
	}
	return n
}

// incomingAfter counts the requests that were posted after moment at and consume a receive of q.
func (q *qp) incomingAfter(at int) (n int) {
	p := q.peer
	for i := 0; p != nil && i < p.posted-p.base; i++ {
		s := p.ent(p.base + i)
		n += boolInt(s.op.ConsumesRecv() && !s.recv && s.at > at)
	}
	return n
}
