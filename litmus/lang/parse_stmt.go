package lang

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// verbOps are the statements that post send work requests.
var verbOps = map[string]verbs.Opcode{
	"write": verbs.OpWrite, "read": verbs.OpRead, "send": verbs.OpSend, "cas": verbs.OpCompareSwap, "faa": verbs.OpFetchAdd,
	"flush": verbs.OpFlush, "awrite": verbs.OpAtomicWrite,
}

// Statements that set a register, that may set one, and that do not.
var (
	setting    = []string{"load", "poll", "next", "status", "len", "imm", "result", "state"}
	maySet     = []string{"write", "read", "send", "cas", "faa", "flush", "awrite", "post", "wait", "hear", "cmpxchg", "xadd", "modify", "access"}
	notSetting = []string{"recv", "store", "clwb", "mfence", "until", "assume", "if", "maybe", "stop", "tell", "heal", "destroy",
		"connect", "dereg"}
)

func statementNames() []string {
	return slices.Concat(setting, maySet, notSetting, faults.KindNames())
}

// Reserved says whether a word is one of those that cannot name a location, a register or a label.
func Reserved(name string) bool {
	return name == "from" || name == "post" || slices.Contains(flagNames, name)
}

// statement reads one statement.
func (p *parser) statement(depth int) Stmt {
	if depth > 4 {
		p.failAt(p.peek(), "`maybe` and `if` are nested more than 4 deep", "")
	}
	pos := p.pos()
	var regs []string
	if a := p.ahead(1).text; p.peek().kind == tokName && (a == "=" || a == ",") {
		for ok := true; ok; ok = p.accept(",") {
			regs = append(regs, p.register())
		}
		p.symbol("=")
	}
	t := p.peek()
	switch {
	case slices.Contains(notSetting, t.text) && len(regs) > 0:
		p.failAt(t, fmt.Sprintf("%s sets no register", t.text), "")
	case slices.Contains(setting, t.text) && len(regs) != 1:
		p.failAt(t, fmt.Sprintf("%s sets one register", t.text), "write r1 = "+t.text+" ...")
	case len(regs) > 1 && t.text != "read" && t.text != "cas" && t.text != "faa":
		p.failAt(t, fmt.Sprintf("%s sets one register", t.text), "two are for read, cas and faa: the value and the status")
	}
	p.next()
	reg := ""
	if len(regs) > 0 {
		reg = regs[0]
	}
	if _, ok := verbOps[t.text]; ok {
		s := p.post(t.text, pos)
		s.setRegisters(regs)
		return s
	}
	switch t.text {
	case "maybe":
		return Maybe{pos, p.statement(depth + 1)}
	case "if":
		s := If{Pos: pos, Cond: p.cond()}
		p.symbol(":")
		s.Then = p.statement(depth + 1)
		return s
	case "post":
		return p.posted(reg, pos)
	}
	if s := p.cpu(t.text, reg, pos); s != nil {
		return s
	}
	if s := p.control(t, reg, pos); s != nil {
		return s
	}
	p.failAt(t, fmt.Sprintf("expected a statement, found %v", t), mistake.Suggest(t.text, append(statementNames(), sections...)))
	return nil
}

func (p *parser) register() string {
	t := p.peek()
	name := p.name("a register")
	if Reserved(name) {
		p.failAt(t, fmt.Sprintf("a register cannot be called %q: the word has a meaning of its own", name), "")
	}
	return name
}

// setRegisters assigns the registers before an operation such as `= read`.
func (s *Post) setRegisters(regs []string) {
	if len(regs) == 0 {
		return
	}
	if HasValue(s.Op) {
		s.Value = regs[0]
		if len(regs) > 1 {
			s.Status = regs[1]
		}
		return
	}
	s.Status = regs[0]
}

// HasValue reports whether the operation returns a value.
func HasValue(op verbs.Opcode) bool { return op == verbs.OpRead || op.IsAtomic() }

// posted parses the rest of REG = post: a verb or recv.
func (p *parser) posted(reg string, pos Pos) Stmt {
	t := p.next()
	if t.text == "recv" {
		s := p.recv(pos)
		s.Posted = reg
		return s
	}
	if _, ok := verbOps[t.text]; !ok {
		p.failAt(t, fmt.Sprintf("expected a verb or recv, found %v", t), "")
	}
	if reg == "" {
		p.failAt(t, "`post` is for its result", "write p = post "+t.text+" ...")
	}
	s := p.post(t.text, pos)
	s.Posted = reg
	return s
}

// post reads a verb.
func (p *parser) post(word string, pos Pos) *Post {
	s := &Post{Pos: pos, Op: verbOps[word]}
	switch s.Op {
	case verbs.OpRead, verbs.OpCompareSwap, verbs.OpFetchAdd:
		p.remoteAndInto(s)
	case verbs.OpSend:
		s.Remote = Ref{Pos: p.pos(), Host: p.name("the host that receives")}
	default:
		s.Remote = p.ref("a location of the peer")
	}
	switch s.Op {
	case verbs.OpWrite, verbs.OpAtomicWrite, verbs.OpSend:
		if p.accept("<-") {
			s.Payload = p.payload()
		}
	case verbs.OpCompareSwap:
		s.Compare, s.Swap = p.expr(), p.expr()
	case verbs.OpFetchAdd:
		s.Add = p.expr()
	case verbs.OpFlush:
		if t := p.peek().text; t == "global" || t == "persistent" || t == "both" {
			s.Scope = p.next().text
		}
		s.WholeMR = p.accept("whole")
	}
	p.flags(s)
	return s
}

// remoteAndInto reads [LOCAL <-] REMOTE.
func (p *parser) remoteAndInto(s *Post) {
	if p.peek().text == "[" {
		s.Payload = p.payload()
		p.symbol("<-")
		s.Remote = p.ref("a location of the peer")
		return
	}
	s.Remote = p.ref("a location of the peer, or one to read into before <-")
	if p.accept("<-") {
		into := s.Remote
		s.Payload = []Operand{{Ref: &into}}
		s.Remote = p.ref("a location of the peer")
	}
}

// payload reads an operand, or several in brackets: a scatter/gather list.
func (p *parser) payload() []Operand {
	if !p.accept("[") {
		return []Operand{p.operand()}
	}
	out := []Operand{}
	for !p.accept("]") {
		if len(out) >= 16 {
			p.failAt(p.peek(), "a scatter/gather list has at most 16 entries", "")
		}
		out = append(out, p.operand())
		p.accept(",")
	}
	return out
}

// operand reads a location, a register or a number.
func (p *parser) operand() Operand {
	if p.peek().kind == tokName && p.ahead(1).text != "+" {
		r := p.ref("a number, a register or a location")
		return Operand{Ref: &r}
	}
	e := p.expr()
	return Operand{Expr: &e}
}

var flagNames = []string{"inline", "fence", "signaled", "unsignaled", "solicited", "imm", "key", "on", "as", "unchecked"}

// flags parses the flags after the operands of a verb, in any order.
func (p *parser) flags(s *Post) {
	for p.peek().kind != tokEnd {
		t := p.next()
		switch t.text {
		case "inline":
			s.Flags |= verbs.Inline
		case "fence":
			s.Flags |= verbs.Fence
		case "signaled":
			s.Flags |= verbs.Signaled
		case "unsignaled":
			s.Silent = true
		case "solicited":
			s.Flags |= verbs.Solicited
		case "unchecked":
			s.Unbound = true
		case "imm":
			p.symbol("=")
			s.Imm = uint32(p.number("the immediate value", 1<<32-1))
			switch s.Op {
			case verbs.OpWrite:
				s.Op = verbs.OpWriteImm
			case verbs.OpSend:
				s.Op = verbs.OpSendImm
			default:
				p.failAt(t, "only write and send carry an immediate value", "")
			}
		case "key":
			p.symbol("=")
			s.Key = p.name("the name of an mr, or bad")
		case "on":
			s.QP = p.name("a queue pair")
		case "as":
			s.Label = p.register()
		default:
			p.failAt(t, fmt.Sprintf("expected one of %s, found %v", mistake.OneOf(flagNames), t), mistake.Suggest(t.text, flagNames))
		}
	}
	if s.Silent && s.Flags&verbs.Signaled != 0 {
		p.failAt(p.peek(), "signaled and unsignaled exclude each other", "")
	}
}

// recv reads [LOCAL] [from HOST] [on QP] [as LABEL].
func (p *parser) recv(pos Pos) *Recv {
	s := &Recv{Pos: pos}
	if t := p.peek(); t.text == "[" || t.kind == tokName && !Reserved(t.text) {
		for _, o := range p.payload() {
			if o.Ref == nil {
				p.failAt(t, "a receive takes locations", "")
			}
			s.Into = append(s.Into, *o.Ref)
		}
	}
	for p.peek().kind != tokEnd {
		switch t := p.next(); t.text {
		case "from":
			s.From = p.name("a host")
		case "on":
			s.QP = p.name("a queue pair")
		case "as":
			s.Label = p.register()
		default:
			p.failAt(t, fmt.Sprintf("expected from, on or as, found %v", t), mistake.Suggest(t.text, []string{"from", "on", "as"}))
		}
	}
	return s
}
