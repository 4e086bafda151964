package kv

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

// A store that is opened when its coordinator leads no longer is not used: the node may lead in a later
// term, with another store.
func TestAServerUsesTheStoreOfItsTerm(t *testing.T) {
	onHost(t, func(h host.Host) {
		server, err := NewServer(h, small())
		if err != nil {
			t.Fatal(err)
		}
		old, late, current := openOn(t, h), openOn(t, h), openOn(t, h)
		if server.leads(1); !server.opened(1, old) || server.Store() != old {
			t.Error("the store of the term is not used")
		}
		server.leads(0)
		if err := old.Put([]byte("a"), nil); !errors.Is(err, ErrNotLeading) || server.Store() != nil {
			t.Errorf("when the node leads no longer, a put in its store ends with %v", err)
		}
		if server.opened(1, late) || server.Store() != nil {
			t.Error("a store of a term that is over is used, and the node does not lead")
		}
		server.leads(2)
		if !server.opened(2, current) || server.opened(1, late) || server.Store() != current {
			t.Error("a store of a term that is over is used in the place of another")
		}
	})
}
