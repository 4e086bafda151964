package raftr

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// Services of a node.
const (
	service = "raftr"    // of other nodes, by Send and Recv
	clients = "raftr-kv" // of clients, by host.Call
)

// Serve answers the other nodes for as long as the host runs. It waits for requests and not for answers, so it does
// not probe: the connection of a dead node stays until the host terminates.
func (n *Node) Serve() error {
	cfg := n.cfg.calls()
	cfg.KeepAlive = 0
	return rpc.Serve(n.h, service, cfg, func(from string, b []byte) []byte {
		answer, err := n.Step(from, b)
		if err != nil {
			n.h.Logf("message from %s: %v", from, err)
		}
		return answer
	})
}

// ServeClients answers clients, one request at a time for each client: see [Dial].
func (n *Node) ServeClients() error {
	l, err := n.h.Listen(clients)
	if err != nil {
		return err
	}
	for {
		req, err := l.Accept(-1)
		if err != nil {
			return err
		}
		n.h.Go("client "+req.From(), func() {
			answer := n.Answer(req.Body())
			req.Reply(answer)
		})
	}
}

// Answer carries out a client's request and returns the answer to it.
func (n *Node) Answer(b []byte) []byte {
	x, err := decodeCommand(b)
	if err != nil {
		return (&reply{status: refused, text: err.Error()}).encode()
	}
	var out reply
	switch x.op {
	case opGet:
		out.text, out.found, err = n.Get(x.key)
	case opOpen:
		out.number, err = n.Open()
	case opPut:
		_, err = n.Propose(Write{x.session, x.seq, x.key, x.value})
	}
	switch {
	case err == nil:
		return out.encode()
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrBroken):
		out = reply{status: unknown, text: err.Error()}
	case errors.Is(err, ErrNotLeader), errors.Is(err, ErrUnavailable):
		out = reply{status: notLeader, text: n.Leader()}
	default:
		out = reply{status: refused, text: err.Error()}
	}
	return out.encode()
}
