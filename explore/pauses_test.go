package explore_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// To listen is the same observation whether another task of the host could be quicker or has ended. Otherwise each state
// behind it is there twice.
func TestListeningIsOneObservation(t *testing.T) {
	s := saying("listens", "", func(func(string, ...any)) sim.Config {
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			r := must(h.Alloc(8))
			h.Go("other", func() {})
			r.Load64(0) // the other task may end before this
			must(h.Listen("s"))
			for range 3 {
				_, _ = h.Call("nobody", "s", nil, -1)
			}
		}}
		return sim.Config{Nodes: []sim.Node{a}}
	})
	agree(t, s, "nothing")
	r, err := explore.Check(s, explore.Options{EveryOrder: true})
	if most := uint64(23); err != nil || r.States > most {
		t.Errorf("%d states, more than %d: %v", r.States, most, err)
	}
}
