package sim

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
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
	dst                []sge // where the response goes
	payload            []*elem
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
	access  verbs.Access
	remote  verbs.Endpoint
	peer    *qp // set by Connect
	gone    bool
	linked  bool         // Connect has named the other end
	nth     int          // among those of its host that lead there
	sq      []sqEntry    // a ring: request i is at i modulo its length
	base    int          // the oldest request that it holds
	head    int          // first work request without a completion
	done    []completion // decided, and not polled yet
	posted  int
	freed   int  // slots given back
	limit   int  // work requests from here on can never arrive
	cutAt   int  // and from here on not while the link is cut
	unacked int  // nor acknowledged: the queue pair that would stopped first (acked.go)
	held    int  // and from here on not before the queue pair leaves SQD
	first   int  // the requests before were wiped by a RESET
	stale   bool // its peer was connected anew, and it was not
	broken  bool
	// refusedBy: it is failing because its peer refused something, and takes it along.
	refusedBy bool
	misfitted bool // its next receive has failed, and is in the CQ before what is flushed
	// catching: see catchUp.
	catching   bool
	completing bool // what it brings is being placed
	elems      []*elem
	rq         []verbs.RecvWR
	met        int   // of these, from the first on, have met the request that takes them
	matched    int   // in the peer's SQ: requests before it have met their receives
	unmet      int   // requests whose receive has not completed
	recvNext   int   // in the peer's SQ: first request whose receive has not completed
	untold     int   // Host.tells when it was made: nobody else knows of it as long as that stands
	cpu        *task // it is no queue pair but this task's store buffer
}

func (q *qp) ent(i int) *sqEntry { return &q.sq[i&(len(q.sq)-1)] }

func (q *qp) name() string {
	if q.cpu != nil {
		return q.h.Name() + "/" + q.cpu.name + "'s store"
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
	if err := p.checkQP(&cfg); err != nil {
		return nil, fmt.Errorf("sim: create QP: %w", err)
	}
	orDefault(&cfg.MaxSendWR, 64)
	orDefault(&cfg.MaxRecvWR, 64)
	orDefault(&cfg.MaxSGE, 4)
	orDefault(&cfg.RNRRetry, 7)
	orDefault(&cfg.MaxRdAtomic, p.c.h.w.cfg.Profile.MaxRdAtomic)
	orDefault(&cfg.MaxInline, p.c.h.w.cfg.Profile.MaxInline)
	q := p.c.h.w.pools.qps.get()
	p.c.h.w.bound("queue pairs of a host", len(p.c.qps)+1, maxOrd)
	p.open++
	*q = qp{pd: p, sq: q.sq, elems: q.elems[:0], rq: q.rq[:0], w: p.c.h.w, h: p.c.h, num: uint32(len(p.c.qps) + 1), cfg: cfg, sendCQ: send, recvCQ: recv,
		state: verbs.StateInit, access: cfg.Access, limit: unlimited, cutAt: unlimited, unacked: unlimited, held: unlimited,
		untold: p.c.h.tells}
	q.w.touch(object(objKeys, q.h.node.idx, 0), Write) // what comes for it is refused before
	p.c.qps = append(p.c.qps, q)
	q.w.qps = append(q.w.qps, q)
	q.w.cur.numbered(int(q.num))
	q.h.makes(madeQP, int(q.num), p.ord, send.ord, recv.ord)
	send.qps = append(send.qps, q)
	recv.rqps = append(recv.rqps, q)
	return (*prepared)(q), nil
}

// checkQP holds cfg against what the card can do; zero is a default.
func (p *pd) checkQP(cfg *verbs.QPConfig) error {
	a := p.c.Attr()
	for _, f := range [...]struct {
		name    string
		v, most int
	}{{"MaxSendWR", cfg.MaxSendWR, a.MaxQPWR}, {"MaxRecvWR", cfg.MaxRecvWR, a.MaxQPWR}, {"MaxSGE", cfg.MaxSGE, a.MaxSGE},
		{"MaxInline", cfg.MaxInline, a.MaxInline}, {"MaxRdAtomic", cfg.MaxRdAtomic, a.MaxRdAtomic},
		{"RetryCount", cfg.RetryCount, 7}, {"RNRRetry", cfg.RNRRetry, 7}, {"PSN", int(cfg.PSN), 1<<24 - 1}} {
		if f.v < 0 || f.v > f.most {
			return fmt.Errorf("%w: %s is %d, and must be 0 to %d", verbs.ErrInvalid, f.name, f.v, f.most)
		}
	}
	return p.access(cfg.Access)
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

// prepared is a qp before it is connected.
type prepared qp

func (p *prepared) Num() uint32                                { return p.num }
func (p *prepared) PostRecv(wrs []verbs.RecvWR) error          { return (*qp)(p).PostRecv(wrs) }
func (p *prepared) Destroy() error                             { return (*qp)(p).Destroy() }
func (p *prepared) Endpoint() verbs.Endpoint                   { return (*qp)(p).endpoint() }
func (p *prepared) Connect(e verbs.Endpoint) (verbs.QP, error) { return (*qp)(p).connect(e) }

func (q *qp) endpoint() verbs.Endpoint {
	e := verbs.Endpoint{QPN: q.num, PSN: q.cfg.PSN, MTU: uint16(q.w.cfg.Profile.MTU)}
	e.GID = q.h.gid()
	return e
}

// gid is the address of a machine: the number of the host, and its life.
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
		q.w.cur.pauseAfter() // what comes before it finds nobody, and may have failed of that
	}
	if q.gone {
		return nil, q.w.cur.refused(fmt.Errorf("sim: connect QP %d: %w", q.num, verbs.ErrClosed))
	}
	if q.state != verbs.StateInit || q.linked {
		return nil, q.w.cur.refused(fmt.Errorf("sim: connect QP %d: %w: in state %v", q.num, verbs.ErrState, q.state))
	}
	if gidHost(e.GID) >= len(q.w.nodes) || e.QPN == 0 || e.QPN >= 1<<24 || e.PSN >= 1<<24 || e.MTU > 4096 || bits.OnesCount16(e.MTU) != 1 {
		return nil, fmt.Errorf("sim: connect QP %d: %w: no such endpoint: %+v", q.num, verbs.ErrInvalid, e)
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

// link makes a connection of the queue pair, the first one or after a RESET.
func (q *qp) link() {
	q.touchElems()
	if p := q.peer; p != nil && p.peer == q {
		p.keepReceived()
		p.peer, p.stale = nil, true
	}
	q.leaveBehind()
	q.peer, q.stale, q.broken, q.unmet, q.met = nil, false, false, 0, 0
	q.limit, q.cutAt, q.unacked, q.held = unlimited, unlimited, unlimited, unlimited
	if q.w.linkCut(q.h.node.idx, q.remoteNode()) {
		q.cutAt = q.posted
	}
	q.meet()
}

// leaveBehind decides what of the old connection has arrived by now: the rest never will. In late
// mode too nothing of it is left open, so that no rule need tell two connections apart.
func (q *qp) leaveBehind() {
	reach := q.reach()
	for i := 0; i < len(q.elems); i++ {
		switch e := q.elems[i]; {
		case e.wr >= q.first || e.frozen && e.changes():
		case e.kind == elemFlush && !q.w.cfg.Eager:
			q.w.discard(e)
			i = -1
		case (e.acked || q.w.cfg.Eager && e.came) && e.changes():
			q.w.land(e)
			i = -1
		case q.w.cfg.Eager:
			q.w.discard(e)
			i = -1
		case !e.changes() || !e.acked && !e.could && e.wr >= reach:
			q.w.discard(e)
			i = -1
		case !e.acked:
			if q.w.freeze(e); e.landed {
				i = -1
			}
		}
	}
	for i := 0; i < len(q.elems); i++ {
		if e := q.elems[i]; e.wr < q.first && e.frozen && e.changes() && !e.struck {
			q.w.settleFrozen(e.reg, e.off, e.n)
			i = -1
		}
	}
}

// meet links the two ends once both are connected to each other.
func (q *qp) meet() {
	for _, p := range q.w.qps {
		if p.num == q.remote.QPN && p.h.gid() == q.remote.GID &&
			p.state >= verbs.StateRTR && p.state != verbs.StateErr && p.peer == nil && !p.stale && p.remote.QPN == q.num &&
			p.remote.GID == q.h.gid() && !p.gone && !p.asks(isRetry) {
			q.peer, p.peer = p, q
			q.touchElems()
			q.recvNext, p.recvNext = p.first, q.first
			q.matched, p.matched = p.first, q.first
			q.meets() // what was posted before they met can arrive from now on
			p.meets()
		}
	}
}

// meets makes the checks for what was posted before the ends met.
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

// Num implements verbs.QP.
func (q *qp) Num() uint32 { return q.num }

// State implements verbs.QP. It is a look, and a step of its own: a failure of the
// peer's takes this end to ERR as well.
func (q *qp) State() verbs.QPState {
	if t := q.w.cur; t != nil && q.linked && !q.w.dying() {
		t.wait(op{kind: opRun})
		q.touch(Write)
		q.looked()
		t.looked = true
		t.obs.seeUint(uint64(q.state) + 1)
	}
	return q.state
}

// PostSend implements verbs.QP.
func (q *qp) PostSend(wrs []verbs.SendWR) error {
	q.w.guard()
	if q.w.dying() {
		return verbs.ErrClosed
	}
	if q.h.live > 1 {
		q.w.cur.pause()
	} else if q.w.mayStrike(q.h.node, faults.Revoke) {
		q.w.cur.pauseAfter() // its own keys may be gone by then
	}
	q.w.cur.drain() // a doorbell is rung after the stores before it
	q.touch(Add)
	for i := range wrs {
		q.copies(&wrs[i])
		if err := q.postOne(&wrs[i]); err != nil {
			return q.w.cur.refused(&verbs.PostError{Index: i, Err: err})
		}
		if wrs[i].Op == verbs.OpRead && !slices.ContainsFunc(q.ent(q.posted-1).dst, func(d sge) bool { return d.r.pm != nil }) {
			q.w.cur.dirty, q.w.cur.told = true, true // nobody can tell that it is under way, but what it samples may change
		} else {
			q.w.cur.reach()
		}
	}
	return nil
}

// copies is called before wr is posted: what is inline, or gathered for an Atomic Write, is copied then, which is a look at memory
// if a response may come there.
func (q *qp) copies(wr *verbs.SendWR) {
	w := q.w
	gathers := wr.Op == verbs.OpAtomicWrite && len(wr.SGL) > 1
	if x := w.cfg.Strengthen.apply(*wr, q.cfg.MaxInline); x.Flags&verbs.Inline == 0 && !gathers || w.preparing {
		return
	}
	changes := func(x verbs.SGE) bool {
		r, _, ok := q.pd.sge(x, false)
		return ok && (r.shared() || r.awaits && (w.cfg.Eager || r.awaited()))
	}
	if slices.ContainsFunc(wr.SGL, changes) {
		w.cur.pauseLook()
		w.cur.looked = true
	}
	for _, x := range wr.SGL {
		if r, off, ok := q.pd.sge(x, false); ok && !w.cfg.Eager {
			w.answers(r, off, int(x.Length), true)
			w.landBefore(r, off, int(x.Length), nil)
		}
	}
}

func (q *qp) postOne(wr *verbs.SendWR) error {
	switch {
	case q.gone:
		return verbs.ErrClosed
	case !q.state.CanPostSend():
		return fmt.Errorf("%w: QP %d is in %v", verbs.ErrState, q.num, q.state)
	case wr.Flags&^(verbs.Signaled|verbs.Fence|verbs.Inline|verbs.Solicited) != 0:
		return fmt.Errorf("%w: flags %#x", verbs.ErrInvalid, uint8(wr.Flags))
	case !wr.Op.Valid():
		return fmt.Errorf("%w: opcode %d", verbs.ErrInvalid, wr.Op)
	case (wr.Op == verbs.OpFlush || wr.Op == verbs.OpAtomicWrite) && !q.w.cfg.Profile.FlushOps:
		return fmt.Errorf("%w: %v, under the profile %s", verbs.ErrUnsupported, wr.Op, q.w.cfg.Profile.Name)
	case wr.Op == verbs.OpFlush && (len(wr.SGL) > 0 || wr.FlushTo&(verbs.FlushGlobal|verbs.FlushPersistent) == 0 ||
		wr.FlushTo&^(verbs.FlushGlobal|verbs.FlushPersistent) != 0):
		return fmt.Errorf("%w: a Flush has no SGL, and FlushTo is FlushGlobal, FlushPersistent or both", verbs.ErrInvalid)
	case q.posted-q.freed >= q.cfg.MaxSendWR:
		return verbs.ErrQueueFull
	case len(wr.SGL) > q.cfg.MaxSGE:
		return fmt.Errorf("%w: %d SGEs, the QP takes %d", verbs.ErrInvalid, len(wr.SGL), q.cfg.MaxSGE)
	}
	if wr.Flags&verbs.Inline != 0 {
		if wr.Op == verbs.OpRead || wr.Op.IsAtomic() || wr.Op == verbs.OpFlush {
			return fmt.Errorf("%w: %v cannot be inline", verbs.ErrInvalid, wr.Op)
		}
		if n := wr.Length(); n > q.cfg.MaxInline {
			return fmt.Errorf("%w: %d bytes inline, the QP takes %d", verbs.ErrInvalid, n, q.cfg.MaxInline)
		}
	}
	q.push(q.strengthen(wr))
	return nil
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
	*s = sqEntry{id: wr.ID, op: wr.Op, flags: wr.Flags, imm: wr.Imm, length: wr.Length(), compare: wr.Compare,
		swap: wr.Swap, add: wr.Add, signaled: wr.Flags&verbs.Signaled != 0 || q.cfg.SignalAll,
		dst: s.dst[:0], payload: s.payload[:0], into: s.into[:0]}
	q.posted++
	if wr.Op.ConsumesRecv() {
		q.unmet++
	}
	q.resolveLocal(s, wr)
	if w.tracer != nil {
		w.tracePost(q, s, wr)
	}
	if q.state == verbs.StateErr || s.local != verbs.StatusSuccess {
		return
	}
	q.resolveRemote(s, wr)
	if wr.Op.ConsumesRecv() && q.peer != nil {
		q.peer.match()
	}
}

// room makes a place for one more request: it gives up those that nothing refers
// to any more, or doubles the ring.
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
	if (wr.Op.IsAtomic() || wr.Op == verbs.OpAtomicWrite) && s.length != 8 {
		s.local = verbs.StatusLocLenErr
	}
}

// resolveRemote finds the remote memory and makes the elements. The responder's
// checks follow the order of the semantics note, section 5.
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
	need := verbs.RemoteWrite
	kind := elemWrite
	switch {
	case wr.Op == verbs.OpRead:
		need, kind = verbs.RemoteRead, elemSample
	case wr.Op.IsAtomic():
		need, kind = verbs.RemoteAtomic, elemAtomic
		if wr.RemoteAddr&7 != 0 {
			s.nak = verbs.StatusRemInvReqErr
			return
		}
	case wr.Op == verbs.OpAtomicWrite:
		kind = elemAtomic
		if wr.RemoteAddr&7 != 0 {
			s.nak = verbs.StatusRemInvReqErr
			return
		}
	case wr.Op == verbs.OpFlush:
		need, kind = wr.FlushTo, elemFlush
	}
	s.need = need
	q.checkAccess(s)
	if s.length == 0 && (kind == elemWrite || kind == elemSample) {
		q.makeElems(s, idx, elemSend, nil, 0, wr)
		return // it reaches no memory, so its key is not looked at
	}
	q.w.touch(object(objKeys, n.idx, 0), Read)
	m := rh.card.key(wr.RKey)
	if m != nil && wr.FlushMR && wr.Op == verbs.OpFlush {
		s.length = len(m.r.data)
		wr.RemoteAddr = m.r.base
	}
	if m == nil || !q.reaches(rh.card, m) || m.access&need != need || !m.r.has(wr.RemoteAddr, s.length) {
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

// reaches reports whether m is of the protection domain of the responder's QP.
func (q *qp) reaches(c *card, m *mr) bool {
	return int(q.remote.QPN) > len(c.qps) || c.qps[q.remote.QPN-1].pd == m.pd
}

func (n *node) hostLife(life int) *Host {
	if life < len(n.all) {
		return n.all[life]
	}
	return nil
}

// makeElems cuts the message at the cells of the destination, or into at most
// MaxPieces pieces, and at the boundaries of the scatter/gather list.
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
	if kind == elemAtomic || kind == elemFlush || kind == elemSample && !w.cfg.Eager {
		if s.op == verbs.OpAtomicWrite && len(s.dst) == 1 {
			emit(s.length, &s.dst[0], s.dst[0].off)
		} else if s.op == verbs.OpAtomicWrite {
			emit(s.length, nil, 0)
			q.elems[len(q.elems)-1].data = q.gather(s)
		} else if s.length > 0 {
			emit(s.length, nil, 0)
		}
		return
	}
	if s.length == 0 && w.cfg.Eager {
		emit(0, nil, 0) // an empty message can be lost, or come too late, so its arrival is a step
	}
	for at-off < s.length && kind == elemSample { // the responder does not see the requester's list
		emit(min(s.length-(at-off), w.pieceAt(at, at-off, s.length)), nil, 0)
	}
	for i := 0; i < len(s.dst) && kind != elemSample; i++ {
		d := &s.dst[i]
		for o := 0; o < d.n; {
			n := d.n - o
			if kind != elemSend {
				n = min(n, w.pieceAt(at, at-off, s.length))
			}
			emit(n, d, d.off+o)
			o += n
		}
	}
}

// alone reports whether nobody was ever at the other end of this connection.
func (q *qp) alone() bool {
	p := q.peer
	if p == nil {
		return !q.stale || q.limit == unlimited
	}
	return q.limit == unlimited && (p.state < verbs.StateRTR || p.state == verbs.StateErr)
}

// reach is the index of the first work request that cannot have arrived yet.
func (q *qp) reach() int {
	n := min(q.limit, q.cutAt, q.held, q.posted)
	if !q.sends() {
		n = min(n, q.denied())
	}
	p := q.peer
	if q.alone() {
		return q.acked()
	}
	if p == nil || p.state < verbs.StateRTR || p.state == verbs.StateErr {
		return min(n, q.refused())
	}
	free := len(p.rq)
	from := q.head
	if q.unmet > 0 {
		from = max(p.recvNext, q.base)
	}
	for i := from; i < n; i++ {
		s := q.ent(i)
		if s.nak != verbs.StatusSuccess || s.local != verbs.StatusSuccess {
			return i
		}
		if s.op.ConsumesRecv() && !s.recv {
			if free == 0 {
				return i
			}
			free--
		}
	}
	return n
}

func (q *qp) acked() int { return q.head }

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

func (w *World) qpByNum(h *Host, num uint32) *qp { return h.card.qps[num-1] }
