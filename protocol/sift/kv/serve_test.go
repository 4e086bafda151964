package kv

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

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
