// Package pair connects two hosts for tests that are about something else: one that lends
// memory, and one that asks for it.
package pair

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// service is the name by which one end calls the other.
const service = "connect"

// Lender is the end that lends memory.
type Lender struct {
	Mem host.Region

	l host.Listener
}

// Lend lends n bytes to the first host that asks.
func Lend(h host.Host, n int, access verbs.Access) (*Lender, error) {
	lender, err := lend.NewLender(h)
	if err != nil {
		return nil, err
	}
	loan, err := lender.Lend(n, access)
	if err != nil {
		return nil, err
	}
	e := &Lender{Mem: loan.Region}
	if e.l, err = h.Listen(service); err != nil {
		return nil, err
	}
	req, err := e.l.Accept(verbs.Forever)
	if err != nil {
		return nil, err
	}
	lend.Answer(h, req, func(v *lend.Visitor) error { return v.Admit(loan) })
	return e, nil
}

// Stay keeps the loan until another host asks.
func (e *Lender) Stay() { _, _ = e.l.Accept(verbs.Forever) }

// Borrower is the end that reaches memory of the other one.
type Borrower struct {
	Mem host.Region // to send from and receive into
	*lend.Conn

	group *lend.Group
	buf   *lend.Memory
}

// Dial asks a host that lends; n is for memory of its own.
func Dial(h host.Host, to string, n int) (*Borrower, error) {
	e := &Borrower{}
	var err error
	if e.group, err = lend.NewGroup(h); err != nil {
		return nil, err
	}
	if e.buf, err = e.group.Register(n); err != nil {
		return nil, err
	}
	e.Mem = e.buf.Region
	e.Conn, err = e.group.Dial(to, service, nil, 1, verbs.QPConfig{MaxInline: h.Device().Attr().MaxInline}, verbs.Forever)
	return e, err
}

// WR returns a request for n bytes at an offset of the loan.
func (e *Borrower) WR(op verbs.Opcode, flags verbs.SendFlags, offset, n int) verbs.SendWR {
	w := e.Windows[0]
	return verbs.SendWR{Op: op, Flags: flags, RKey: w.RKey, RemoteAddr: w.Addr + uint64(offset), SGL: []verbs.SGE{e.buf.SGE(0, n)}}
}

// Do carries out one request.
func (e *Borrower) Do(op verbs.Opcode, offset, n int) error {
	return e.group.Do(e.Conn, e.WR(op, 0, offset, n))
}
