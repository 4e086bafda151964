package explore_test

import (
	"slices"
	"testing"

	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Whether a host restarts may depend on which other hosts have terminated. The search tries both orders.
func TestAnotherLifeMayDependOnEndings(t *testing.T) {
	for _, turned := range []bool{false, true} {
		s := spoken("endings", "", func(k *kit.Kit, say func(string, ...any)) sim.Config {
			ended := false
			k.OnReset(func() { ended = false; k.Outcome("once;") })
			nodes := []sim.Node{
				{Name: "a", Main: func(h host.Host, life int) {
					if life == 1 {
						say("again")
					}
				}, Again: func(life int, _ bool) bool { return life == 0 && !ended }},
				{Name: "b", Main: func(host.Host, int) {}, Again: func(int, bool) bool { ended = true; return false }},
			}
			if turned {
				slices.Reverse(nodes)
			}
			return k.World(nodes...)
		})
		searchesAgree(t, s, "again;", "once;")
	}
}
