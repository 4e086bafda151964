package siftcoord

import (
	"bytes"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
)

// Long records fill the store before there are many. A snapshot comes in time, since a full store has no room for one, and
// then no change would ever succeed again; so it does when leaders change before.
func TestLongRecordsDoNotFillTheStore(t *testing.T) {
	for _, lead := range []int{1000, 8} { // changes of each leader
		snapshots := map[uint64]bool{}
		g, m := newGroup(t, Config{Ticks: 2, Every: shape.Blocks / 4}), newMemory()
		g.leads("cpu1", m.open())
		_, c := g.client(t, "app")
		if err := c.Create("k", nil, coord.NoSession); err != nil {
			t.Fatal(err)
		}
		value := bytes.Repeat([]byte{1}, 300)
		for i := range 200 {
			if i%lead == lead-1 {
				g.leads("cpu2", m.open())
			}
			if _, err := c.Set("k", value, uint64(i+1)); err != nil {
				t.Fatalf("change %d: %v", i, err)
			}
			for _, s := range g.nodes {
				if s.of != nil {
					snapshots[s.log.head.first] = true
				}
			}
		}
		if len(snapshots) > 200/8 {
			t.Errorf("%d snapshots of 200 changes", len(snapshots))
		}
	}
}
