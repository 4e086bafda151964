package litmus

import (
	"encoding/binary"
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// statement compiles a statement of the current thread.
func (r *resolver) statement(s lang.Stmt) func(*exec) bool {
	switch s := s.(type) {
	case *lang.Post:
		return r.post(s)
	case *lang.Recv:
		return r.recv(s)
	case lang.Wait, lang.Next, lang.Query:
		return r.completion(s)
	case lang.If:
		c, then := r.condition(s.Cond, false), r.statement(s.Then)
		return func(x *exec) bool { return !c(&x.m.env) || then(x) }
	case lang.Maybe:
		then := r.statement(s.Then)
		return func(x *exec) bool { return x.h.Rand(2) == 0 || then(x) }
	case lang.Assume:
		c := r.condition(s.Cond, false)
		loop := r.loop(s.Pos, s)
		return func(x *exec) bool { return x.look(loop, c(&x.m.env)) }
	case lang.Stop:
		return func(*exec) bool { return false }
	case lang.Tell, lang.Hear, lang.Fault, lang.Heal:
		return r.world(s)
	case lang.Modify, lang.StateOf, lang.Destroy, lang.Connect, lang.Dereg:
		return r.control(s)
	}
	return r.cpu(s)
}

// loop records a waiting loop, and returns its number.
func (r *resolver) loop(at lang.Pos, s lang.Stmt) int {
	r.untils = append(r.untils, "thread "+r.cur.spec.Name+" waits at line "+lang.Number(uint64(at.Line))+" (`"+lang.StmtText(s)+"`)")
	return len(r.untils) - 1
}

// expr compiles an expression that fills n bytes.
func (r *resolver) expr(e lang.Expr, n int) func(*exec, []byte) {
	if e.Reg == "" {
		fits(e.Pos, e.Const, n)
		return func(_ *exec, b []byte) { fill(b, e.Const) }
	}
	g := r.get(e.Reg, e.Pos)
	if g.kind != kindValue {
		fail(e.Pos, "", "register %s holds %s, which is no number", e.Reg, kindNames[g.kind])
	}
	if g.size > 8 && (g.size != n || e.Const != 0) {
		fail(e.Pos, "", "register %s has %d bytes, and %d are wanted", e.Reg, g.size, n)
	}
	return func(x *exec, b []byte) {
		v := x.m.env.regs[g.idx]
		if v.b != nil {
			copy(b, v.b)
			return
		}
		fill(b, v.num+e.Const)
	}
}

// word compiles an expression of eight bytes.
func (r *resolver) word(e lang.Expr) func(*exec) uint64 {
	f := r.expr(e, 8)
	return func(x *exec) uint64 {
		var b [8]byte
		f(x, b[:])
		return binary.LittleEndian.Uint64(b[:])
	}
}

// cpu compiles the memory operations of the CPU.
func (r *resolver) cpu(s lang.Stmt) func(*exec) bool {
	h := r.cur.host
	switch s := s.(type) {
	case lang.Load:
		p := r.local(s.Ref, h)
		reg := r.set(s.Reg, kindValue, p.n, s.Pos)
		return func(x *exec) bool { return x.set(reg, x.load(p)) }
	case lang.Store:
		p := r.local(s.Ref, h)
		v := r.expr(s.Value, p.n)
		return func(x *exec) bool {
			b := make([]byte, p.n)
			v(x, b)
			x.store(p, b)
			return true
		}
	case lang.Clwb:
		p := r.local(s.Ref, h)
		return func(x *exec) bool { x.region(p).Flush(p.off, p.n); return true }
	case lang.Fence:
		if len(h.blocks) == 0 {
			fail(s.Pos, "", "%s has no memory, so nothing is fenced", h.name)
		}
		return func(x *exec) bool { x.life.regions[0].Fence(); return true }
	case lang.CmpXchg:
		p := r.aligned(s.Ref)
		old, now := r.word(s.Old), r.word(s.New)
		reg := r.set(s.Reg, kindValue, 8, s.Pos)
		return func(x *exec) bool {
			v := uint64(0)
			if x.region(p).CompareAndSwap64(p.off, old(x), now(x)) {
				v = 1
			}
			return x.set(reg, number64(v))
		}
	case lang.Xadd:
		p, add := r.aligned(s.Ref), r.word(s.Add)
		reg := r.set(s.Reg, kindValue, 8, s.Pos)
		return func(x *exec) bool {
			d := add(x)
			return x.set(reg, number64(x.region(p).Add64(p.off, d)-d))
		}
	case lang.Until:
		p := r.local(s.Ref, h)
		v := r.expr(s.Value, p.n)
		if p.n > 8 {
			fail(s.Pos, "", "until compares at most 8 bytes, and %s has %d", s.Ref.Text(), p.n)
		}
		loop := r.loop(s.Pos, s)
		return func(x *exec) bool {
			var b [8]byte
			v(x, b[:p.n])
			for {
				got := x.load(p)
				ok := got.set && ordered(s.Op, got.num, binary.LittleEndian.Uint64(b[:]))
				if ok || !x.m.machine.Again(x.t) {
					return x.look(loop, ok)
				}
			}
		}
	}
	panic("litmus: unknown kind of statement")
}

// aligned resolves a word for a locked instruction.
func (r *resolver) aligned(ref lang.Ref) place {
	p := r.local(ref, r.cur.host)
	if p.n != 8 || p.off%8 != 0 {
		fail(ref.Pos, "", "a locked instruction takes 8 bytes at an offset that 8 divides; %s is %d at %d", ref.Text(), p.n, p.off)
	}
	return p
}

// world compiles messages and faults.
func (r *resolver) world(s lang.Stmt) func(*exec) bool {
	switch s := s.(type) {
	case lang.Tell:
		to := r.host(s.Host, s.Pos)
		if to == r.cur.host {
			fail(s.Pos, "threads of one host share memory", "a message goes to another host")
		}
		if h, ok := r.msgs[s.Msg]; !ok || h != to.idx {
			fail(s.Pos, "", "no thread of %s hears %s", s.Host, s.Msg)
		}
		v := func(*exec) uint64 { return 0 }
		if s.Value != nil {
			v = r.word(*s.Value)
		}
		return func(x *exec) bool {
			body := binary.LittleEndian.AppendUint64(nil, v(x))
			x.h.Gather([]host.Call{{To: to.name, Service: s.Msg, Body: body}}, verbs.Forever)
			return true
		}
	case lang.Hear:
		reg := r.set(s.Reg, kindValue, 8, s.Pos)
		return func(x *exec) bool {
			req := x.accept(s.Msg)
			return req != nil && x.set(reg, valueOf(req.Body()))
		}
	case lang.Fault:
		own := ends(s.Kind) && s.Hosts[0] == r.cur.host.name
		return func(x *exec) bool {
			if err := x.m.machine.Strike(s.Kind, s.Hosts...); err != nil {
				return x.m.broken(err)
			}
			if own {
				x.dead = true
			}
			return !own
		}
	case lang.Heal:
		return func(x *exec) bool { x.m.machine.Heal(s.A, s.B); return true }
	}
	panic("litmus: unknown kind of statement")
}

// posted is the result of a post or of a change of state.
func posted(err error) uint64 {
	switch {
	case err == nil:
		return postOK
	case errors.Is(err, verbs.ErrQueueFull):
		return postFull
	case errors.Is(err, verbs.ErrState):
		return postState
	case errors.Is(err, verbs.ErrUnsupported):
		return postUnsupported
	case errors.Is(err, verbs.ErrClosed):
		return postClosed
	case errors.Is(err, verbs.ErrInvalid):
		return postInvalid
	case errors.Is(err, verbs.ErrBusy):
		return postBusy
	}
	return postOther
}
