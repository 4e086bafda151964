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
	Said []byte // what it says of itself, as the protocol defines

	endpoint verbs.Endpoint
	answer   *Greeting
}

// Admit connects the visitor to loans, which are of one lender: one queue pair, with the
// access of the first, and a window of each.
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

// Meet connects the visitor to a connection of this host's own, for a lender that also
// receives and sends. loans, if there are any, are of [Group.Lender]; what the visitor may do
// to them is in cfg.Access. Post receives before admit returns: the visitor may send then.
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

// Serve lets hosts connect that call service: see [Group.Dial]. admit lets a visitor in by
// [Visitor.Admit] or [Visitor.Meet], or returns the reason why not. Serve returns when
// requests cannot be received any more, and not before.
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

// Answer carries out one request to connect, as [Serve] does with each.
func Answer(h host.Host, req host.Request, admit func(*Visitor) error) {
	answer, err := receive(req, admit)
	if err != nil {
		h.Logf("does not let %s in: %v", req.From(), err)
		req.Reject(err.Error())
		return
	}
	req.Reply(answer.Encode())
}

// receive reads what a visitor says, and lets admit decide.
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
		return nil, fmt.Errorf("%w: %s was neither let in nor refused", ErrRefused, v.From)
	}
	return v.answer, nil
}

// hello is what a visitor sends: its endpoint, and what it says.
func hello(e verbs.Endpoint, said []byte) []byte {
	return append(AppendEndpoint(nil, e), said...)
}
