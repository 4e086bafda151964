package litmus

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// env is the input of conditions: the registers of all threads, and at the end of a run
// also memory and threads.
type env struct {
	regs    []value
	asked   []value // by item
	blocked []bool
	done    []bool
}

type itemKind uint8

const (
	itemReg itemKind = iota
	itemMem
	itemBlocked
	itemDone
)

// item is a part of a final state.
type item struct {
	kind   itemKind
	reg    *regProg
	place  place
	thread *threadProg
	name   string
}

// getter reads a term. It has size bytes if it is a value.
type getter struct {
	kind regKind
	size int
	of   func(*env) value
	lit  bool   // a number: it takes the other side's size
	name string // a name whose meaning depends on the other side's kind
	pos  lang.Pos
	term string
}

// condition compiles c. At the end of a run (final) it may read everything, and what it
// reads becomes part of the final state; in a thread it may read only the thread's own
// registers.
func (r *resolver) condition(c lang.Cond, final bool) func(*env) bool {
	switch c := c.(type) {
	case lang.And:
		a, b := r.condition(c.L, final), r.condition(c.R, final)
		return func(e *env) bool { return a(e) && b(e) }
	case lang.Or:
		a, b := r.condition(c.L, final), r.condition(c.R, final)
		return func(e *env) bool { return a(e) || b(e) }
	case lang.Not:
		a := r.condition(c.X, final)
		return func(e *env) bool { return !a(e) }
	case lang.Is:
		return r.question(c, final)
	case lang.Compare:
		return r.comparison(c, final)
	}
	panic("litmus: unknown kind of condition")
}

func (r *resolver) question(c lang.Is, final bool) func(*env) bool {
	if c.What == "blocked" || c.What == "done" {
		if !final {
			fail(c.Pos, "", "%s is for `exists`: a thread knows only its registers", c.What)
		}
		t := r.thread(c.Term)
		kind := itemBlocked
		if c.What == "done" {
			kind = itemDone
			t.asked = true
		}
		r.ask(item{kind: kind, thread: t, name: c.What + "(" + t.spec.Name + ")"})
		i := t.idx
		if kind == itemDone {
			return func(e *env) bool { return e.done[i] }
		}
		return func(e *env) bool { return e.blocked[i] }
	}
	g := r.getter(c.Term, final)
	if g.lit || g.name != "" {
		fail(c.Term.Pos, "", "%s is about a register or memory", c.What)
	}
	if c.What == "unset" {
		return func(e *env) bool { return !g.of(e).set }
	}
	if g.kind != kindValue || g.size <= 8 {
		fail(c.Term.Pos, "", "mixed is about values of more than 8 bytes, and %s has %d", g.term, g.size)
	}
	return func(e *env) bool { v := g.of(e); return v.set && v.mixed(g.size) }
}

func (r *resolver) thread(t lang.Term) *threadProg {
	var names []string
	for _, x := range r.threads {
		if x.spec.Name == t.Name {
			return x
		}
		names = append(names, x.spec.Name)
	}
	fail(t.Pos, mistake.Suggest(t.Name, names), "there is no thread %s", t.Name)
	return nil
}

// getter compiles a term.
func (r *resolver) getter(t lang.Term, final bool) getter {
	g := getter{pos: t.Pos, term: t.Text(), size: 8}
	switch {
	case t.Name == "":
		g.lit = true
		g.of = func(*env) value { return number64(t.Num) }
		return g
	case t.Host != "":
		if !final {
			fail(t.Pos, "load it into a register", "a thread's condition is about its registers")
		}
		p := r.local(lang.Ref{Pos: t.Pos, Name: t.Name, Part: t.Part, Off: t.Off, Len: t.Len}, r.host(t.Host, t.Pos))
		i := r.ask(item{kind: itemMem, place: p, name: t.Text()})
		g.size = p.n
		g.of = func(e *env) value { return e.asked[i] }
		return g
	}
	x := r.findReg(t, final)
	if x == nil {
		g.name = t.Name
		return g
	}
	if final {
		x.asked = true
		r.ask(item{kind: itemReg, reg: x, name: x.thread.spec.Name + "." + x.name})
	}
	g.kind, g.size = x.kind, x.size
	off, n := 0, x.size
	if t.Part {
		if off, n = t.Off, t.Len; n == 0 {
			n = min(8, x.size-off)
		}
		if n <= 0 || off+n > x.size || x.kind != kindValue {
			fail(t.Pos, "", "%s reaches beyond the register, which has %d bytes", g.term, x.size)
		}
	}
	g.size = n
	g.of = func(e *env) value { return e.regs[x.idx].slice(x.size, off, n) }
	return g
}

// findReg finds a register; nil if the name may be that of a constant.
func (r *resolver) findReg(t lang.Term, final bool) *regProg {
	if !final && (t.Thread == "" || t.Thread == r.cur.spec.Name) {
		if x := r.cur.regs[t.Name]; x != nil || t.Thread == "" && isConstant(t.Name) || t.Thread == "" && r.isLabel(t.Name) {
			return x
		}
		return r.get(t.Name, t.Pos)
	}
	if !final {
		fail(t.Pos, "", "a thread's condition is about its own registers")
	}
	var found []*regProg
	var names []string
	for _, x := range r.regs {
		if x.name == t.Name && (t.Thread == "" || x.thread.spec.Name == t.Thread) {
			found = append(found, x)
		}
		if t.Thread == "" || x.thread.spec.Name == t.Thread {
			names = append(names, x.name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		a, b := found[0].thread.spec.Name, found[1].thread.spec.Name
		fail(t.Pos, "write "+a+"."+t.Name+" or "+b+"."+t.Name, "threads %s and %s both have a register %s", a, b, t.Name)
	case t.Thread != "":
		r.thread(lang.Term{Pos: t.Pos, Name: t.Thread})
		fail(t.Pos, mistake.Suggest(t.Name, names), "thread %s never sets a register %s", t.Thread, t.Name)
	case isConstant(t.Name), r.isLabel(t.Name):
		return nil
	}
	hint := mistake.Suggest(t.Name, append(names, constantNames()...))
	for _, h := range r.hosts {
		if h.locs[t.Name] != nil {
			hint = "final memory is " + h.name + ":" + t.Name
		}
	}
	fail(t.Pos, hint, "no thread sets a register %s, and no status or state has this name", t.Name)
	return nil
}

func constantNames() []string {
	var out []string
	for s := verbs.StatusSuccess; s <= verbs.StatusGeneralErr; s++ {
		out = append(out, s.String())
	}
	return append(append(append(out, "NONE"), lang.ResultNames...), lang.StateNames()...)
}

func isConstant(name string) bool { return slices.Contains(constantNames(), name) }

func (r *resolver) isLabel(name string) bool {
	return slices.ContainsFunc(r.labels, func(l *labelProg) bool { return l.name == name })
}

// constant returns the number of a name for the given kind.
func (r *resolver) constant(g getter, kind regKind, other string) uint64 {
	var names []string
	switch kind {
	case kindStatus:
		names = append(constantNames()[:int(verbs.StatusGeneralErr)+1], "NONE")
	case kindPosted:
		names = lang.ResultNames
	case kindState:
		names = lang.StateNames()
	case kindLabel:
		for _, l := range r.labels {
			names = append(names, l.name)
		}
	default:
		fail(g.pos, "", "%s is a number and %s is none", other, g.name)
	}
	i := slices.Index(names, g.name)
	if i < 0 {
		fail(g.pos, mistake.Suggest(g.name, names), "%s holds %s, and %s is none", other, kindNames[kind], g.name)
	}
	if names[i] == "NONE" && kind == kindStatus {
		return statusNone
	}
	return uint64(i)
}

// ask adds a part to the final state, and returns its index.
func (r *resolver) ask(x item) int {
	for i, y := range r.asked {
		if y.name == x.name {
			return i
		}
	}
	r.asked = append(r.asked, x)
	return len(r.asked) - 1
}

// comparison compiles a comparison. Unset values compare to nothing.
func (r *resolver) comparison(c lang.Compare, final bool) func(*env) bool {
	a, b := r.getter(c.L, final), r.getter(c.R, final)
	if (a.lit || a.name != "") && (b.lit || b.name != "") {
		fail(a.pos, "", "%s %s %s compares two constants", a.term, c.Op, b.term)
	}
	r.explain(&a, b)
	r.explain(&b, a)
	if a.kind != b.kind && !a.lit && !b.lit {
		fail(a.pos, "", "%s holds %s and %s %s", a.term, kindNames[a.kind], b.term, kindNames[b.kind])
	}
	if kind := max(a.kind, b.kind); kind != kindValue && (a.lit || b.lit) {
		fail(a.pos, "", "%s and %s: %s is no number", a.term, b.term, kindNames[kind])
	}
	size := a.size
	if a.lit {
		size = b.size
	}
	for _, g := range []getter{a, b} {
		if g.lit {
			fits(g.pos, g.of(nil).num, size)
		} else if g.size != size && max(g.size, size) > 8 {
			fail(g.pos, "", "%s has %d bytes and %s has %d", a.term, a.size, b.term, b.size)
		}
	}
	order := c.Op != "==" && c.Op != "!="
	if order && (size > 8 || a.kind != kindValue) {
		fail(a.pos, "", "%s compares numbers of at most 8 bytes", c.Op)
	}
	same := func(x, y value) bool { return x.same(y) }
	switch {
	case b.lit:
		same = func(x, y value) bool { return x.all(y.num, size) }
	case a.lit:
		same = func(x, y value) bool { return y.all(x.num, size) }
	}
	return func(e *env) bool {
		x, y := a.of(e), b.of(e)
		if !x.set || !y.set {
			return false
		}
		switch c.Op {
		case "==":
			return same(x, y)
		case "!=":
			return !same(x, y)
		}
		return ordered(c.Op, x.num, y.num)
	}
}

func ordered(op string, x, y uint64) bool {
	switch op {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

// explain resolves a name to a number, by the kind of the other side.
func (r *resolver) explain(g *getter, other getter) {
	if g.name == "" {
		return
	}
	v := r.constant(*g, other.kind, other.term)
	g.name, g.kind = "", other.kind
	g.of = func(*env) value { return number64(v) }
}
