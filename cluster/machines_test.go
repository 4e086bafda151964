package cluster

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

const controller = "coord"

// machine is a host with a client of the controller, and a way to kill it.
type machine struct {
	host.Host
	coord.Client
	die func()
}

// machines starts machines of a controller: a coordinator, or an etcd cluster.
var machines = map[string]func(t *testing.T) func(name string) machine{
	"coordinator": func(t *testing.T) func(string) machine {
		addr := coordinator(t, LeastTTL)
		return func(name string) machine { return machineAt(t, name, addr, t.Logf) }
	},
	"etcd": func(t *testing.T) func(string) machine {
		s := etcdtest.Start(t)
		return func(name string) machine {
			c, err := etcd.New(etcd.Config{Endpoints: []string{s.Endpoint}, Name: name, TTL: 2 * time.Second, CallTimeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			return machine{newHost(t, oshost.Config{Name: name}), c, func() { _ = c.Close() }}
		}
	},
}

func newHost(t *testing.T, cfg oshost.Config) *oshost.Host {
	t.Helper()
	h, err := oshost.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// coordinator returns the address of one with sessions of length ttl.
func coordinator(t *testing.T, ttl time.Duration) string {
	t.Helper()
	h := newHost(t, oshost.Config{Name: controller, Listen: "127.0.0.1:0"})
	l, err := h.Listen(controller)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = Serve(h, l, ServeConfig{TTL: ttl, After: 1000}) }()
	return h.Addr()
}

func machineAt(t *testing.T, name, addr string, logf func(string, ...any)) machine {
	h := newHost(t, oshost.Config{Name: name, Peers: map[string]string{controller: addr}, Logf: logf})
	return machine{h, coord.NewClient(h, controller, controller), func() { _ = h.Close() }}
}

// within receives from c, for at most a minute.
func within[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing comes in a minute")
	}
	return v
}
