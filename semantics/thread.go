package semantics

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// statement returns the states after the next statement of a thread. gaveUp reports that the
// statement is a loop that would continue: such a run is only the beginning of another run.
func (s *state) statement(t int) (next []*state, gaveUp bool) {
	x := &s.threads[t]
	if x.done || x.ended {
		return nil, false
	}
	o := &s.program.threads[t].steps[x.pc]
	return s.do(t, o)
}

func (s *state) do(t int, o *op) (next []*state, gaveUp bool) {
	switch st := o.stmt.(type) {
	case lang.If:
		if s.threads[t].holds(st.Cond, s.labels) {
			return s.do(t, &o.then[0])
		}
		return s.advanced(t), false
	case lang.Maybe:
		if s.threads[t].chosen {
			return s.do(t, &o.then[0])
		}
		c := s.clone()
		c.threads[t].chosen = true
		return append(s.advanced(t), c), false
	case lang.Assume:
		if !s.threads[t].holds(st.Cond, s.labels) {
			return nil, true
		}
		return s.advanced(t), false
	case lang.Until:
		return s.until(t, o, st)
	case lang.Stop:
		c := s.clone()
		c.threads[t].done = true
		return []*state{c}, false
	case lang.Tell:
		return s.tell(t, o, st), false
	case lang.Hear:
		return s.hear(t, st), false
	case *lang.Post:
		return s.doorbellDrains(t, o, st), false
	case *lang.Recv:
		return s.postReceive(t, o, st), false
	case lang.Wait:
		return s.wait(t, o, st), false
	case lang.Next:
		return s.next(t, o, st), false
	case lang.Query:
		return s.query(t, o, st), false
	case lang.Modify:
		return s.modify(t, o, st), false
	case lang.StateOf:
		return s.stateOf(t, o, st), false
	case lang.Destroy:
		return s.destroy(t, o), false
	case lang.Connect:
		return s.connect(t, o)
	case lang.Dereg:
		return s.deregister(t, o), false
	case lang.Fault:
		return s.fault(t, st), false
	case lang.Heal:
		c := s.clone()
		c.link(s.host(st.A), s.host(st.B), whole)
		c.advance(t)
		return []*state{c}, false
	}
	return s.cpu(t, o), false
}

// advance moves a thread to its next statement.
func (s *state) advance(t int) {
	x := &s.threads[t]
	x.pc++
	x.waiting, x.chosen, x.partial, x.sampled = false, false, "", nil
	x.done = x.pc == len(s.program.threads[t].steps)
}

// advanced returns the state in which a thread has only moved to its next statement.
func (s *state) advanced(t int) []*state {
	c := s.clone()
	c.advance(t)
	return []*state{c}
}

// with returns the state in which a thread has set a register and moved to its next statement.
func (s *state) with(t int, reg string, v value) []*state {
	c := s.clone()
	c.threads[t].set(reg, v)
	c.advance(t)
	return []*state{c}
}

func (x *thread) set(name string, v value) {
	if name == "" {
		return
	}
	i := slices.IndexFunc(x.regs, func(r register) bool { return r.name >= name })
	switch {
	case i < 0:
		x.regs = append(x.regs, register{name, v})
	case x.regs[i].name == name:
		x.regs[i].value = v
	default:
		x.regs = slices.Insert(x.regs, i, register{name, v})
	}
}

func (x *thread) reg(name string) value {
	for _, r := range x.regs {
		if r.name == name {
			return r.value
		}
	}
	return value{}
}

// eval is an expression that fills n bytes.
func (x *thread) eval(e lang.Expr, n int) string {
	if e.Reg == "" {
		return fill(e.Const, n)
	}
	v := x.reg(e.Reg)
	if len(v.b) > 8 {
		return v.b[:n]
	}
	return fill(num(v.b)+e.Const, n)
}

// tell sends a message, which arrives later.
func (s *state) tell(t int, o *op, st lang.Tell) []*state {
	if s.draining(t) {
		return nil
	}
	v := uint64(0)
	if st.Value != nil {
		v = num(s.threads[t].eval(*st.Value, 8))
	}
	c := s.clone()
	if c.up[o.host] {
		c.inbox = append(c.inbox, note{s.program.threads[t].host, o.host, st.Msg, v})
	}
	c.advance(t)
	return []*state{c}
}

// hear waits for a message. Messages wait where a link is cut.
func (s *state) hear(t int, st lang.Hear) []*state {
	i := slices.IndexFunc(s.inbox, func(n note) bool {
		return n.name == st.Msg && n.host == s.program.threads[t].host && s.cut[n.from*len(s.hosts)+n.host] == whole
	})
	if i < 0 {
		return nil
	}
	c := s.clone()
	c.inbox = slices.Delete(c.inbox, i, i+1)
	c.threads[t].set(st.Reg, number(s.inbox[i].v))
	c.advance(t)
	return []*state{c}
}

// wait polls completions until it finds the completion of the label; poll polls once.
func (s *state) wait(t int, o *op, st lang.Wait) []*state {
	status, ok := s.threads[t].status(o.label)
	if ok {
		return s.with(t, st.Reg, named(status.String()))
	}
	q := s.labels[o.label].cq
	if len(s.queues[q]) == 0 {
		if st.Poll {
			return s.with(t, st.Reg, named("NONE"))
		}
		return nil
	}
	c := s.clone()
	c.take(t, q)
	if !st.Poll {
		return []*state{c}
	}
	if status, ok = c.threads[t].status(o.label); ok {
		c.threads[t].set(st.Reg, named(status.String()))
	} else {
		c.threads[t].set(st.Reg, named("NONE"))
	}
	c.advance(t)
	return []*state{c}
}

// take polls a completion: slots-are-freed-by-polling, receive-slots-are-freed-by-polling.
func (s *state) take(t, queue int) completion {
	w := s.queues[queue][0]
	s.queues[queue] = s.queues[queue][1:]
	x := &s.threads[t]
	i := slices.IndexFunc(x.seen, func(c completion) bool { return c.label >= w.label })
	switch {
	case i < 0:
		x.seen = append(x.seen, w)
	case x.seen[i].label == w.label:
		x.seen[i] = w
	default:
		x.seen = slices.Insert(x.seen, i, w)
	}
	if w.recv {
		s.receiveSlotsAreFreedByPolling(w)
	} else {
		s.slotsAreFreedByPolling(w)
	}
	return w
}

func (x *thread) status(label int) (verbs.Status, bool) {
	for _, w := range x.seen {
		if w.label == label {
			return w.status, true
		}
	}
	return 0, false
}

// next waits for the next completion of a queue.
func (s *state) next(t int, o *op, st lang.Next) []*state {
	if len(s.queues[o.cq]) == 0 {
		return nil
	}
	c := s.clone()
	w := c.take(t, o.cq)
	c.threads[t].set(st.Reg, value{set: true, word: s.labels[w.label].name})
	c.advance(t)
	return []*state{c}
}

// query asks for a property of a completion that was polled: recv-completion-content.
func (s *state) query(t int, o *op, st lang.Query) []*state {
	if st.What == "result" {
		return s.with(t, st.Reg, bytes(s.private[o.label]))
	}
	seen := s.threads[t].seen
	i := slices.IndexFunc(seen, func(w completion) bool { return w.label == o.label })
	v := value{}
	switch {
	case st.What == "status" && i < 0:
		v = named("NONE")
	case st.What == "status":
		v = named(seen[i].status.String())
	case i >= 0 && seen[i].status == verbs.StatusSuccess:
		v = s.recvCompletionContent(seen[i], st.What)
	}
	return s.with(t, st.Reg, v)
}

func (s *state) recvCompletionContent(w completion, what string) value {
	switch {
	case what == "len":
		return number(uint64(w.n))
	case w.hasImm:
		return number(uint64(w.imm))
	}
	return value{}
}

// refuse ends the search: a statement without a register for its result fails.
func refuse(s lang.Stmt, why string) {
	panic(refusal{fmt.Errorf("%w: %s: %s", ErrRefused, lang.StmtText(s), why)})
}
