package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// compiler resolves the names in the statements of one thread.
type compiler struct {
	*program
	thread, host int
}

// statement resolves the names in a statement.
func (c compiler) statement(s lang.Stmt) (op, error) {
	o := op{stmt: s}
	var err error
	switch s := s.(type) {
	case *lang.Post:
		return c.post(s)
	case *lang.Recv:
		c.recv(s, &o)
	case lang.Wait:
		o.label = c.labelled(s.Label)
	case lang.Query:
		o.label = c.labelled(s.Label)
	case lang.Next:
		o.cq = c.queue(s)
	case lang.If:
		var then op
		then, err = c.statement(s.Then)
		o.then = []op{then}
	case lang.Maybe:
		var then op
		then, err = c.statement(s.Then)
		o.then = []op{then}
	case lang.Load:
		o.at = c.local(s.Ref)
	case lang.Store:
		o.at = c.local(s.Ref)
	case lang.Clwb:
		o.at = c.local(s.Ref)
	case lang.CmpXchg:
		o.at = c.local(s.Ref)
	case lang.Xadd:
		o.at = c.local(s.Ref)
	case lang.Until:
		o.at = c.local(s.Ref)
	case lang.Tell:
		o.host = c.program.host(s.Host)
	case lang.Modify:
		o.end = c.endNamed(s.QP, c.host)
		if s.Access == nil && s.State != verbs.StateErr && s.State != verbs.StateReset {
			err = unsupported("modify " + s.State.String())
		}
	case lang.StateOf:
		o.end = c.endNamed(s.QP, c.host)
	case lang.Destroy:
		o.end = c.endNamed(s.QP, c.host)
	case lang.Connect:
		o.end = c.endNamed(s.QP, c.host)
		c.again(o.end)
	case lang.Dereg:
		o.region = slices.IndexFunc(c.regions, func(r region) bool { return r.name == s.Name && r.host == c.host })
	case lang.Fault:
		err = supported(s.Kind)
	}
	return o, err
}

func supported(k faults.Kind) error {
	switch k {
	case faults.Crash, faults.Power, faults.Cut, faults.Partition, faults.Break, faults.Suspect, faults.Revoke, faults.Ghost:
		return nil
	}
	return unsupported(k.String())
}

// ref is the memory of a host that a reference names.
func (c compiler) ref(r lang.Ref, host int) place {
	at, _ := c.find(host, r.Name)
	if !r.Part {
		return at
	}
	n := r.Len
	if n == 0 {
		n = min(8, max(at.n-r.Off, 1))
	}
	return place{at.block, at.off + r.Off, n}
}

func (c compiler) local(r lang.Ref) place { return c.ref(r, c.host) }

// owner is the peer that has the location.
func (c compiler) owner(r lang.Ref) int {
	if r.Host != "" {
		return c.program.host(r.Host)
	}
	for h := range c.hosts {
		if _, ok := c.find(h, r.Name); ok && h != c.host {
			return h
		}
	}
	return -1
}

func (c compiler) post(s *lang.Post) (op, error) {
	o := op{stmt: s, region: -1}
	peer := -1
	if s.Remote.Name == "" {
		peer = c.program.host(s.Remote.Host)
	} else {
		peer = c.owner(s.Remote)
		o.at = c.ref(s.Remote, peer)
		if s.Unbound && s.Remote.Part && s.Remote.Len == 0 {
			o.at.n = 8
		}
		key := s.Key
		if key == "" {
			o.region = slices.IndexFunc(c.regions, func(r region) bool { return r.block == o.at.block })
		} else {
			o.region = slices.IndexFunc(c.regions, func(r region) bool { return r.name == key && r.host == peer })
		}
	}
	if s.WholeMR {
		o.at = place{o.at.block, 0, c.blocks[o.at.block].size}
	}
	o.end = c.endTo(s.QP, c.host, peer)
	total := o.at.n
	bytes := 0
	if s.Payload == nil && lang.HasValue(s.Op) {
		bytes = max(total, 1)
	}
	for _, x := range s.Payload {
		n := total
		if s.Remote.Name == "" || len(s.Payload) > 1 {
			n = 8
		}
		o.pieces = append(o.pieces, c.piece(x, n))
	}
	o.label = c.addLabel(s.Label, c.ends[o.end].sendQueue, bytes)
	return o, nil
}

// piece is an entry of a scatter/gather list: a bare name can be a location or a register.
func (c compiler) piece(x lang.Operand, n int) piece {
	if x.Ref == nil {
		return piece{value: *x.Expr, n: n}
	}
	if _, ok := c.find(c.host, x.Ref.Name); ok || x.Ref.Host != "" || x.Ref.Part {
		at := c.local(*x.Ref)
		return piece{mem: true, at: at, n: at.n}
	}
	return piece{value: lang.Expr{Reg: x.Ref.Name}, n: n}
}

func (c compiler) addLabel(name string, cq, bytes int) int {
	c.labels = append(c.labels, label{name, c.thread, c.host, cq, bytes})
	c.program.labels = c.labels
	return len(c.labels) - 1
}

func (c compiler) recv(s *lang.Recv, o *op) {
	switch {
	case s.From != "":
		o.end = c.endTo(s.QP, c.host, c.program.host(s.From))
	case s.QP != "":
		o.end = c.endNamed(s.QP, c.host)
	default:
		o.end = slices.IndexFunc(c.ends, func(e endpoint) bool { return e.host == c.host })
		if o.end < 0 {
			o.end = c.endTo("", c.host, 1-c.host)
		}
	}
	for _, r := range s.Into {
		at := c.local(r)
		o.pieces = append(o.pieces, piece{mem: true, at: at, n: at.n})
	}
	o.label = c.addLabel(s.Label, c.ends[o.end].rcvCQ, 0)
}

// labelled is the request of the host that has the label.
func (c compiler) labelled(name string) int {
	return slices.IndexFunc(c.labels, func(l label) bool { return l.name == name && l.host == c.host })
}

func (c compiler) queue(s lang.Next) int {
	if slices.ContainsFunc(c.test.CQs, func(q lang.CQ) bool { return q.Name == s.QP }) {
		return slices.Index(c.cqs, s.QP)
	}
	e := c.ends[c.endNamed(s.QP, c.host)]
	if s.Recv {
		return e.rcvCQ
	}
	return e.sendQueue
}
