package explore_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The receives of one queue pair and the Reads of another complete on one CQ. If code has seen the response of a Read
// before it posts a request that fails, the Read is in that CQ before the receive that the failure flushes.
func TestAFailureFlushesBehindWhatHasCompleted(t *testing.T) {
	agree(t, saying("flushed-behind", "", func(say func(string, ...any)) sim.Config {
		var fails, reads verbs.QP
		var own, shared verbs.CQ
		var word host.Region
		var request verbs.SendWR
		prepare := func(hosts []*sim.Host) {
			a, b := hosts[0], hosts[1]
			own, shared = must(a.Device().CreateCQ(16, nil)), must(a.Device().CreateCQ(16, nil))
			near, far := must(a.Device().AllocPD()), must(b.Device().AllocPD())
			join := func(send verbs.CQ) verbs.QP {
				cq := must(b.Device().CreateCQ(16, nil))
				p := must(near.CreateQP(verbs.QPConfig{SendCQ: send, RecvCQ: shared, Access: all}))
				e := must(far.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: all}))
				must(e.Connect(p.Endpoint()))
				return must(p.Connect(e.Endpoint()))
			}
			fails, reads = join(own), join(shared)
			word = must(a.Alloc(8))
			there := must(b.Alloc(8))
			there.Store64(0, 5)
			request = verbs.SendWR{ID: 1, Op: verbs.OpRead, Flags: verbs.Signaled, RemoteAddr: there.Addr(), RKey: must(far.RegisterMR(there, all)).RKey(),
				SGL: []verbs.SGE{{Addr: word.Addr(), Length: 8, LKey: must(near.RegisterMR(word, all)).LKey()}}}
		}
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			check := func(err error) {
				if err != nil {
					panic(err)
				}
			}
			check(fails.PostRecv([]verbs.RecvWR{{ID: 2}}))
			check(reads.PostSend([]verbs.SendWR{request}))
			seen := word.Load64(0)
			check(fails.PostSend([]verbs.SendWR{{ID: 3, Op: verbs.OpSend, SGL: []verbs.SGE{{Length: 8}}}}))
			var wc [1]verbs.WC
			must(own.Wait(wc[:], -1))
			failed := wc[0].Status
			must(shared.Wait(wc[:], -1))
			say("%d, %v, then %d", seen, failed, wc[0].ID)
		}}
		return sim.Config{Nodes: []sim.Node{a, {Name: "b", Main: func(host.Host, int) {}}}, Linger: true, Setup: prepare}
	}), "0, LOC_PROT_ERR, then 1", "0, LOC_PROT_ERR, then 2", "5, LOC_PROT_ERR, then 1")
}
