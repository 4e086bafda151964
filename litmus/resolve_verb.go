package litmus

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// piece is an entry of a scatter/gather list: memory of the host, or a cell of
// the thread, which v fills first if it is not nil.
type piece struct {
	place place // if loc is not nil
	cell  cell
	v     func(*exec, []byte)
}

// request is a compiled send work request.
type request struct {
	s      *lang.Post
	qp     int
	key    int // of the peer's registrations, -1 for none
	peer   *hostProg
	remote place
	pieces []piece
	label  *labelProg
	id     uint64
	cmp    func(*exec) uint64
	swap   func(*exec) uint64
	add    func(*exec) uint64
	flags  verbs.SendFlags
	posted *regProg
	value  *regProg
	status *regProg
}

// post compiles a verb.
func (r *resolver) post(s *lang.Post) func(*exec) bool {
	t := r.cur
	q := &request{s: s, key: -1, flags: s.Flags}
	if s.Remote.Name == "" {
		q.peer = r.host(s.Remote.Host, s.Remote.Pos)
		if q.peer == t.host {
			fail(s.Remote.Pos, "", "%s cannot send to itself", t.host.name)
		}
	} else {
		q.remote = r.remote(s.Remote, t.host, s.Unbound)
		q.peer = q.remote.loc.block.host
		q.key = r.key(s, q.remote.loc.block)
	}
	qp := r.qpTo(s.QP, t.host, q.peer, s.Pos)
	end := r.use(qp, s.Pos)
	q.qp = qp.idx
	r.operands(s, q)
	sync := s.Value != "" || s.Status != ""
	q.label = &labelProg{idx: len(r.labels), name: s.Label, host: t.host, thread: t, cq: qp.ends[end].send, silent: s.Silent}
	if lang.HasValue(s.Op) && s.Payload == nil && len(q.pieces) > 0 {
		q.label.cell = q.pieces[0].cell
	}
	r.addLabel(q.label, s.Pos)
	q.id = uint64(q.label.idx)
	if !s.Silent && (s.Label != "" || sync) {
		q.flags |= verbs.Signaled
	}
	if sync {
		if s.Silent {
			fail(s.Pos, "", "the thread waits for the completion, so the request cannot be unsignaled")
		}
		r.take(q.label.cq, s.Pos)
		if s.Value != "" && q.label.cell.n == 0 {
			fail(s.Pos, "load it from there", "the value goes to memory: no register can have it")
		}
		q.value = r.set(s.Value, kindValue, q.label.cell.n, s.Pos)
		q.status = r.set(s.Status, kindStatus, 8, s.Pos)
	}
	q.posted = r.set(s.Posted, kindPosted, 8, s.Pos)
	return func(x *exec) bool { return x.post(q) }
}

func (r *resolver) addLabel(l *labelProg, at lang.Pos) {
	if l.name != "" && r.isLabel(l.name) {
		fail(at, "", "there is a request called %s already", l.name)
	}
	if l.name != "" && (r.cur.regs[l.name] != nil || r.cur.host.locs[l.name] != nil || isConstant(l.name)) {
		fail(at, "", "the label %s is in use: give the request another one", l.name)
	}
	r.labels = append(r.labels, l)
}

// key returns the registration of a request's key.
func (r *resolver) key(s *lang.Post, b *blockProg) int {
	name := s.Key
	if name == "bad" {
		return -1
	}
	if name == "" {
		name = b.name
	}
	var names []string
	for _, m := range b.host.mrs {
		if m.name == name {
			return m.at
		}
		names = append(names, m.name)
	}
	fail(s.Pos, mistake.Suggest(name, append(names, "bad")), "%s has no registration called %s", b.host.name, name)
	return -1
}

// operands compiles the scatter/gather list.
func (r *resolver) operands(s *lang.Post, q *request) {
	total := q.remote.n
	switch s.Op {
	case verbs.OpCompareSwap:
		q.cmp, q.swap = r.word(s.Compare), r.word(s.Swap)
	case verbs.OpFetchAdd:
		q.add = r.word(s.Add)
	}
	if s.Op.IsAtomic() && q.remote.n != 8 && !s.Unbound {
		fail(s.Remote.Pos, "add unchecked if that is what you want to see fail", "an atomic takes 8 bytes, and %s has %d", s.Remote.Text(), q.remote.n)
	}
	if s.Op == verbs.OpFlush {
		return
	}
	if s.Payload == nil {
		if lang.HasValue(s.Op) {
			q.pieces = []piece{{cell: r.cell(max(total, 1), s.Pos)}}
		} else if s.Op == verbs.OpWrite || s.Op == verbs.OpAtomicWrite {
			fail(s.Pos, "add `<- 1`", "%s without a value", lang.OpName(s.Op))
		}
		return
	}
	sum := 0
	for _, o := range s.Payload {
		n := total
		if s.Remote.Name == "" || len(s.Payload) > 1 {
			n = 8
		}
		p, size := r.piece(o, n, s.Op == verbs.OpRead || s.Op.IsAtomic())
		q.pieces = append(q.pieces, p)
		sum += size
	}
	if s.Remote.Name != "" && sum != total && !s.Unbound {
		fail(s.Remote.Pos, "name as many bytes, as in x[0:16]", "%s has %d bytes and the local side has %d", s.Remote.Text(), total, sum)
	}
}

// piece compiles an entry; n is how many bytes a value has.
func (r *resolver) piece(o lang.Operand, n int, into bool) (piece, int) {
	h := r.cur.host
	e := o.Expr
	if o.Ref != nil {
		if h.locs[o.Ref.Name] != nil || o.Ref.Host != "" || o.Ref.Part {
			p := r.local(*o.Ref, h)
			return piece{place: p}, p.n
		}
		if into || r.cur.regs[o.Ref.Name] == nil {
			r.local(*o.Ref, h) // says what is wrong
		}
		e = &lang.Expr{Pos: o.Ref.Pos, Reg: o.Ref.Name}
	}
	if into {
		fail(e.Pos, "", "a Read goes into memory: %s is none", e.Text())
	}
	c := r.cell(n, e.Pos)
	f := r.expr(*e, n)
	if e.Reg == "" {
		r.cur.consts = append(r.cur.consts, constCell{c, e.Const})
		f = nil
	}
	return piece{cell: c, v: f}, n
}

// recv compiles the posting of a receive.
func (r *resolver) recv(s *lang.Recv) func(*exec) bool {
	t := r.cur
	var qp *qpProg
	switch {
	case s.From != "":
		qp = r.qpTo(s.QP, t.host, r.host(s.From, s.Pos), s.Pos)
	case s.QP != "":
		qp = r.qp(s.QP, t.host, s.Pos)
	default:
		var mine []*qpProg
		for _, q := range r.qps {
			if q.end(t.host) >= 0 {
				mine = append(mine, q)
			}
		}
		if len(mine) == 0 && len(r.hosts) == 2 {
			mine = append(mine, r.qpTo("", t.host, r.hosts[1-t.host.idx], s.Pos))
		}
		if len(mine) != 1 {
			fail(s.Pos, "add `from HOST` or `on QP`", "%s has %d queue pairs", t.host.name, len(mine))
		}
		qp = mine[0]
	}
	end := r.use(qp, s.Pos)
	var pieces []piece
	for _, ref := range s.Into {
		pieces = append(pieces, piece{place: r.local(ref, t.host)})
	}
	l := &labelProg{idx: len(r.labels), name: s.Label, host: t.host, thread: t, cq: qp.ends[end].recv, recv: true}
	r.addLabel(l, s.Pos)
	reg := r.set(s.Posted, kindPosted, 8, s.Pos)
	return func(x *exec) bool { return x.recv(qp.idx, pieces, l, reg) }
}

// completion compiles statements about completions.
func (r *resolver) completion(s lang.Stmt) func(*exec) bool {
	switch s := s.(type) {
	case lang.Wait:
		l := r.label(s.Label, s.Pos)
		r.take(l.cq, s.Pos)
		reg := r.set(s.Reg, kindStatus, 8, s.Pos)
		if s.Poll {
			return func(x *exec) bool { return x.poll(l, reg) }
		}
		return func(x *exec) bool {
			if !x.await(l) {
				return false
			}
			return x.set(reg, number64(uint64(x.seen[l.idx].wc.Status)))
		}
	case lang.Next:
		c := r.queue(s)
		r.take(c, s.Pos)
		reg := r.set(s.Reg, kindLabel, 8, s.Pos)
		return func(x *exec) bool { return x.next(c, reg) }
	case lang.Query:
		return r.query(s)
	}
	panic("litmus: unknown kind of statement")
}

// queue is the completion queue that s polls.
func (r *resolver) queue(s lang.Next) *cqProg {
	if i := slices.IndexFunc(r.t.CQs, func(c lang.CQ) bool { return c.Name == s.QP }); i >= 0 {
		return r.cqNamed(s.QP)
	}
	q := r.qp(s.QP, r.cur.host, s.Pos)
	e := &q.ends[r.use(q, s.Pos)]
	if s.Recv {
		return e.recv
	}
	return e.send
}

// query compiles a question about a completion that has arrived.
func (r *resolver) query(s lang.Query) func(*exec) bool {
	l := r.label(s.Label, s.Pos)
	switch s.What {
	case "status":
		reg := r.set(s.Reg, kindStatus, 8, s.Pos)
		return func(x *exec) bool {
			if w := &x.seen[l.idx]; w.ok {
				return x.set(reg, number64(uint64(w.wc.Status)))
			}
			return x.set(reg, number64(statusNone))
		}
	case "result":
		if l.cell.n == 0 {
			fail(s.Pos, "load it from where it went", "%s brings no value back, or into memory", s.Label)
		}
		reg := r.set(s.Reg, kindValue, l.cell.n, s.Pos)
		return func(x *exec) bool { return x.set(reg, x.cell(l.cell, l.thread.idx)) }
	}
	reg := r.set(s.Reg, kindValue, 8, s.Pos)
	imm := s.What == "imm"
	return func(x *exec) bool {
		w := &x.seen[l.idx]
		switch {
		case !w.ok || w.wc.Status != verbs.StatusSuccess || imm && !w.wc.HasImm:
			return x.set(reg, value{})
		case imm:
			return x.set(reg, number64(uint64(w.wc.Imm)))
		}
		return x.set(reg, number64(uint64(w.wc.ByteLen)))
	}
}
