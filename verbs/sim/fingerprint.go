package sim

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// mix combines two words into one; it is the only hash of the simulator.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	x := hi ^ lo ^ a>>7 ^ b
	return (x ^ x>>29) * 0xbf58476d1ce4e5b9
}

func hashBytes(h uint64, p []byte) uint64 {
	h = mix(h, uint64(len(p)))
	for len(p) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(p))
		p = p[8:]
	}
	if len(p) > 0 {
		var b [8]byte
		copy(b[:], p)
		h = mix(h, binary.LittleEndian.Uint64(b[:]))
	}
	return h
}

// obs is what a task has observed so far; its local state is a function of it.
// What it observed about an interchangeable host goes to that host's part, with
// the position at which it was observed, so that renaming those hosts renames
// the parts and nothing else.
type obs struct {
	main uint64
	per  [maxSym]uint64
}

func (o *obs) see(tag int, v uint64) {
	if tag < 0 {
		o.main = mix(o.main, v)
		return
	}
	o.per[tag] = mix(mix(o.per[tag], o.main), v)
	o.main = mix(o.main, 0x5bd1e995)
}

// seeAll is see for several things that were seen at once, of hosts that differ.
func (o *obs) seeAll(n int, seen func(i int) (tag int, v uint64)) {
	before := o.main
	for i := range n {
		tag, v := seen(i)
		if v == 0 {
			continue
		}
		if tag < 0 {
			o.main = mix(o.main, v)
			continue
		}
		o.per[tag] = mix(mix(o.per[tag], before), v)
	}
	o.main = mix(o.main, 0x2545f491)
}

// join adds what somebody else knew.
func (o *obs) join(x *obs) {
	o.main = mix(o.main, x.main)
	for i := range o.per {
		if x.per[i] != 0 {
			o.per[i] = mix(o.per[i], x.per[i])
		}
	}
}

func (o *obs) fold() uint64 {
	h := o.main
	for _, p := range o.per {
		h = mix(h, p)
	}
	return h
}

type fpScratch struct {
	parts [maxSym]uint64
	perm  [maxSym]uint8
	words []uint64
}

// Fingerprint is a hash of the state, the same for states that differ only in
// the names of interchangeable hosts. order, of the length of the number of
// those hosts, receives the canonical order: order[i] is the symmetric host that
// stands at place i.
func (w *World) Fingerprint(order []uint8) fingerprint.Print {
	h := w.print64(order)
	return fingerprint.Print{}.Uint(h)
}

func (w *World) print64(order []uint8) uint64 {
	f := &w.fpbuf
	rest := mix(w.hist, uint64(w.now)<<1|uint64(boolInt(w.over)))
	if w.cfg.Eager {
		rest = w.eagerState(rest)
	}
	rest = w.zoneState(rest, &w.skew)
	for i, n := range w.left {
		rest = mix(rest, uint64(i)<<32|uint64(n))
	}
	for i := range w.cfg.Services {
		rest = mix(rest, w.cfg.Services[i].Hash())
	}
	for i := range w.sym {
		f.parts[i] = mix(1, w.nodeState(w.nodes[w.sym[i]]))
	}
	for _, n := range w.nodes {
		if n.sym < 0 {
			rest = mix(rest, w.nodeState(n))
		}
	}
	for _, c := range w.cuts {
		w.pairPart(&rest, c.a, c.b, mix(2, uint64(boolInt(c.heals))))
	}
	for i := range w.ghosts {
		g := &w.ghosts[i]
		w.pairPart(&rest, g.from.idx, g.to.idx, hashBytes(mix(uint64(g.psn)<<32|uint64(g.key), uint64(g.wr)<<32|uint64(g.off)), g.data))
	}
	for _, q := range w.qps {
		if h := q.state64(); h != 0 {
			if q.h.node.sym >= 0 {
				f.parts[q.h.node.sym] = mix(f.parts[q.h.node.sym], mix(h, uint64(q.otherNode())<<8|1))
			} else if s := q.remoteSym(); s >= 0 {
				f.parts[s] = mix(f.parts[s], mix(h, uint64(q.h.node.idx)))
			} else {
				rest = mix(rest, mix(h, uint64(q.h.node.idx)))
			}
		}
	}
	for i := range w.tasks {
		w.taskPart(&rest, w.tasks[i])
	}
	w.mailParts(&rest)
	return w.canonical(rest, order)
}

// canonical sorts the parts of the interchangeable hosts.
func (w *World) canonical(rest uint64, order []uint8) uint64 {
	f := &w.fpbuf
	perm := f.perm[:len(w.sym)]
	for i := range perm {
		perm[i] = uint8(i)
	}
	slices.SortStableFunc(perm, func(a, b uint8) int {
		switch x, y := f.parts[a], f.parts[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for _, i := range perm {
		rest = mix(rest, f.parts[i])
	}
	copy(order, perm) // order may be nil
	return rest
}

func (w *World) pairPart(rest *uint64, a, b int, h uint64) {
	sa, sb := w.nodes[a].sym, w.nodes[b].sym
	switch {
	case sa >= 0 && sb < 0:
		w.fpbuf.parts[sa] = mix(w.fpbuf.parts[sa], mix(h, uint64(b)))
	case sb >= 0 && sa < 0:
		w.fpbuf.parts[sb] = mix(w.fpbuf.parts[sb], mix(h, uint64(a)))
	default:
		*rest = mix(*rest, mix(h, uint64(a)<<8|uint64(b)))
	}
}

// nodeState covers a node's machines: their lives and their memory.
func (w *World) nodeState(n *node) uint64 {
	h := mix(uint64(n.life)<<4|uint64(boolInt(n.up))<<3|uint64(boolInt(n.done))<<2|
		uint64(boolInt(n.wantsLife))<<1|uint64(boolInt(n.crashed)), uint64(n.mrs))
	h = pmemState(mix(h, uint64(n.flips)<<8|uint64(n.poisons)), n.pmem)
	for _, m := range n.all {
		if !m.alive {
			continue
		}
		h = pmemState(h, m.pmem)
		h = mix(h, uint64(m.life)<<2|uint64(boolInt(m.acted))<<1|uint64(boolInt(m == n.cur)))
		h = w.zoneState(mix(h, uint64(m.clock)), &m.timers)
		for _, r := range m.regs {
			if !r.freed {
				h = mix(h, mix(r.hash, uint64(r.ord)<<8|uint64(r.mrs)))
			}
		}
		for _, k := range m.card.mrs {
			h = mix(h, uint64(k.key)<<8|uint64(k.access))
		}
	}
	return h
}

// pmemState covers what persistent memory holds and may hold.
func pmemState(h uint64, regions []*region) uint64 {
	for _, r := range regions {
		h = mix(h, mix(r.hash, uint64(r.ord)<<8|uint64(r.mrs)))
		for _, i := range r.pm.used {
			u := &r.pm.units[i]
			if len(u.list) == 0 && !u.bad {
				continue
			}
			h = mix(h, uint64(i)<<2|uint64(boolInt(u.open))<<1|uint64(boolInt(u.bad)))
			for _, c := range u.list {
				h = hashBytes(h, c.data)
			}
		}
	}
	return h
}

func (w *World) taskPart(rest *uint64, t *task) {
	if !t.alive {
		return
	}
	o := &t.op
	h := mix(uint64(t.ord)<<16|uint64(o.kind)<<8|uint64(o.need)<<4|uint64(boolInt(o.fired))<<3|
		uint64(boolInt(t.reported != nil))<<2|uint64(boolInt(t.idlePoll))<<1|uint64(boolInt(o.signaled)), uint64(t.h.life))
	if o.timed {
		h = mix(h, uint64(o.deadline))
	}
	h = mix(h, t.obs.main)
	for _, f := range t.flushing {
		h = mix(h, uint64(f.r.ord)<<32|uint64(f.unit))
		h = mix(h, uint64(f.r.pm.kept(f)))
	}
	f := &w.fpbuf
	for i := range w.sym {
		if p := t.obs.per[i]; p != 0 {
			f.parts[i] = mix(f.parts[i], mix(p, uint64(t.h.node.idx+1)*uint64(boolInt(t.h.node.sym < 0))+uint64(t.ord)<<8))
		}
	}
	if s := t.h.node.sym; s >= 0 {
		f.parts[s] = mix(f.parts[s], h)
	} else {
		*rest = mix(*rest, mix(h, uint64(t.h.node.idx)))
	}
}

// mailParts covers requests and answers on their way.
func (w *World) mailParts(rest *uint64) {
	for _, n := range w.nodes {
		for _, m := range n.all {
			if m.alive {
				for _, r := range m.mail {
					w.pairPart(rest, r.from.node.idx, n.idx, mix(mix(3, r.hash), uint64(boolInt(r.cut))))
				}
				w.gatherParts(rest, m)
			}
		}
	}
}

func (w *World) gatherParts(rest *uint64, h *Host) {
	for _, g := range h.gaths {
		for i, r := range g.reqs {
			if !g.out[i].Pending() || r.to == nil {
				continue
			}
			x := mix(uint64(g.ord)<<8|uint64(boolInt(r.taken))<<3|uint64(boolInt(r.replied))<<2|
				uint64(boolInt(r.repCut))<<1|uint64(boolInt(r.cut)), uint64(boolInt(r.to.alive)))
			if r.replied {
				x = mix(x, r.ansHash)
			}
			w.pairPart(rest, h.node.idx, r.to.node.idx, x)
		}
	}
}

func (q *qp) otherNode() int {
	if !q.linked {
		return 63
	}
	if q.w.nodes[q.remoteNode()].sym >= 0 {
		return 62
	}
	return q.remoteNode()
}

// state64 is the hash of a QP: its state, its outstanding requests and what is
// pending. A dead QP with nothing pending is no part of the state.
func (q *qp) state64() uint64 {
	if (q.gone || q.cpu != nil) && len(q.elems) == 0 && q.unmet == 0 {
		return 0
	}
	if !q.dirty && len(q.elems) == 0 {
		return q.hash
	}
	h := q.queues()
	for _, e := range q.elems {
		x := uint64(e.kind)<<40 | uint64(e.off)<<8 | uint64(boolInt(e.acked))<<3 | uint64(boolInt(e.frozen))<<2 |
			uint64(boolInt(e.src != nil))<<1 | uint64(boolInt(e.fenced)) | uint64(boolInt(e.came))<<4 |
			uint64(boolInt(e.lost))<<5 | uint64(boolInt(e.persist))<<6
		if e.reg != nil {
			x = mix(x, uint64(e.reg.ord)<<8|uint64(e.reg.h.life))
		}
		if q.cpu != nil {
			x = mix(x, uint64(e.n)) // they are in the order of the list
		} else if !q.gone {
			x = mix(x, uint64(e.wr-q.head))
		} else {
			x = mix(x, uint64(boolInt(e.wr < min(q.limit, q.cutAt)))) // all that matters of a dead QP
		}
		if e.kind != elemSample {
			x = hashBytes(x, e.content())
		} else {
			for i, y := range e.reg.pend {
				if y.acked && y.ackAt < e.at {
					x = mix(x, uint64(i)) // it must find this one
				}
			}
			for _, g := range e.got {
				x = hashBytes(mix(x, uint64(g.lo)), e.data[g.lo-e.off:g.hi-e.off])
			}
		}
		h = mix(h, x)
	}
	q.hash, q.dirty = h, false
	return h
}

// queues is the hash of a live QP's state and work queues.
func (q *qp) queues() uint64 {
	if q.cpu != nil {
		return mix(uint64(q.cpu.ord), uint64(q.h.life))
	}
	if q.gone {
		h := uint64(1) // its Sends may still meet their receives
		for i := max(q.base, q.first); q.unmet > 0 && i < min(q.posted, q.limit); i++ {
			if s := q.ent(i); s.op.ConsumesRecv() && !s.recv {
				h = mix(h, uint64(s.length)<<32|uint64(s.imm))
				h = mix(h, uint64(s.op)<<8|uint64(s.recvErr)<<1|uint64(boolInt(s.came)))
			}
		}
		return h
	}
	h := mix(uint64(q.state)<<8|uint64(q.access), uint64(q.posted-q.head)<<32|uint64(min(q.limit, q.posted+1)-q.head+1)&0xffff)
	h = mix(h, uint64(min(q.cutAt, q.posted+1)-q.head)<<8|uint64(boolInt(q.broken))<<2|uint64(boolInt(q.gone))<<1|
		uint64(boolInt(q.peer != nil)))
	h = mix(h, uint64(len(q.rq))<<32|uint64(q.posted-q.freed))
	for i := q.head; i < q.posted; i++ {
		s := q.ent(i)
		h = mix(h, uint64(s.op)<<24|uint64(s.nak)<<16|uint64(s.local)<<8|uint64(boolInt(s.came))<<3|uint64(boolInt(s.early))<<2|uint64(boolInt(s.recv))<<1|uint64(boolInt(s.signaled)))
		if s.op.IsAtomic() {
			h = mix(h, mix(s.compare, mix(s.swap, s.add)))
		}
		for _, e := range s.payload {
			if e.landed && (e.kind == elemSample || e.kind == elemAtomic) {
				h = hashBytes(h, e.data) // a response on its way
			}
		}
	}
	h = mix(h, uint64(q.recvNext))
	for i := range q.done {
		h = mix(h, uint64(q.head-q.done[i].wr)<<8|uint64(q.done[i].wc.Status)+1)
	}
	if q.held != unlimited || q.stale {
		h = mix(h, uint64(max(q.held-q.head, 0))<<1|uint64(boolInt(q.stale)))
	}
	for i := max(q.base, q.first); q.unmet > 0 && i < q.head; i++ { // Sends that their receives have yet to meet
		if s := q.ent(i); s.op.ConsumesRecv() && !s.recv {
			h = mix(h, uint64(s.length)<<32|uint64(s.recvErr)<<1|uint64(boolInt(s.came)))
		}
	}
	return h
}
