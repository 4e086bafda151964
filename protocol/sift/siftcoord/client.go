package siftcoord

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// Errors of clients, which [coord.ErrUnavailable] wraps as the cause.
var (
	// ErrNoCoordinator: no node is the coordinator. Nothing happened.
	ErrNoCoordinator = errors.New("sift/coord: no node is the coordinator")
	// ErrUnknown: the coordinator was replaced while it carried out the request.
	ErrUnknown = errors.New("sift/coord: the request may have been carried out")
)

// NewClient returns a client of the named service on these CPU nodes; there must be at least one node. The client calls the
// node that last answered as coordinator, and tries the next one if that node no longer leads. It does not resend a request
// that may modify state and whose outcome is unknown.
func NewClient(h host.Host, nodes []string, service string) (coord.Client, error) {
	if len(nodes) == 0 {
		return nil, fmt.Errorf("%w: a client without nodes", ErrConfig)
	}
	f := &finder{Host: h, nodes: slices.Clone(nodes), mu: h.NewMutex()}
	return coord.NewClient(f, nodes[0], service), nil
}

// finder is a host that directs calls to the coordinator.
type finder struct {
	host.Host
	nodes []string

	mu   host.Mutex
	last int // the node that last answered as coordinator
}

// Call tries the nodes in turn until one answers as coordinator.
func (f *finder) Call(_, service string, req []byte, timeout time.Duration) ([]byte, error) {
	var failed error
	from := f.first()
	for i := range f.nodes {
		at := (from + i) % len(f.nodes)
		resp, err := f.Host.Call(f.nodes[at], service, req, timeout)
		switch {
		case err != nil && !errors.Is(err, host.ErrNoService) && !coord.ReadOnly(req):
			f.use(at + 1)
			return nil, err
		case err != nil:
			failed = err
		case len(resp) == 1 && resp[0] == notLeading:
		default:
			f.use(at)
			return fate(resp)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, ErrNoCoordinator
}

// fate returns the coordinator's answer, or the error that the answer encodes.
func fate(resp []byte) ([]byte, error) {
	if len(resp) == 1 {
		switch resp[0] {
		case unknown:
			return nil, ErrUnknown
		case full:
			return nil, kv.ErrFull
		}
	}
	return resp, nil
}

func (f *finder) first() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

func (f *finder) use(node int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = node % len(f.nodes)
}
