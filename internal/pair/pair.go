// Package pair connects two hosts for tests that are about something else: one that lends
// memory, and one that asks for it.
package pair

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// service is what one end calls the other by.
const service = "connect"

// RKey and Base are the key and the address of what the first to lend on a host lends, in
// the simulator.
const (
	RKey = 1
	Base = 1 << 32
)

// End is one end of a connection.
type End struct {
	Mem host.Region
	MR  verbs.MR // of Mem
	CQ  verbs.CQ
	QP  verbs.QP

	prep verbs.PreparedQP
	l    host.Listener
}

// newEnd has memory of n bytes, and a queue pair that is not connected.
func newEnd(h host.Host, n int, access verbs.Access) (*End, error) {
	e := &End{}
	pd, err := h.Device().AllocPD()
	if err != nil {
		return nil, err
	}
	if e.Mem, err = h.Alloc(n); err != nil {
		return nil, err
	}
	if e.MR, err = pd.RegisterMR(e.Mem, verbs.LocalWrite|access); err != nil {
		return nil, err
	}
	if e.CQ, err = h.Device().CreateCQ(16, nil); err != nil {
		return nil, err
	}
	e.prep, err = pd.CreateQP(verbs.QPConfig{SendCQ: e.CQ, RecvCQ: e.CQ, Access: access})
	return e, err
}

// connect joins the end to the one that the text names.
func (e *End) connect(text []byte) (err error) {
	var other verbs.Endpoint
	if err = other.UnmarshalBinary(text); err == nil {
		e.QP, err = e.prep.Connect(other)
	}
	return err
}

// Lend lends n bytes to the first host that asks.
func Lend(h host.Host, n int, access verbs.Access) (*End, error) {
	e, err := newEnd(h, n, access)
	if err != nil {
		return nil, err
	}
	if e.l, err = h.Listen(service); err != nil {
		return nil, err
	}
	req, err := e.l.Accept(verbs.Forever)
	if err != nil {
		return nil, err
	}
	if err := e.connect(req.Body()); err != nil {
		return nil, err
	}
	mine, err := e.prep.Endpoint().AppendBinary(nil)
	req.Reply(mine)
	return e, err
}

// Stay keeps what is lent for as long as nobody else asks.
func (e *End) Stay() { _, _ = e.l.Accept(verbs.Forever) }

// Dial asks a host that lends; n is for memory of its own.
func Dial(h host.Host, to string, n int) (*End, error) {
	e, err := newEnd(h, n, 0)
	if err != nil {
		return nil, err
	}
	mine, err := e.prep.Endpoint().AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	theirs, err := h.Call(to, service, mine, verbs.Forever)
	if err != nil {
		return nil, err
	}
	return e, e.connect(theirs)
}

// WR is a request for n bytes at an offset of what is lent.
func (e *End) WR(op verbs.Opcode, flags verbs.SendFlags, offset, n int) verbs.SendWR {
	return verbs.SendWR{Op: op, Flags: flags, RKey: RKey, RemoteAddr: Base + uint64(offset),
		SGL: []verbs.SGE{{Addr: e.Mem.Addr(), Length: uint32(n), LKey: e.MR.LKey()}}}
}

// Do posts a signaled request and waits for its completion.
func (e *End) Do(op verbs.Opcode, offset, n int) error {
	if err := e.QP.PostSend([]verbs.SendWR{e.WR(op, verbs.Signaled, offset, n)}); err != nil {
		return err
	}
	_, err := e.CQ.Wait(make([]verbs.WC, 1), verbs.Forever)
	return err
}
