package sim_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pair"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

const perRun = 1000 // work requests of a run

// writerWorld has a client whose body posts perRun requests of 8 bytes, fifteen Writes
// and a Read at a time, to a server that does nothing.
func writerWorld(tb testing.TB, body func(post func())) *sim.World {
	w, err := sim.New(sim.Config{Profile: strong(tb), MaxSteps: 1 << 30, Nodes: []sim.Node{
		{Name: "a", Main: func(h host.Host, _ int) {
			e, err := pair.Dial(h, "b", 64)
			if err != nil {
				panic(err)
			}
			wrs := make([]verbs.SendWR, 16)
			for i := range wrs {
				wrs[i] = e.WR(verbs.OpWrite, verbs.Inline, 0, 8)
			}
			// The Read flushes the Writes before it, so that they do not pile up.
			wrs[15] = e.WR(verbs.OpRead, verbs.Signaled, 0, 8)
			wc := make([]verbs.WC, 1)
			body(func() {
				for n := 0; n < perRun; n += len(wrs) {
					if err := e.QP.PostSend(wrs); err != nil {
						panic(err)
					}
					if _, err := e.CQ.Wait(wc, verbs.Forever); err != nil || wc[0].Status != verbs.StatusSuccess {
						panic("a write failed")
					}
				}
			})
		}},
		{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
			if e, err := pair.Lend(h, 64, verbs.RemoteWrite|verbs.RemoteRead); err == nil {
				e.Stay()
			}
		}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.Close)
	return w
}

// BenchmarkWrite measures the cost of one simulated work request: posted, landed and completed.
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
