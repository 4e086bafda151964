//go:build rdma

package hw

import (
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func TestPostAndPollAllocateNothing(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	wrs := []verbs.SendWR{
		{ID: 1, Op: verbs.OpWrite, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 128)},
		{ID: 2, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(128), SGL: a.list(128, 8)},
	}
	wc := make([]verbs.WC, 4)
	for name, wait := range map[string]func() (int, error){
		"poll": func() (n int, err error) {
			for n == 0 && err == nil {
				n, err = a.cq.Poll(wc)
			}
			return n, err
		},
		"wait":                func() (int, error) { return a.cq.Wait(wc, verbs.Forever) },
		"wait with a timeout": func() (int, error) { return a.cq.Wait(wc, patience) },
	} {
		if n := testing.AllocsPerRun(200, func() {
			if err := a.qp.PostSend(wrs); err != nil {
				t.Fatal(err)
			}
			if n, err := wait(); n != 1 || err != nil || wc[0].Status != verbs.StatusSuccess {
				t.Fatal(n, err, wc[0])
			}
		}); n != 0 {
			t.Errorf("post and %s: %v allocations", name, n)
		}
	}
}

// BenchmarkWrite posts, and polls until the acknowledgement has arrived. Compare the
// median with that of ib_write_lat, which measures half of a ping-pong of Writes: on a
// machine that shares its cores, lost time slices dominate the mean.
func BenchmarkWrite(b *testing.B) {
	x, y := pair(b, verbs.QPConfig{})
	wrs := []verbs.SendWR{{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: y.mr.RKey(), RemoteAddr: y.at(0), SGL: x.list(0, 128)}}
	wc := make([]verbs.WC, 1)
	took := make([]time.Duration, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := x.qp.PostSend(wrs); err != nil {
			b.Fatal(err)
		}
		for n := 0; n == 0; {
			var err error
			if n, err = x.cq.Poll(wc); err != nil {
				b.Fatal(err)
			}
		}
		if len(took) < cap(took) {
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[0]), "least-ns")
	b.ReportMetric(float64(took[len(took)/2]), "median-ns")
}

func BenchmarkPollEmpty(b *testing.B) {
	x, _ := pair(b, verbs.QPConfig{})
	wc := make([]verbs.WC, 16)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := x.cq.Poll(wc); n != 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}
