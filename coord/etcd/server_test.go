package etcd_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
)

var prefixes atomic.Int64

type server struct {
	*etcdtest.Server
	t *testing.T
}

func newServer(t *testing.T, more ...string) *server { return &server{etcdtest.Start(t, more...), t} }

// config is for a name space of its own.
func (s *server) config() etcd.Config {
	return etcd.Config{Endpoints: []string{s.Endpoint}, Name: "a", Prefix: fmt.Sprintf("test/%d/", prefixes.Add(1)),
		TTL: time.Minute, CallTimeout: 10 * time.Second}
}

func newClient(t *testing.T, cfg etcd.Config) *etcd.Client {
	t.Helper()
	c, err := etcd.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// raw is somebody else's client, who has the same rights.
func (s *server) raw() *clientv3.Client {
	s.t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint}, Logger: zap.NewNop()})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func newSession(t *testing.T, c coord.Client) coord.Session {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
