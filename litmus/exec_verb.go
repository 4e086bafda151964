package litmus

import (
	"time"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// list makes the scatter/gather list.
func (x *exec) list(pieces []piece) []verbs.SGE {
	x.sges = x.sges[:0]
	for i := range pieces {
		p := &pieces[i]
		if l := p.place.loc; l != nil {
			x.sges = append(x.sges, verbs.SGE{Addr: x.region(p.place).Addr() + uint64(p.place.off), Length: uint32(p.place.n),
				LKey: x.life.mrs[l.block.mr().at].LKey()})
			continue
		}
		c := &x.life.cells[x.t.idx]
		if p.v != nil {
			b := make([]byte, p.cell.n)
			p.v(x, b)
			c.region.Store(p.cell.off, b)
		}
		x.sges = append(x.sges, verbs.SGE{Addr: c.region.Addr() + uint64(p.cell.off), Length: uint32(p.cell.n), LKey: c.mr.LKey()})
	}
	return x.sges
}

// mr is the registration that every block has.
func (b *blockProg) mr() *mrProg {
	for _, m := range b.host.mrs {
		if m.block == b {
			return m // it precedes all others
		}
	}
	return nil
}

// post posts a send work request, and waits for it if the statement does.
func (x *exec) post(q *request) bool {
	wr := verbs.SendWR{ID: q.id, Op: q.s.Op, Flags: q.flags, Imm: q.s.Imm, SGL: x.list(q.pieces)}
	if q.remote.loc != nil {
		peer := x.life.peer(q.peer.idx)
		if at := q.remote.loc.block.at; at < len(peer.addrs) {
			wr.RemoteAddr = peer.addrs[at] + uint64(q.remote.off)
		}
		if q.key >= 0 && q.key < len(peer.keys) {
			wr.RKey = peer.keys[q.key]
		}
	}
	if q.cmp != nil {
		wr.Compare, wr.Swap = q.cmp(x), q.swap(x)
	}
	if q.add != nil {
		wr.Add = q.add(x)
	}
	if q.s.Op == verbs.OpFlush {
		setFlush(&wr, q.s, q.remote.n)
	}
	err := verbs.ErrClosed
	if qp := x.life.qp(q.qp); qp != nil {
		err = qp.PostSend([]verbs.SendWR{wr})
	}
	if !x.result(q.posted, lang.StmtText(q.s), err) {
		return false
	}
	if q.value == nil && q.status == nil {
		return true
	}
	if !x.await(q.label) {
		return false
	}
	status := x.seen[q.label.idx].wc.Status
	if q.value != nil && status == verbs.StatusSuccess {
		x.set(q.value, x.cell(q.label.cell, x.t.idx))
	}
	return x.set(q.status, number64(uint64(status)))
}

func (x *exec) recv(qp int, pieces []piece, l *labelProg, reg *regProg) bool {
	err := verbs.ErrClosed
	if q := x.life.qp(qp); q != nil {
		x.life.recvs.Add(1)
		err = q.PostRecv([]verbs.RecvWR{{ID: uint64(l.idx), SGL: x.list(pieces)}})
	}
	return x.result(reg, "recv", err)
}

// await polls completions until that of l has arrived.
func (x *exec) await(l *labelProg) bool {
	for !x.seen[l.idx].ok {
		if x.take(l.cq) < 0 {
			x.m.vain[x.t.idx].label = l
			return false
		}
	}
	return true
}

// take waits for the next completion and records it; it returns its label's index.
func (x *exec) take(c *cqProg) int {
	got := x.until(func(patience time.Duration) (bool, error) {
		n, err := x.life.cqs[c.idx].Wait(x.wcs[:], patience)
		return n == 1, err
	})
	if !got {
		x.m.vain[x.t.idx] = vain{cq: c}
		return -1
	}
	return x.note()
}

func (x *exec) note() int {
	i := int(x.wcs[0].ID)
	x.seen[i] = seen{true, x.wcs[0]}
	if x.m.p.labels[i].recv {
		x.life.recvs.Add(-1)
	}
	return i
}

// poll polls once for a completion, and reports whether that of l has arrived.
func (x *exec) poll(l *labelProg, reg *regProg) bool {
	if !x.seen[l.idx].ok {
		n, err := x.life.cqs[l.cq.idx].Poll(x.wcs[:])
		if err != nil {
			return x.m.broken(err)
		}
		if n > 0 {
			x.note()
		}
	}
	if w := &x.seen[l.idx]; w.ok {
		return x.set(reg, number64(uint64(w.wc.Status)))
	}
	return x.set(reg, number64(statusNone))
}

// next waits for the next completion.
func (x *exec) next(c *cqProg, reg *regProg) bool {
	i := x.take(c)
	return i >= 0 && x.set(reg, number64(uint64(i)))
}
