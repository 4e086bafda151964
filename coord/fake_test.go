package coord_test

import (
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// loopback is a host that can only call a store in the same process.
type loopback struct {
	host.Host
	name  string
	store *coord.Store
	err   error  // if set, no answer arrives
	lost  bool   // with err: the request is carried out nevertheless
	fixed []byte // if set, the answer to everything
	calls int
}

func (l *loopback) Name() string { return l.name }

func (l *loopback) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	l.calls++
	if to != "zk" || service != "coord" {
		return nil, host.ErrNoService
	}
	if l.fixed != nil {
		return l.fixed, nil
	}
	if l.err != nil && !l.lost {
		return nil, l.err
	}
	resp := l.store.Apply(l.name, req)
	if l.err != nil {
		return nil, l.err
	}
	return resp, nil
}

// newClient returns a client of store on a host called name.
func newClient(store *coord.Store, name string) (*loopback, coord.Client) {
	h := &loopback{name: name, store: store}
	return h, coord.NewClient(h, "zk", "coord")
}
