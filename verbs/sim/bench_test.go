package sim_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

const perRun = 1000 // work requests of a run

// writerWorld has a client whose body posts perRun requests of 8 bytes, fifteen
// Writes and a Read at a time, to a server that does nothing.
func writerWorld(tb testing.TB, body func(post func())) *sim.World {
	w, err := sim.New(sim.Config{Profile: strong(tb), MaxSteps: 1 << 30, Nodes: []sim.Node{
		{Name: "a", Main: func(h host.Host, _ int) {
			buf, _ := h.Alloc(64)
			pd, _ := h.Device().AllocPD()
			mr, _ := pd.RegisterMR(buf, verbs.LocalWrite)
			cq, _ := h.Device().CreateCQ(16, nil)
			prep, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq})
			ep, _ := prep.Endpoint().AppendBinary(nil)
			a, err := h.Call("b", "connect", ep, verbs.Forever)
			if err != nil {
				panic(err)
			}
			var e verbs.Endpoint
			if err := e.UnmarshalBinary(a); err != nil {
				panic(err)
			}
			qp, _ := prep.Connect(e)
			wrs := make([]verbs.SendWR, 16)
			sge := []verbs.SGE{{Addr: buf.Addr(), Length: 8, LKey: mr.LKey()}}
			for i := range wrs {
				wrs[i] = verbs.SendWR{Op: verbs.OpWrite, Flags: verbs.Inline, RKey: 1, RemoteAddr: 1 << 32, SGL: sge}
			}
			// The Read flushes the writes before it, so that they do not pile up.
			wrs[15] = verbs.SendWR{Op: verbs.OpRead, Flags: verbs.Signaled, RKey: 1, RemoteAddr: 1 << 32, SGL: sge}
			wc := make([]verbs.WC, 1)
			body(func() {
				for n := 0; n < perRun; n += len(wrs) {
					if err := qp.PostSend(wrs); err != nil {
						panic(err)
					}
					if _, err := cq.Wait(wc, verbs.Forever); err != nil || wc[0].Status != verbs.StatusSuccess {
						panic("a write failed")
					}
				}
			})
		}},
		{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
			r, _ := h.Alloc(64)
			pd, _ := h.Device().AllocPD()
			_, _ = pd.RegisterMR(r, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
			cq, _ := h.Device().CreateCQ(16, nil)
			l, _ := h.Listen("connect")
			req, _ := l.Accept(verbs.Forever)
			var e verbs.Endpoint
			_ = e.UnmarshalBinary(req.Body())
			prep, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite | verbs.RemoteRead})
			_, _ = prep.Connect(e)
			ep, _ := prep.Endpoint().AppendBinary(nil)
			req.Reply(ep)
			_, _ = l.Accept(verbs.Forever)
		}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.Close)
	return w
}

// BenchmarkWrite is the cost of one simulated work request, posted, landed and
// completed.
func BenchmarkWrite(b *testing.B) {
	w := writerWorld(b, func(post func()) { post() })
	b.ReportAllocs()
	for range (b.N + perRun - 1) / perRun {
		if _, err := w.Run(first{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The data path allocates nothing once a run has warmed the world up.
func TestWriteAllocatesNothing(t *testing.T) {
	allocs := -1.0
	w := writerWorld(t, func(post func()) {
		post()
		allocs = testing.AllocsPerRun(3, post)
	})
	for range 2 {
		if _, err := w.Run(first{}); err != nil {
			t.Fatal(err)
		}
	}
	if perWR := allocs / perRun; perWR > 0.01 {
		t.Errorf("%.3f allocations for each work request", perWR)
	}
}
