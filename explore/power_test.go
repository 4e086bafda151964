package explore_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// What a life has stored and not flushed is in the caches of the machine when that life has ended. A power failure empties
// them, although the next life never opens the memory.
func TestPowerFailsBeforeALifeOpensItsMemory(t *testing.T) {
	s := scenario("unopened", "power(b)<=1", func(x *tiny) []sim.Node {
		open := func(h host.Host) host.Region {
			r, err := h.OpenPMEM("log", 64)
			if err != nil {
				x.c.Fail(err)
			}
			return r
		}
		return []sim.Node{{
			Name:     "b",
			Immortal: func(life int) bool { return life == 0 },
			Again:    func(life int, _ bool) bool { return life < 2 },
			Main: func(h host.Host, life int) {
				switch life {
				case 0:
					r := open(h)
					r.Store64(0, 1)
					r.Fence()
					x.say(0, "stored")
				case 1:
					x.say(0, "ran")
				case 2:
					x.say(0, "found %d", open(h).Load64(0))
				}
			},
		}}
	})
	for _, o := range []explore.Options{{Eager: true}, {}, {EveryOrder: true}} {
		o.Workers = 1
		r, err := explore.Check(s, o)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatalf("%+v: %v", r, err)
		}
		for _, want := range []string{"stored ran found 0", "stored ran found 1"} {
			if !slices.Contains(r.Outcomes, want) {
				t.Errorf("eager %v: there is no outcome %q among %q", o.Eager, want, r.Outcomes)
			}
		}
	}
}
