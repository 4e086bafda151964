package kv

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// counting counts the completion channels of a device: each connection of a client has one.
type counting struct {
	verbs.Device
	channels *atomic.Int64
}

func (c *counting) CreateCompChannel() (verbs.CompChannel, error) {
	ch, err := c.Device.CreateCompChannel()
	c.channels.Add(1)
	return &counted{ch, c.channels}, err
}

func (c *counting) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	if x, ok := ch.(*counted); ok {
		ch = x.CompChannel
	}
	return c.Device.CreateCQ(depth, ch)
}

type counted struct {
	verbs.CompChannel
	channels *atomic.Int64
}

func (c *counted) Destroy() error {
	c.channels.Add(-1)
	return c.CompChannel.Destroy()
}

// softHost is a host on a device of software.
func softHost(t *testing.T, name string, channels *atomic.Int64) *oshost.Host {
	t.Helper()
	dev, err := soft.Open(soft.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := oshost.New(oshost.Config{Name: name, Device: &counting{dev, channels}, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// A client does not notify its server when it closes its connection. With KeepAlive the server notices and releases the
// connection. (Without KeepAlive it notices only sometimes: when the client closes before it has acknowledged the
// last answer.)
func TestAServerReleasesClientsThatAreGone(t *testing.T) {
	const visits = 20
	var here, there atomic.Int64
	server, client := softHost(t, "cpu", &there), softHost(t, "client", &here)
	if err := client.AddPeer("cpu", server.Addr()); err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(server, small())
	if err != nil {
		t.Fatal(err)
	}
	s.KeepAlive = 10 * time.Millisecond
	s.Use(openOn(t, server))
	server.Go("serve", func() { server.Logf("%v", s.Serve()) })
	get := func() *Client {
		c, err := NewClient(client, ClientConfig{Store: small(), Nodes: []string{"cpu"}, Rounds: 1000, Timeout: time.Second})
		if err == nil {
			_, _, err = c.Get([]byte("a"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range visits {
		if err := get().Close(); err != nil {
			t.Fatal(err)
		}
	}
	for last := get(); there.Load() > 1; { // if that never happens, go test times out
		if _, _, err := last.Get([]byte("a")); err != nil {
			t.Fatal(err)
		}
	}
}

// A store that is opened when its coordinator leads no longer is not used: the node may lead in a later
// term, with another store.
func TestAServerUsesTheStoreOfItsTerm(t *testing.T) {
	onHost(t, func(h host.Host) {
		server, err := NewServer(h, small())
		if err != nil {
			t.Fatal(err)
		}
		one, two := new(sift.Coordinator), new(sift.Coordinator) // of two terms
		old, late, current := openOn(t, h), openOn(t, h), openOn(t, h)
		if server.begin(one); !server.opened(one, old) || server.Store() != old {
			t.Error("the store of the term is not used")
		}
		server.begin(nil)
		if err := old.Put([]byte("a"), nil); !errors.Is(err, ErrNotLeading) || server.Store() != nil {
			t.Errorf("when the node leads no longer, a put in its store ends with %v", err)
		}
		if server.opened(one, late) || server.Store() != nil {
			t.Error("a store of a term that is over is used, and the node does not lead")
		}
		server.begin(two)
		if !server.opened(two, current) || server.opened(one, late) || server.Store() != current {
			t.Error("a store of a term that is over is used in the place of another")
		}
	})
}
