package lend

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Visitor is a host that asks to connect.
type Visitor struct {
	From string // its name
	Said []byte // its request, as the protocol defines it

	endpoint verbs.Endpoint
	answer   *Greeting
}

// Admit connects the visitor to loans of one lender: one queue pair, with the access of
// the first, and a window for each.
func (v *Visitor) Admit(loans ...*Loan) error {
	mine, err := loans[0].Admit(v.endpoint)
	if err != nil {
		return err
	}
	v.answer = &Greeting{Endpoint: mine}
	for _, x := range loans {
		v.answer.Windows = append(v.answer.Windows, x.Window())
	}
	return nil
}

// Meet connects the visitor to a connection of this host, for a lender that also
// receives and sends. loans, if any, come from [Group.Lender]; the visitor's access to
// them is cfg.Access. Post receives before admit returns, since the visitor may send
// then.
func (v *Visitor) Meet(g *Group, cfg verbs.QPConfig, loans ...*Loan) (*Conn, error) {
	c, err := g.Prepare(v.From, cfg)
	if err != nil {
		return nil, err
	}
	mine := c.Endpoint()
	if err := c.Connect(v.endpoint); err != nil {
		return nil, errors.Join(err, g.Drop(c))
	}
	v.answer = &Greeting{Endpoint: mine}
	for _, x := range loans {
		v.answer.Windows = append(v.answer.Windows, x.Window())
	}
	return c, nil
}

// Serve accepts connections from hosts that call service: see [Group.Dial]. admit
// admits a visitor by [Visitor.Admit] or [Visitor.Meet], or returns the reason for
// refusing it. Serve returns only when requests can no longer be received.
func Serve(h host.Host, service string, admit func(*Visitor) error) error {
	l, err := h.Listen(service)
	if err != nil {
		return err
	}
	for {
		req, err := l.Accept(verbs.Forever)
		if err != nil {
			return err
		}
		Answer(h, req, admit)
	}
}

// Answer handles one request to connect, as [Serve] does for each.
func Answer(h host.Host, req host.Request, admit func(*Visitor) error) {
	answer, err := receive(req, admit)
	if err != nil {
		h.Logf("does not admit %s: %v", req.From(), err)
		req.Reject(err.Error())
		return
	}
	req.Reply(answer.Encode())
}

// receive decodes a visitor's request, and lets admit decide.
func receive(req host.Request, admit func(*Visitor) error) (*Greeting, error) {
	r := wire.NewReader(req.Body())
	v := &Visitor{From: req.From(), endpoint: ReadEndpoint(r)}
	v.Said = r.Take(r.Left())
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := admit(v); err != nil {
		return nil, err
	}
	if v.answer == nil {
		return nil, fmt.Errorf("%w: %s was neither admitted nor refused", ErrRefused, v.From)
	}
	return v.answer, nil
}

// hello encodes a visitor's request: its endpoint and its message.
func hello(e verbs.Endpoint, said []byte) []byte {
	return append(AppendEndpoint(nil, e), said...)
}
