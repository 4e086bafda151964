package explore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// One of two tasks that want the same thing is refused, and nothing else distinguishes
// them: a state must know which.
func TestWhoWasRefused(t *testing.T) {
	for name, want := range map[string]func(h host.Host, pd verbs.PD, q verbs.CQ) error{
		"a listener": func(h host.Host, _ verbs.PD, _ verbs.CQ) error {
			_, err := h.Listen("x")
			return err
		},
		"the end of a protection domain": func(_ host.Host, pd verbs.PD, _ verbs.CQ) error { return pd.Dealloc() },
		"the end of a CQ":                func(_ host.Host, _ verbs.PD, q verbs.CQ) error { return q.Destroy() },
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario("refused", "", func(x *tiny) []sim.Node {
				return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
					pd, _ := h.Device().AllocPD()
					q, err := h.Device().CreateCQ(1, nil)
					if err != nil {
						panic(err)
					}
					m, done, had := h.NewMutex(), 0, [2]bool{}
					c := h.NewCond(m)
					for i := range had {
						h.Go("t", func() {
							err := want(h, pd, q)
							h.Sleep(time.Second)
							m.Lock()
							had[i] = err == nil
							done++
							c.Signal()
							m.Unlock()
						})
					}
					m.Lock()
					for done < len(had) {
						c.Wait()
					}
					m.Unlock()
					x.say(0, "%v", had)
				}}}
			})
			for _, opt := range []explore.Options{{}, {EveryOrder: true}, {Eager: true}} {
				all, _, whole, err := explore.Naive(s, opt, opt.Eager, 100_000)
				if err != nil || !whole || len(all) != 2 {
					t.Fatal(all, whole, err)
				}
				r, err := explore.Check(s, opt)
				if err != nil || r.Verdict != explore.Verified || !slices.Equal(r.Outcomes, all) {
					t.Errorf("%v %v: the search finds %q, and there are %q", r, err, r.Outcomes, all)
				}
			}
		})
	}
}
