package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// PeerName returns the required name of the i-th peer, counting from 0.
func PeerName(i int) string { return fmt.Sprint("peer", i+1) }

// PeerConfig configures the other side.
type PeerConfig struct {
	// Name is one of [PeerName].
	Name string
	// Listen is the address for clients. Any client that can reach it can use the peer.
	Listen string
	// Device and MTU are as in Config.
	Device string
	MTU    int
	// Pin ties the answering thread, and perftest, to the first processor.
	Pin bool
	// Ready is called with the address at which the peer listens.
	Ready func(addr string)
	// Logf receives errors. May be nil.
	Logf func(format string, args ...any)
}

// peer is the other side of a measurement.
type peer struct {
	h        host.Host
	end      *end
	perftest *server // of perftest, while it runs
	ctx      context.Context
}

// Serve runs the other side: it answers clients, one at a time, until requests can no
// longer be received. The perftest programs that it starts stop with ctx.
func Serve(ctx context.Context, h host.Host) error {
	p := &peer{h: h, ctx: ctx}
	l, err := h.Listen(service)
	if err != nil {
		return err
	}
	for {
		req, err := l.Accept(verbs.Forever)
		if err != nil {
			return errors.Join(err, p.close())
		}
		if err := p.handle(req); err != nil {
			h.Logf("%v", err)
			req.Reject(err.Error()) // ignored if it was answered
		}
	}
}

// handle carries out one request.
func (p *peer) handle(req host.Request) error {
	r, err := decodeRequest(req.Body())
	if err != nil {
		return err
	}
	var a answer
	switch r.Do {
	case doOpen:
		a, err = p.open(r)
	case doClose:
		err = p.close()
	case doServe:
		if err := p.perftest.stop(); err != nil { // of a client that is gone
			p.h.Logf("%v", err)
		}
		p.perftest, err = serve(p.ctx, p.h.Device(), r)
		a.Port = p.perftest.portNumber()
	case doServed:
		err, p.perftest = p.perftest.wait(), nil
	case doPong:
		if p.end == nil {
			return errors.New("bench: no connection")
		}
	default:
		return fmt.Errorf("bench: unknown request %q; do both sides run the same release?", r.Do)
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if r.Do != doPong {
		req.Reply(body)
		return nil
	}
	p.end.rearm()
	req.Reply(body) // the client starts when it receives the reply
	return p.end.pong(r.Iters)
}

// open creates an end and connects it. It first closes an existing end, which belonged to a
// client that is gone.
func (p *peer) open(r request) (a answer, err error) {
	if err := p.close(); err != nil {
		return a, err
	}
	if r.Size < 1 {
		return a, fmt.Errorf("%w: size is %d", ErrConfig, r.Size)
	}
	answer := spec{op: Write, measure: HalfRoundTrip, size: r.Size, depth: 1, batch: 1}
	if r.Op == Send {
		answer.op = Send
	}
	e, err := newEnd(p.h, answer, r.Inline, r.Wait)
	if err != nil {
		return a, err
	}
	p.end = e
	if a.Endpoint, err = e.endpoint(); err != nil {
		return a, err
	}
	a.Addr, a.RKey = e.mem.MR.Addr(), e.mem.MR.RKey()
	if err := e.connect(r.Endpoint); err != nil {
		return a, err
	}
	// The client's buffer has the same layout; the request has its address and its endpoint.
	e.aim(r.Addr, r.RKey)
	return a, nil
}

func (p *peer) close() error {
	if p.end == nil {
		return nil
	}
	err := p.end.close()
	p.end = nil
	return err
}
