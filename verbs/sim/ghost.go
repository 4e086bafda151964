package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// A new connection can accept sequence numbers of an old one if it reuses them (the semantics note,
// section 5): a Write that was unacknowledged when its connection ended then executes on the next
// one. It executes whole, and may have executed before: a card sends unacknowledged requests again.

// ghost is a piece of such a Write.
type ghost struct {
	from, to *node
	psn, key uint32
	q        *qp
	wr       int
	off      int
	data     []byte
}

// remember keeps the Writes that may be in flight when q's requester stops. Acknowledged
// requests are no longer in flight.
func (q *qp) remember() {
	if q.cfg.PSN == 0 || !q.linked {
		return
	}
	for i := max(q.first, q.base); i < q.posted; i++ {
		s := q.ent(i)
		for _, e := range s.payload {
			if e.kind == elemWrite && s.writes() {
				q.w.ghosts = append(q.w.ghosts, ghost{from: q.h.node, to: q.w.nodes[q.remoteNode()], psn: q.cfg.PSN,
					key: s.mr.key, q: q, wr: e.wr, off: e.off, data: append([]byte(nil), e.content()...)})
			}
		}
	}
}

// haunting lists, for each Write that a new connection between two hosts would accept now, its first piece.
func (w *World) haunting(a, b int) []*ghost {
	var out []*ghost
	for i := range w.ghosts {
		g := &w.ghosts[i]
		x, y := g.from.idx, g.to.idx
		if (x == a && y == b || x == b && y == a) && w.accepts(g) != nil &&
			(len(out) == 0 || out[len(out)-1].q != g.q || out[len(out)-1].wr != g.wr) {
			out = append(out, g)
		}
	}
	return out
}

// accepts returns the registration that a live connection would let g write to.
func (w *World) accepts(g *ghost) *mr {
	for _, q := range w.qps {
		if q.h.node == g.to && q.h.alive && !q.gone && q.peer != nil && q.peer.h.node == g.from && q.peer != g.q &&
			q.peer.cfg.PSN == g.psn && q.state >= verbs.StateRTR && q.state != verbs.StateErr && q.access&verbs.RemoteWrite != 0 {
			if m := q.h.card.key(g.key); m != nil && m.access&verbs.RemoteWrite != 0 && g.off+len(g.data) <= len(m.r.data) {
				return m
			}
		}
	}
	return nil
}

// haunt makes one of these Writes execute.
func (w *World) haunt(a, b int) {
	c := w.haunting(a, b)
	if len(c) == 0 {
		return
	}
	g := *c[w.choose(ChooseMessage, len(c), func(i int) string { return c[i].q.name() + "#" + itoa(c[i].wr) })]
	var rest []ghost
	for _, x := range w.ghosts {
		if x.q != g.q || x.wr != g.wr {
			rest = append(rest, x)
		} else if m := w.accepts(&x); m != nil {
			w.beforeWrite(m.r, x.off, len(x.data), nil)
			w.pokeBy(m.r, x.off, x.data, true)
			w.trace(m.r.h, "ghost", "a delayed packet of an old connection from %s lands at [%d,%d) of region %d",
				g.from.spec.Name, x.off, x.off+len(x.data), m.r.ord)
		}
	}
	w.ghosts = rest
}
