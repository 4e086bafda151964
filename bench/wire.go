package bench

import (
	"encoding/json"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// service is the service name of a peer.
const service = "bench"

// The requests of a client to a peer.
const (
	doOpen   = "open"     // connect a queue pair to Endpoint
	doPong   = "pong"     // send Iters Writes back
	doClose  = "close"    // release the connection
	doServe  = "perftest" // start the server of a tool of perftest
	doServed = "served"   // wait until the server has exited
)

// request is one request. Messages are JSON: none is sent during a round.
type request struct {
	Do       string `json:"do"`
	Endpoint []byte `json:"endpoint,omitempty"`
	Op       string `json:"op,omitempty"`   // of the peer's answers
	Wait     bool   `json:"wait,omitempty"` // the peer waits with CQ.Wait, as the client does
	Addr     uint64 `json:"addr,omitempty"` // of the client's buffer
	RKey     uint32 `json:"rkey,omitempty"`
	Size     int    `json:"size,omitempty"`
	Inline   int    `json:"inline,omitempty"`
	Iters    int    `json:"iters,omitempty"`
	Tool     string `json:"tool,omitempty"`
	MTU      int    `json:"mtu,omitempty"`
	Depth    int    `json:"depth,omitempty"`
	Batch    int    `json:"batch,omitempty"`
}

// answer is the answer to a request.
type answer struct {
	Endpoint []byte `json:"endpoint,omitempty"`
	Addr     uint64 `json:"addr,omitempty"`
	RKey     uint32 `json:"rkey,omitempty"`
	Port     int    `json:"port,omitempty"`
}

// decodeRequest reads and checks a request.
func decodeRequest(b []byte) (r request, err error) {
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("bench: malformed request: %w", err)
	}
	for _, f := range []struct {
		name    string
		v, most int
	}{{"size", r.Size, MaxSize}, {"inline", r.Inline, MaxInline}, {"iterations", r.Iters, MaxIters + MaxDepth}, {"MTU", r.MTU, 4096},
		{"depth", r.Depth, MaxDepth}, {"batch", r.Batch, MaxDepth}} {
		if err := within(f.name, f.v, 0, f.most); err != nil {
			return r, err
		}
	}
	return r, nil
}

// remote calls a peer.
type remote struct {
	h    host.Host
	name string
}

func (p *remote) ask(r request) (a answer, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	reply, err := p.h.Call(p.name, service, body, verbs.Forever)
	if err != nil {
		return a, fmt.Errorf("%w: %s: %w", ErrPeer, r.Do, err)
	}
	if err := json.Unmarshal(reply, &a); err != nil {
		return a, fmt.Errorf("%w: %s: malformed answer: %w", ErrPeer, r.Do, err)
	}
	return a, nil
}
