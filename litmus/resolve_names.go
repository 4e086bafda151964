package litmus

import (
	"slices"
	"sort"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// place is a piece of memory of a host.
type place struct {
	loc    *locProg
	off, n int // in the block
}

func locNames(h *hostProg) []string {
	var out []string
	for name := range h.locs { //lint:ordered sorted below
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// local resolves a location of the host itself.
func (r *resolver) local(ref lang.Ref, h *hostProg) place {
	if ref.Host != "" && r.host(ref.Host, ref.Pos) != h {
		fail(ref.Pos, "", "%s is on %s; a location of %s is wanted here", ref.Text(), ref.Host, h.name)
	}
	l := h.locs[ref.Name]
	if l == nil {
		hint := mistake.Suggest(ref.Name, locNames(h))
		for _, o := range r.hosts {
			if o.locs[ref.Name] != nil {
				hint = "it is a location of " + o.name
			}
		}
		fail(ref.Pos, hint, "%s has no location %s", h.name, ref.Name)
	}
	return part(ref, l, false)
}

// remote resolves a location of a peer.
func (r *resolver) remote(ref lang.Ref, h *hostProg, unchecked bool) place {
	if ref.Host != "" {
		o := r.host(ref.Host, ref.Pos)
		if o == h {
			fail(ref.Pos, "use load and store", "%s is on %s itself; a verb is about memory of a peer", ref.Text(), h.name)
		}
		if o.locs[ref.Name] == nil {
			fail(ref.Pos, mistake.Suggest(ref.Name, locNames(o)), "%s has no location %s", o.name, ref.Name)
		}
		return part(ref, o.locs[ref.Name], unchecked)
	}
	var found []*hostProg
	var names []string
	for _, o := range r.hosts {
		if o != h {
			names = append(names, locNames(o)...)
			if o.locs[ref.Name] != nil {
				found = append(found, o)
			}
		}
	}
	switch {
	case len(found) == 1:
		return part(ref, found[0].locs[ref.Name], unchecked)
	case len(found) > 1:
		fail(ref.Pos, "write "+found[0].name+":"+ref.Name+" or "+found[1].name+":"+ref.Name, "several peers have a location %s", ref.Name)
	case h.locs[ref.Name] != nil:
		fail(ref.Pos, "use load and store", "%s is on %s itself; a verb is about memory of a peer", ref.Name, h.name)
	}
	fail(ref.Pos, mistake.Suggest(ref.Name, names), "no peer of %s has a location %s", h.name, ref.Name)
	return place{}
}

// part is the piece of l that ref names.
func part(ref lang.Ref, l *locProg, unchecked bool) place {
	if !ref.Part {
		return place{l, l.off, l.size}
	}
	n := ref.Len
	if n == 0 {
		n = 8
		if !unchecked {
			n = min(8, l.size-ref.Off)
		}
	}
	if !unchecked && (n <= 0 || ref.Off+n > l.size) {
		fail(ref.Pos, "", "%s reaches beyond %s, which has %d bytes", ref.Text(), l.name, l.size)
	}
	return place{l, l.off + ref.Off, n}
}

// between lists the queue pairs that join two hosts.
func (r *resolver) between(a, b *hostProg) []*qpProg {
	var out []*qpProg
	for _, q := range r.qps {
		if q.end(a) >= 0 && q.end(b) >= 0 {
			out = append(out, q)
		}
	}
	return out
}

// end is the index of h's end, or -1.
func (q *qpProg) end(h *hostProg) int {
	for i := range q.ends {
		if q.ends[i].host == h {
			return i
		}
	}
	return -1
}

// qpTo picks the queue pair from h to peer: the named one, or the only one; if
// there is none it makes one.
func (r *resolver) qpTo(name string, h, peer *hostProg, at lang.Pos) *qpProg {
	if name != "" {
		q := r.qp(name, h, at)
		if q.end(peer) < 0 {
			fail(at, "", "the queue pair %s does not lead to %s", name, peer.name)
		}
		return q
	}
	list := r.between(h, peer)
	switch len(list) {
	case 1:
		return list[0]
	case 0:
		if len(r.qps) >= lang.MaxQPs {
			fail(at, "", "there are more than %d queue pairs", lang.MaxQPs)
		}
		q := r.newQP(h, peer)
		q.service = "connect " + q.name
		r.endQueues(q, 0)
		r.endQueues(q, 1)
		return q
	}
	fail(at, "add `on "+list[0].name+"`", "several queue pairs lead from %s to %s", h.name, peer.name)
	return nil
}

// qp finds a queue pair of h by its name, or as A-B if it has none.
func (r *resolver) qp(name string, h *hostProg, at lang.Pos) *qpProg {
	var names []string
	for _, q := range r.qps {
		if q.end(h) < 0 {
			continue
		}
		a, b := q.ends[0].host.name, q.ends[1].host.name
		if q.name == name || !q.named && (a+"-"+b == name || b+"-"+a == name) {
			if !q.named && len(r.unnamed(q)) > 1 {
				fail(at, "give them names", "several queue pairs join %s and %s", a, b)
			}
			return q
		}
		names = append(names, q.name)
	}
	if a, b, ok := strings.Cut(name, "-"); ok && slices.Contains(r.t.Hosts, a) && slices.Contains(r.t.Hosts, b) && a != b &&
		(a == h.name || b == h.name) && len(r.between(r.host(a, at), r.host(b, at))) == 0 {
		return r.qpTo("", r.host(a, at), r.host(b, at), at)
	}
	hint := mistake.Suggest(name, names)
	if hint == "" && len(names) > 0 {
		hint = "there is " + mistake.OneOf(names)
	}
	fail(at, hint, "%s has no queue pair %s", h.name, name)
	return nil
}

func (r *resolver) unnamed(q *qpProg) []*qpProg {
	return slices.DeleteFunc(r.between(q.ends[0].host, q.ends[1].host), func(x *qpProg) bool { return x.named })
}

// use notes that the current thread uses a queue pair, and returns its end there.
func (r *resolver) use(q *qpProg, at lang.Pos) int {
	t := r.cur
	if t.spec.Recover && !t.ready[q] {
		fail(at, "`connect "+q.name+"` first", "the queue pair %s does not exist after a restart of %s", q.name, t.host.name)
	}
	e := q.end(t.host)
	if c := q.ends[e].connector; c != nil && c != t && !(c.spec.Recover && !t.spec.Recover) {
		fail(at, "", "thread %s connects %s anew, so %s cannot use it", c.spec.Name, q.name, t.spec.Name)
	}
	return e
}

// take notes that the current thread takes completions from c.
func (r *resolver) take(c *cqProg, at lang.Pos) {
	t := r.cur
	if c.host != t.host {
		fail(at, "", "the completion is one of %s", c.host.name)
	}
	if c.taker != nil && c.taker != t && c.taker.spec.Recover == t.spec.Recover {
		fail(at, "give the threads queue pairs of their own", "thread %s takes the completions of %s, so %s cannot", c.taker.spec.Name, c.name, t.spec.Name)
	}
	if c.taker == nil || !t.spec.Recover {
		c.taker = t
	}
}

// label finds a label of the current thread's host.
func (r *resolver) label(name string, at lang.Pos) *labelProg {
	var names []string
	for _, l := range r.labels {
		if l.host == r.cur.host {
			if l.name == name {
				return l
			}
			names = append(names, l.name)
		}
	}
	hint := mistake.Suggest(name, names)
	if hint == "" {
		hint = "give a request the label with `as " + name + "`, above"
	}
	fail(at, hint, "no request of %s before this is called %s", r.cur.host.name, name)
	return nil
}

// set finds or makes a register of the current thread that is set here.
func (r *resolver) set(name string, kind regKind, size int, at lang.Pos) *regProg {
	t := r.cur
	if name == "" {
		return nil
	}
	if x := t.regs[name]; x != nil {
		if x.kind != kind {
			fail(at, "", "register %s holds %s at line %d and %s here", name, kindNames[x.kind], x.line, kindNames[kind])
		}
		if x.size != size {
			fail(at, "", "register %s has %d bytes at line %d and %d here", name, x.size, x.line, size)
		}
		return x
	}
	if t.host.locs[name] != nil {
		fail(at, "", "%s is a location of %s: give the register another name", name, t.host.name)
	}
	if len(r.regs) > 1000 {
		fail(at, "", "there are more than 1000 registers")
	}
	x := &regProg{idx: len(r.regs), name: name, thread: t, kind: kind, size: size, line: at.Line}
	t.regs[name] = x
	r.regs = append(r.regs, x)
	return x
}

// get finds a register of the current thread.
func (r *resolver) get(name string, at lang.Pos) *regProg {
	x := r.cur.regs[name]
	if x == nil {
		var names []string
		for n := range r.cur.regs { //lint:ordered sorted below
			names = append(names, n)
		}
		sort.Strings(names)
		fail(at, mistake.Suggest(name, names), "register %s of thread %s is not set before this", name, r.cur.spec.Name)
	}
	return x
}

// cell makes a place in the thread's private memory.
func (r *resolver) cell(n int, at lang.Pos) cell {
	c := cell{r.cur.scratch, n}
	r.cur.scratch += (n + 7) &^ 7
	if r.cur.scratch > 1<<20 {
		fail(at, "", "the values of the thread have more than %d bytes", 1<<20)
	}
	return c
}
