package semantics

import (
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// item is a part of a final state.
type item struct {
	name   string
	thread int // of a register, or blocked, or done
	reg    string
	what   string // blocked or done
	host   int
	at     place
	memory bool
}

// ask lists the parts of final states that the questions name.
func (p *program) ask() {
	for _, o := range p.test.Outcomes {
		p.askCond(o.Cond)
	}
	for _, t := range p.test.Show {
		p.askTerm(t)
	}
}

func (p *program) askCond(c lang.Cond) {
	switch c := c.(type) {
	case lang.And:
		p.askCond(c.L)
		p.askCond(c.R)
	case lang.Or:
		p.askCond(c.L)
		p.askCond(c.R)
	case lang.Not:
		p.askCond(c.X)
	case lang.Compare:
		p.askTerm(c.L)
		p.askTerm(c.R)
	case lang.Is:
		if c.What == "blocked" || c.What == "done" {
			t := slices.IndexFunc(p.threads, func(t code) bool { return t.name == c.Term.Name })
			p.add(item{name: c.What + "(" + c.Term.Name + ")", thread: t, what: c.What})
			return
		}
		p.askTerm(c.Term)
	}
}

func (p *program) askTerm(t lang.Term) {
	if t.Host != "" {
		h := p.host(t.Host)
		c := compiler{p, 0, h}
		at := c.local(lang.Ref{Name: t.Name, Part: t.Part, Off: t.Off, Len: t.Len})
		p.add(item{name: t.Text(), memory: true, host: h, at: at})
		return
	}
	for i, th := range p.threads {
		if t.Name != "" && (t.Thread == "" || t.Thread == th.name) && sets(th.steps, t.Name) {
			p.add(item{name: th.name + "." + t.Name, thread: i, reg: t.Name})
		}
	}
}

func (p *program) add(x item) {
	if !slices.ContainsFunc(p.asked, func(y item) bool { return y.name == x.name }) {
		p.asked = append(p.asked, x)
	}
}

// sets reports whether the statements set a register.
func sets(steps []op, reg string) bool {
	for i := range steps {
		if slices.Contains(registers(steps[i].stmt), reg) || sets(steps[i].then, reg) {
			return true
		}
	}
	return false
}

func registers(s lang.Stmt) []string {
	switch s := s.(type) {
	case *lang.Post:
		return []string{s.Posted, s.Value, s.Status}
	case *lang.Recv:
		return []string{s.Posted}
	case lang.Wait:
		return []string{s.Reg}
	case lang.Next:
		return []string{s.Reg}
	case lang.Query:
		return []string{s.Reg}
	case lang.Load:
		return []string{s.Reg}
	case lang.CmpXchg:
		return []string{s.Reg}
	case lang.Xadd:
		return []string{s.Reg}
	case lang.Hear:
		return []string{s.Reg}
	case lang.Modify:
		return []string{s.Reg}
	case lang.StateOf:
		return []string{s.Reg}
	}
	return nil
}

// final is the final state as package litmus writes it.
func (s *state) final() string {
	var out []string
	for _, x := range s.asked {
		t := &s.threads[x.thread]
		switch {
		case x.memory && !s.up[x.host]:
			out = append(out, x.name+"=-")
		case x.memory:
			out = append(out, x.name+"="+bytes(s.memory[x.at.block][x.at.off:x.at.off+x.at.n]).text(x.at.n))
		case x.what == "":
			v := t.reg(x.reg)
			out = append(out, x.name+"="+v.text(len(v.b)))
		case x.what == "done" && t.done, x.what == "blocked" && !t.done && !t.ended:
			out = append(out, x.name)
		default:
			out = append(out, "!"+x.name)
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}
