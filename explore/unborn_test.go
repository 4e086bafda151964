package explore_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// unborn is a scenario in which a connects to an endpoint of the second life of b, whose address and keys it
// knows beforehand, and b gets there by itself: the Write finds nobody, a life without the region, or the region.
func unborn() *explore.Scenario {
	return spoken("unborn", "", func(k *kit.Kit, say func(string, ...any)) sim.Config {
		connect := func(h host.Host, to [16]byte) (verbs.QP, verbs.CQ, verbs.SGE) {
			r := must(h.Alloc(8))
			pd := must(h.Device().AllocPD())
			mr := must(pd.RegisterMR(r, all))
			cq := must(h.Device().CreateCQ(8, nil))
			p := must(pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: all}))
			e := p.Endpoint() // both have the same number
			e.GID = to
			return must(p.Connect(e)), cq, verbs.SGE{Addr: r.Addr(), Length: 8, LKey: mr.LKey()}
		}
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			q, cq, mem := connect(h, [16]byte{0: 1, 4: 1})
			must(0, q.PostSend([]verbs.SendWR{{Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: 1<<20 | 1, RemoteAddr: mem.Addr, SGL: []verbs.SGE{mem}}}))
			var wc [1]verbs.WC
			must(cq.Wait(wc[:], verbs.Forever))
			say("%v", wc[0].Status)
		}}
		b := sim.Node{Name: "b", Daemon: true, Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
			if life == 1 {
				connect(h, [16]byte{})
				must(must(h.Listen("x")).Accept(verbs.Forever))
			}
		}}
		return k.World(a, b)
	})
}

// What comes of a request to a life that has not begun depends on when it begins, in every search.
func TestAnEndpointMayNameALifeThatHasNotBegun(t *testing.T) {
	want := []string{"REM_ACCESS_ERR;", "RETRY_EXC_ERR;", "SUCCESS;"}
	for name, o := range map[string]explore.Options{"default": {}, "every order": {EveryOrder: true}, "eager": {Eager: true}} {
		r, err := explore.Check(unborn(), o)
		if err != nil || r.Verdict != explore.Verified || !slices.Equal(r.Outcomes, want) {
			t.Errorf("%s: %v, %v, outcomes %q, want %q", name, r.Verdict, err, r.Outcomes, want)
		}
	}
}
