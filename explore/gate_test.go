package explore_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	kit "github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A link that a gate never lets heal is cut for good: what was under way may be lost, and who waits for it waits forever.
func TestGateThatForbidsHeals(t *testing.T) {
	for _, budget := range []string{"cut(a,b)<=1", "partition(a,b)<=1"} {
		s := spoken("gate-"+budget, budget, func(k *kit.Kit, say func(format string, args ...any)) sim.Config {
			var from verbs.QP
			accepted := kit.Memory[bool](k)
			var cq verbs.CQ
			w := k.World(
				k.Host("a", func(h host.Host) error {
					l, err := h.Listen("posted")
					if err == nil {
						_, err = l.Accept(verbs.Forever)
					}
					if err != nil {
						return err
					}
					*accepted = true
					k.History()
					var wcs [1]verbs.WC
					if _, err := cq.Wait(wcs[:], verbs.Forever); err != nil {
						return err
					}
					say("accepted %v", wcs[0].Status)
					return nil
				}),
				sim.Node{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
					_ = from.PostSend([]verbs.SendWR{{Op: verbs.OpSend}})
					_ = h.Gather([]host.Call{{To: "a", Service: "posted"}}, verbs.Forever)
					_, _ = got(h.Listen("x")).Accept(verbs.Forever)
				}})
			w.Gate = func(_ faults.Kind, heal bool) bool { return !heal && *accepted }
			w.Setup = func(hosts []*sim.Host) {
				dev := hosts[0].Device()
				cq = got(dev.CreateCQ(4, nil))
				far := got(hosts[1].Device().CreateCQ(4, nil))
				p := got(got(dev.AllocPD()).CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq}))
				q := got(got(hosts[1].Device().AllocPD()).CreateQP(verbs.QPConfig{SendCQ: far, RecvCQ: far}))
				var to verbs.QP
				to, from = got(p.Connect(q.Endpoint())), got(q.Connect(p.Endpoint()))
				if err := to.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
					panic(err)
				}
			}
			return w
		})
		got, _, _, err := explore.Naive(s, explore.Options{}, true, 100_000)
		r, err2 := explore.Check(s, explore.Options{})
		if err != nil || err2 != nil || r.Verdict != explore.Violated {
			t.Errorf("%s: %v, and all runs of the eager machine end with %q", budget, r.Verdict, got)
		}
	}
}
