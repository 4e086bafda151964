package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Send requests: the checks of a post, and the elements that it makes.

// PostSend implements verbs.QP.
func (q *qp) PostSend(wrs []verbs.SendWR) error {
	q.w.guard()
	if q.w.dying() {
		return verbs.ErrClosed
	}
	switch {
	case !q.w.cur.sb.empty():
		q.w.cur.drain() // a doorbell rings after the earlier stores; this pauses like the others
	case q.h.live > 1:
		q.w.cur.pause()
	case q.w.mayStrike(q.h.node, faults.Revoke):
		q.w.cur.pauseAfter() // the host's own keys may be revoked by then
	default:
		q.w.cur.seam()
	}
	for i := range wrs {
		q.copies(&wrs[i])
		q.touch(Add) // not earlier, because the copy may begin another step
		if err := q.postOne(&wrs[i]); err != nil {
			return q.w.cur.refused(&verbs.PostError{Index: i, Err: err})
		}
		if wrs[i].Op == verbs.OpRead && !slices.ContainsFunc(q.ent(q.posted-1).dst, func(d sge) bool { return d.r.pm != nil }) {
			q.w.cur.dirty = true // nobody can observe that the Read is in flight, but the memory that it samples may change
		} else {
			q.w.cur.reach()
		}
	}
	return nil
}

// copies is called before wr is posted. The post copies an inline payload, or the payload
// of an Atomic Write, at once, which is a look at memory if a response may land there.
func (q *qp) copies(wr *verbs.SendWR) {
	w := q.w
	gathers := wr.Op == verbs.OpAtomicWrite && len(wr.SGL) > 1
	if x := w.cfg.Strengthen.apply(*wr, q.pd.c.Attr().MaxInline); x.Flags&verbs.Inline == 0 && !gathers || w.preparing {
		return
	}
	changes := func(x verbs.SGE) bool {
		r, _, ok := q.pd.sge(x, false)
		return ok && (r.shared() || w.machine.awaits(r))
	}
	if slices.ContainsFunc(wr.SGL, changes) {
		w.cur.pauseLook()
		w.cur.looked = true
	} else {
		w.cur.passes()
	}
	for _, x := range wr.SGL {
		if r, off, ok := q.pd.sge(x, false); ok {
			w.touch(r.object(), Read) // messages of others may or may not have arrived there
			w.responses(r, off, int(x.Length))
			w.machine.landBefore(r, off, int(x.Length))
		}
	}
}

func (q *qp) postOne(wr *verbs.SendWR) error {
	if q.gone {
		return verbs.ErrClosed
	}
	if err := q.state.CheckPostSend(q.num); err != nil {
		return err
	}
	attr := q.h.card.Attr()
	if err := q.cfg.CheckSend(q.num, &attr, wr, q.posted-q.freed >= q.cfg.MaxSendWR); err != nil {
		return q.explained(err)
	}
	q.push(q.strengthen(wr))
	return nil
}

// explained adds the name of the profile to err if the profile forbids the request.
func (q *qp) explained(err error) error {
	if errors.Is(err, verbs.ErrUnsupported) {
		return fmt.Errorf("%w, under the profile %s", err, q.w.cfg.Profile.Name)
	}
	return err
}

// push appends wr to the send queue and breaks it into elements.
func (q *qp) push(wr *verbs.SendWR) {
	w := q.w
	w.stats.Posts++
	w.stats.Exercised |= exercisedBy(wr)
	if wr.Op != verbs.OpRead && !wr.Op.IsAtomic() {
		w.stats.MaxPayload = max(w.stats.MaxPayload, wr.Length())
	}
	q.room()
	s := q.ent(q.posted)
	w.ticks++
	*s = sqEntry{at: w.ticks, id: wr.ID, op: wr.Op, flags: wr.Flags, imm: wr.Imm, length: wr.Length(), compare: wr.Compare,
		swap: wr.Swap, add: wr.Add, signaled: wr.Flags&verbs.Signaled != 0 || q.cfg.SignalAll,
		dst: s.dst[:0], payload: s.payload[:0], into: s.into[:0], place: q.last.Next(wr.Op.Responds(), wr.Flags&verbs.Fence != 0)}
	q.last = s.place
	q.posted++
	if wr.Op.ConsumesRecv() {
		q.unmet++
	}
	q.resolveLocal(s, wr)
	if w.tracer != nil {
		w.tracePost(q, s, wr)
	}
	if s.local != verbs.StatusSuccess {
		return
	}
	if q.state == verbs.StateErr {
		s.need = wr.Op.Needs(wr.FlushTo) // as if it had been posted before: nothing else shows the access that an empty request needs
		return
	}
	q.resolveRemote(s, wr)
	if wr.Op.ConsumesRecv() && q.peer != nil {
		q.peer.match()
	}
}

// room makes space for one more request: it releases entries that nothing refers to any more, or doubles the ring.
func (q *qp) room() {
	if q.posted-q.base < len(q.sq) {
		return
	}
	if q.unmet == 0 {
		q.base = max(q.base, min(q.head, q.freed))
		if len(q.elems) > 0 {
			q.base = min(q.base, q.elems[0].wr)
		}
	}
	if q.posted-q.base < len(q.sq) {
		return
	}
	old, n := q.sq, len(q.sq)
	q.sq = make([]sqEntry, max(16, 2*n))
	for i := q.base; i < q.posted; i++ {
		*q.ent(i) = old[i&(n-1)]
	}
}

// resolveLocal checks the scatter/gather list.
func (q *qp) resolveLocal(s *sqEntry, wr *verbs.SendWR) {
	into := wr.Op == verbs.OpRead || wr.Op.IsAtomic()
	for _, x := range wr.SGL {
		r, off, ok := q.pd.sge(x, into)
		if !ok {
			s.local = verbs.StatusLocProtErr
			return
		}
		s.dst = append(s.dst, sge{r, off, int(x.Length)})
		r.awaits = r.awaits || into
	}
	if wr.Op == verbs.OpFlush {
		s.length = int(wr.FlushLen)
	}
	if !wr.Op.Fits(s.length) {
		s.local = verbs.StatusLocLenErr
	}
}

// resolveRemote finds the remote memory and makes the elements. It checks in the order
// of the semantics note, section 5, as the responder does.
func (q *qp) resolveRemote(s *sqEntry, wr *verbs.SendWR) {
	idx := q.posted - 1
	if wr.Op == verbs.OpSend || wr.Op == verbs.OpSendImm {
		q.makeElems(s, idx, elemSend, nil, 0, wr)
		return
	}
	n := q.w.nodes[q.remoteNode()]
	rh := n.hostLife(q.remoteLife())
	if rh == nil || !rh.alive {
		return
	}
	if !wr.Op.Aligned(wr.RemoteAddr) {
		s.nak = verbs.StatusRemInvReqErr
		return
	}
	need, kind := wr.Op.Needs(wr.FlushTo), kindOf(wr.Op)
	s.need = need
	q.checkAccess(s)
	if s.length == 0 && (kind == elemWrite || kind == elemSample) {
		q.makeElems(s, idx, elemSend, nil, 0, wr)
		return // it reaches no memory, so its key is not checked
	}
	q.w.touch(object(objKeys, n.idx, 0), Read)
	m := rh.card.key(wr.RKey)
	if m != nil && wr.FlushMR && wr.Op == verbs.OpFlush {
		s.length = len(m.r.data)
		wr.RemoteAddr = m.r.base
	}
	if m == nil || !q.reaches(rh.card, m) || !m.access.Grants(need) || !m.r.has(wr.RemoteAddr, s.length) {
		s.keyless = true
		if !s.early {
			s.nak = verbs.StatusRemAccessErr
		}
		return
	}
	s.mr = m
	q.makeElems(s, idx, kind, m.r, int(wr.RemoteAddr-m.r.base), wr)
	q.w.touch(m.r.object(), Add)
	if kind == elemSample || kind == elemAtomic {
		q.w.touch(m.r.acks(), Read)
	}
}

// kindOf returns the kind of the elements of a request that reaches remote memory.
func kindOf(op verbs.Opcode) elemKind {
	switch {
	case op == verbs.OpRead:
		return elemSample
	case op == verbs.OpFlush:
		return elemFlush
	case op.OnWord():
		return elemAtomic
	}
	return elemWrite
}

// reaches reports whether m belongs to the protection domain of the responder's QP.
func (q *qp) reaches(c *card, m *mr) bool {
	return int(q.remote.QPN) > len(c.qps) || c.qps[q.remote.QPN-1].pd == m.pd
}

// hostLife returns a life of n, or nil if it has not begun: an endpoint can name a life before it begins.
func (n *node) hostLife(life int) *Host {
	if life < len(n.all) {
		return n.all[life]
	}
	return nil
}

// makeElems cuts the message at the cells of the destination, or into at most MaxPieces
// pieces, and at the boundaries of the scatter/gather list.
func (q *qp) makeElems(s *sqEntry, idx int, kind elemKind, r *region, off int, wr *verbs.SendWR) {
	w := q.w
	part, at := 0, off
	emit := func(n int, src *sge, srcOff int) {
		e := w.pools.elems.get()
		w.ticks++
		*e = elem{got: e.got[:0], at: w.ticks, start: off, persist: wr.FlushTo&verbs.FlushPersistent != 0, q: q, wr: idx, part: part, kind: kind, reg: r, off: at, n: n, fenced: wr.Flags&verbs.Fence != 0}
		part++
		switch {
		case src == nil:
		case wr.Flags&verbs.Inline != 0:
			e.data = w.bytes(n)
			w.touch(src.r.object(), Read)
			copy(e.data, src.r.data[srcOff:srcOff+n])
		default:
			e.src, e.srcOff = src.r, srcOff
			w.touch(src.r.object(), Add)
			src.r.srcs = append(src.r.srcs, e)
		}
		q.elems = append(q.elems, e)
		s.payload = append(s.payload, e)
		if r != nil {
			r.pend = append(r.pend, e)
		}
		at += n
	}
	for _, d := range s.dst {
		w.findOut(d.r, d.off, d.n, false)
	}
	if kind == elemAtomic || kind == elemFlush || kind == elemSample && !w.machine.stepwise() {
		if s.op == verbs.OpAtomicWrite && len(s.dst) == 1 {
			emit(s.length, &s.dst[0], s.dst[0].off)
		} else if s.op == verbs.OpAtomicWrite {
			emit(s.length, nil, 0)
			q.elems[len(q.elems)-1].data = q.gather(s)
		} else if s.length > 0 {
			if kind == elemSample {
				w.atOnce(off, s.length)
			}
			emit(s.length, nil, 0)
		}
		return
	}
	if s.length == 0 && w.machine.stepwise() {
		emit(0, nil, 0) // an empty message can be lost, or arrive too late, so its arrival is a step
	}
	for at-off < s.length && kind == elemSample { // the responder does not see the requester's list
		emit(min(s.length-(at-off), w.cut(at, at-off, s.length)), nil, 0)
	}
	for i := 0; i < len(s.dst) && kind != elemSample; i++ {
		d := &s.dst[i]
		for o := 0; o < d.n; {
			n := d.n - o
			if kind != elemSend {
				n = min(n, w.cut(at, at-off, s.length))
			}
			emit(n, d, d.off+o)
			o += n
		}
	}
}
