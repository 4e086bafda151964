package explore_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A host posts a signaled Write and an unsignaled one, and waits for its receives, which complete in a CQ of
// their own. If its peer stops after it has acknowledged both Writes, nothing flushes the receives, although
// nobody has polled the completion of the first Write.
func TestAWaitForReceivesHangsBehindACompletionThatNobodyPolls(t *testing.T) {
	for _, flags := range [][]verbs.SendFlags{{0}, {verbs.Signaled, 0}, {0, verbs.Signaled, 0, 0}} {
		s := &explore.Scenario{Name: "test/quiet", Build: func(c *explore.Case) (sim.Config, error) { return waitsForReceives(c, flags), nil }}
		for _, opt := range []explore.Options{{}, {EveryOrder: true}, {Eager: true}} {
			r, err := explore.Check(s, opt)
			if err != nil || r.Verdict != explore.Verified {
				t.Fatalf("%v, %+v: %v: %v", flags, opt, r, err)
			}
			if want := []string{"flushed", "hangs"}; !slices.Equal(r.Outcomes, want) {
				t.Errorf("%v, %+v: %q, want %q", flags, opt, r.Outcomes, want)
			}
		}
	}
}

// waitsForReceives is the world of two hosts: one posts Writes with these flags, and the other takes its queue
// pair to ERR.
func waitsForReceives(c *explore.Case, flags []verbs.SendFlags) sim.Config {
	var qps [2]verbs.QP
	var receives verbs.CQ
	var from verbs.SGE
	var to verbs.MR
	setup := func(hosts []*sim.Host) {
		var made [2]verbs.PreparedQP
		for i, h := range hosts {
			pd, mem := must(h.Device().AllocPD()), must(h.Alloc(8))
			mr := must(pd.RegisterMR(mem, all))
			cqs := [2]verbs.CQ{must(h.Device().CreateCQ(8, nil)), must(h.Device().CreateCQ(8, nil))}
			made[i] = must(pd.CreateQP(verbs.QPConfig{SendCQ: cqs[0], RecvCQ: cqs[1], MaxSendWR: 8, MaxRecvWR: 1, Access: all}))
			if i == 0 {
				receives, from = cqs[1], verbs.SGE{Addr: mr.Addr(), Length: 8, LKey: mr.LKey()}
			} else {
				to = mr
			}
		}
		for i := range qps {
			qps[i] = must(made[i].Connect(made[1-i].Endpoint()))
		}
		must(0, qps[0].PostRecv([]verbs.RecvWR{{SGL: []verbs.SGE{from}}}))
	}
	c.OnReset(func() { c.Outcome("hangs") })
	waits := func(host.Host, int) {
		for _, f := range flags {
			must(0, qps[0].PostSend([]verbs.SendWR{{Op: verbs.OpWrite, Flags: f, SGL: []verbs.SGE{from}, RemoteAddr: to.Addr(), RKey: to.RKey()}}))
		}
		var wc [1]verbs.WC
		must(receives.Wait(wc[:], verbs.Forever))
		c.Outcome("flushed")
		c.History(fingerprint.Print{}.Int(1))
	}
	stops := func(host.Host, int) { must(0, qps[1].Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})) }
	return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: waits}, {Name: "b", Main: stops}}, Setup: setup, Hung: func([]string) {}}
}
