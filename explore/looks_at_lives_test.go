package explore_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A look at the lives of a host comes before the next one begins or after it. Sleep sets alone find both.
func TestALookAtLivesIsOrderedWithARestart(t *testing.T) {
	s := &explore.Scenario{Name: "test/looks", Build: func(c *explore.Case) (sim.Config, error) {
		k := kit.New(c)
		said := kit.Memory[string](k)
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			c.LookAtLives("b")
			c.Point()
			if _, err := h.Call("b", "s", nil, 1); err != nil {
				*said = "no"
				k.Outcome(*said)
				k.History()
			}
		}}
		b := sim.Node{Name: "b", Daemon: true, Again: func(life int, _ bool) bool { return life == 0 }, Main: func(host.Host, int) {}}
		return k.World(a, b), nil
	}}
	states := func(o explore.Options) uint64 {
		r, err := explore.Check(s, o)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatal(r, err)
		}
		return r.States
	}
	if got, want := states(explore.Options{NoPrivate: true}), states(explore.Options{EveryOrder: true}); got != want {
		t.Errorf("%d states, and with every order %d", got, want)
	}
}
