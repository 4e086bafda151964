package semantics

import (
	"strings"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// holds reports whether a condition on the registers of a thread holds.
func (x *thread) holds(c lang.Cond, labels []label) bool {
	switch c := c.(type) {
	case lang.And:
		return x.holds(c.L, labels) && x.holds(c.R, labels)
	case lang.Or:
		return x.holds(c.L, labels) || x.holds(c.R, labels)
	case lang.Not:
		return !x.holds(c.X, labels)
	case lang.Is:
		v := x.term(c.Term)
		if c.What == "unset" {
			return !v.set
		}
		return v.set && !v.all(num(v.b))
	case lang.Compare:
		return x.compare(c)
	}
	panic("semantics: unknown kind of condition")
}

// term returns the value of a term; a name that is not a register is a constant.
func (x *thread) term(t lang.Term) value {
	if t.Name == "" {
		return number(t.Num)
	}
	for _, r := range x.regs {
		if r.name != t.Name {
			continue
		}
		if !t.Part {
			return r.value
		}
		n := t.Len
		if n == 0 {
			n = min(8, len(r.b)-t.Off)
		}
		return r.slice(t.Off, n)
	}
	if strings.ToUpper(t.Name) == t.Name {
		return named(t.Name)
	}
	return value{}
}

// compare compares two terms; a comparison with an unset term is false.
func (x *thread) compare(c lang.Compare) bool {
	a, b := x.term(c.L), x.term(c.R)
	if !a.set || !b.set {
		return false
	}
	same := a == b
	if c.R.Name == "" {
		same = a.all(num(b.b))
	} else if c.L.Name == "" {
		same = b.all(num(a.b))
	}
	i, j := num(a.b), num(b.b)
	switch c.Op {
	case "==":
		return same
	case "!=":
		return !same
	case "<":
		return i < j
	case "<=":
		return i <= j
	case ">":
		return i > j
	}
	return i >= j
}

// all reports whether each word of v is c.
func (v value) all(c uint64) bool { return v.b == fill(c, len(v.b)) }
