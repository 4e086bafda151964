package soft

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// BenchmarkWrite posts one Write and waits for its completion, over the loopback.
func BenchmarkWrite(b *testing.B) {
	x, y := couple(b, verbs.QPConfig{})
	wrs := []verbs.SendWR{x.write(1, y, 128)}
	wc := make([]verbs.WC, 1)
	took := make([]time.Duration, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := x.q.PostSend(wrs); err != nil {
			b.Fatal(err)
		}
		if _, err := x.cq.Wait(wc, verbs.Forever); err != nil || wc[0].Status != verbs.StatusSuccess {
			b.Fatal(err, wc[0])
		}
		if len(took) < cap(took) {
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "median-ns")
}

// BenchmarkWrites has 16 Writes under way, one signaled.
func BenchmarkWrites(b *testing.B) {
	for _, n := range []int{128, page} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y := couple(b, verbs.QPConfig{})
			wrs := make([]verbs.SendWR, 16)
			for i := range wrs {
				wrs[i] = x.write(1, y, n)
				wrs[i].Flags = 0
			}
			wrs[len(wrs)-1].Flags = verbs.Signaled
			wc := make([]verbs.WC, 1)
			b.SetBytes(int64(n * len(wrs)))
			for b.Loop() {
				if err := x.q.PostSend(wrs); err != nil {
					b.Fatal(err)
				}
				if _, err := x.cq.Wait(wc, verbs.Forever); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
