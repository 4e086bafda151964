package sift

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// A recovery that reaches too few complete nodes to compute the chunks of the others reads them, and writes nothing.
func TestARecoveryWithoutEnoughChunksChangesNothing(t *testing.T) {
	cfg := coded(1)
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		if err := c.Write(0, []byte("a")); err != nil {
			t.Fatal(err)
		}
		r := c.nodes[2]
		c.state(r, void, verbs.Signaled) // an earlier copy was not complete
		c.group.Await(r.Conn, r.Asked)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		h.Sleep(cfg.Period)
		n := c.n
		for range 2 { // the connection to mem1 fails, and then the node is an outsider
			if _, err := n.Watch(); err != nil {
				t.Fatal(err)
			}
		}
		if o, err := n.Campaign(); o != Won || err != nil {
			t.Fatal(o, err)
		}
		c = n.coordinator()
		if _, err := c.begin(memoryDoor, func() error {
			asked := map[string]uint64{}
			for _, r := range c.nodes {
				asked[r.Peer] = r.Asked
			}
			err := c.recover()
			for _, r := range c.nodes {
				if r.Asked != asked[r.Peer]+1 {
					t.Errorf("%s got %d requests", r.Peer, r.Asked-asked[r.Peer])
				}
			}
			return err
		}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("with one complete node: %v", err)
		}
	})
}
