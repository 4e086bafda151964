package siftcoord

import (
	"cmp"
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

// ClientConfig configures a client.
type ClientConfig struct {
	Nodes   []string // the CPU nodes, at least one
	Service string
	// Rounds is the number of times that the client asks all nodes for the coordinator, at least 1. Pause is the time
	// between two rounds: an election takes a while. No round begins later than Rounds times Pause after the first,
	// because a call to a node that does not answer takes far longer than Pause.
	Rounds int
	Pause  time.Duration
}

// Dial returns a client, which calls the node that last answered as coordinator, and tries the next node if that one no
// longer leads. The client does not resend a request that may modify state and whose outcome is unknown. The error wraps [ErrConfig].
func Dial(h host.Host, cfg ClientConfig) (coord.Client, error) {
	if len(cfg.Nodes) == 0 || cfg.Rounds < 1 || cfg.Pause < 0 {
		return nil, fmt.Errorf("%w: a client of %d nodes, with %d rounds and a pause of %v", ErrConfig, len(cfg.Nodes), cfg.Rounds, cfg.Pause)
	}
	cfg.Nodes = slices.Clone(cfg.Nodes)
	return coord.NewClient(&finder{Host: h, cfg: cfg, mu: h.NewMutex()}, cfg.Nodes[0], cfg.Service), nil
}

// NewClient returns a client that asks each node once: see [Dial].
func NewClient(h host.Host, nodes []string, service string) (coord.Client, error) {
	return Dial(h, ClientConfig{Nodes: nodes, Service: service, Rounds: 1})
}

// finder is a host that directs calls to the coordinator.
type finder struct {
	host.Host
	cfg ClientConfig

	mu   host.Mutex
	last int // the node that last answered as coordinator
}

// Call tries the nodes in turn until one answers as coordinator.
func (f *finder) Call(_, service string, req []byte, timeout time.Duration) (resp []byte, err error) {
	var end time.Duration
	if f.cfg.Rounds > 1 {
		end = f.Now() + time.Duration(f.cfg.Rounds)*f.cfg.Pause
	}
	for round := range f.cfg.Rounds {
		if round > 0 {
			if f.Now() > end {
				break
			}
			f.Sleep(f.cfg.Pause)
		}
		var again bool
		if resp, again, err = f.round(service, req, timeout); !again {
			break
		}
	}
	return resp, err
}

// round asks each node once, until one answers as coordinator. again reports that no node has received the request or
// will execute it.
func (f *finder) round(service string, req []byte, timeout time.Duration) (resp []byte, again bool, err error) {
	var failed error
	from := f.first()
	for i := range f.cfg.Nodes {
		at := (from + i) % len(f.cfg.Nodes)
		resp, err := f.Host.Call(f.cfg.Nodes[at], service, req, timeout)
		switch {
		case err != nil && !host.Undelivered(err) && !coord.ReadOnly(req):
			f.use(at + 1)
			return nil, false, err
		case err != nil:
			failed = err
		case len(resp) == 1 && resp[0] == notLeading:
		default:
			f.use(at)
			resp, err = fate(resp)
			return resp, false, err
		}
	}
	return nil, true, cmp.Or(failed, error(ErrNoCoordinator))
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
	f.last = node % len(f.cfg.Nodes)
}
