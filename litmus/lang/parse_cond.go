package lang

import "github.com/verbatim-rdma/verbatim/internal/mistake"

import "fmt"

// cond reads a condition: || binds less than &&, and ! most.
func (p *parser) cond() Cond { return p.or(0) }

func (p *parser) or(depth int) Cond {
	c := p.and(depth)
	for p.accept("||") {
		c = Or{c, p.and(depth)}
	}
	return c
}

func (p *parser) and(depth int) Cond {
	c := p.not(depth)
	for p.accept("&&") {
		c = And{c, p.not(depth)}
	}
	return c
}

// questions are what can be asked of a thread or a term.
var questions = []string{"blocked", "done", "mixed", "unset"}

func (p *parser) not(depth int) Cond {
	if depth > maxNesting {
		p.failAt(p.peek(), fmt.Sprintf("the condition is nested more than %d deep", maxNesting), "")
	}
	switch t := p.peek(); {
	case p.accept("!"):
		return Not{p.not(depth + 1)}
	case p.accept("("):
		c := p.or(depth + 1)
		p.symbol(")")
		return c
	case t.kind == tokName && p.ahead(1).text == "(":
		is := Is{Pos: p.pos(), What: p.next().text}
		p.next()
		known := false
		for _, q := range questions {
			known = known || q == is.What
		}
		if !known {
			p.failAt(t, fmt.Sprintf("expected %s, found %v", mistake.OneOf(questions), t), mistake.Suggest(t.text, questions))
		}
		is.Term = p.term()
		p.symbol(")")
		return is
	}
	l := p.term()
	return Compare{l, p.comparison(), p.term()}
}

var comparisons = []string{"==", "!=", "<=", ">=", "<", ">"}

func (p *parser) comparison() string {
	t := p.next()
	for _, c := range comparisons {
		if t.text == c {
			return c
		}
	}
	hint := ""
	if t.text == "=" {
		hint = "write =="
	}
	p.failAt(t, fmt.Sprintf("expected a comparison (%s), found %v", mistake.OneOf(comparisons), t), hint)
	return ""
}

// term reads a number, a name, THREAD.REGISTER or HOST:LOCATION, with [OFF] or
// [OFF:LEN] behind it.
func (p *parser) term() Term {
	t := Term{Pos: p.pos()}
	if p.peek().kind == tokNumber {
		t.Num = p.next().num
		return t
	}
	t.Name = p.name("a register, a location, a number or a status")
	switch {
	case p.accept("."):
		t.Thread, t.Name = t.Name, p.name("a register")
	case p.peek().text == ":" && !p.ahead(1).space:
		p.next()
		t.Host, t.Name = t.Name, p.name("a location")
	}
	t.Part, t.Off, t.Len = p.part()
	return t
}

// part reads [OFF] or [OFF:LEN], if it is there.
func (p *parser) part() (part bool, off, n int) {
	if !p.accept("[") {
		return false, 0, 0
	}
	off = int(p.number("the offset in bytes", MaxSize))
	if p.accept(":") {
		n = int(p.number("the length in bytes", MaxSize))
		if n == 0 {
			p.failAt(p.peek(), "a part of no bytes", "")
		}
		if n == 8 {
			n = 0 // as without it
		}
	}
	p.symbol("]")
	return true, off, n
}

// ref reads [HOST:]LOCATION[OFF:LEN].
func (p *parser) ref(what string) Ref {
	r := Ref{Pos: p.pos()}
	r.Name = p.name(what)
	if p.peek().text == ":" && !p.ahead(1).space {
		p.next()
		r.Host, r.Name = r.Name, p.name("a location")
	}
	r.Part, r.Off, r.Len = p.part()
	return r
}

// expr reads a number, a register, or REGISTER + NUMBER.
func (p *parser) expr() Expr {
	e := Expr{Pos: p.pos()}
	if p.peek().kind == tokNumber {
		e.Const = p.next().num
		return e
	}
	e.Reg = p.name("a number or a register")
	if p.accept("+") {
		e.Const = p.number("a number", 1<<64-1)
	}
	return e
}
