package nclcheck_test

import (
	"runtime"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

// BenchmarkRuns is the cost of a whole run of ncl/three-writes, from starting five
// hosts to the recovery, on one core.
func BenchmarkRuns(b *testing.B) {
	s := nclcheck.Scenarios()[0]
	r, err := explore.Check(s, explore.Options{Strategy: explore.Random, MaxRuns: uint64(b.N), Workers: 1})
	if err != nil || r.Verdict != explore.Clean {
		b.Fatal(r, err)
	}
	b.ReportMetric(float64(r.Runs)/r.Elapsed.Seconds(), "runs/s")
	b.ReportMetric(float64(r.Steps)/r.Elapsed.Seconds(), "steps/s")
}

// BenchmarkStates is an exhaustive search on one core: distinct states per second,
// allocations per state, and the memory that a state retains.
func BenchmarkStates(b *testing.B) {
	s := nclcheck.Scenarios()[0]
	var before, after runtime.MemStats
	asked := 0
	for range b.N {
		asked = 0
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := explore.Check(s, explore.Options{Workers: 1, Stop: func() bool { asked++; return false }})
		if err != nil || r.Verdict != explore.Verified {
			b.Fatal(r, err)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(r.States)/r.Elapsed.Seconds(), "states/s")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(r.States), "allocated-B/state")
		b.ReportMetric(float64(r.Runs)/float64(r.States), "runs/state")
	}
	b.StopTimer()
	b.ReportMetric(live(b, s, asked), "live-B/state")
}

// live is the heap in use per state: what the search holds when it asks for the last
// time whether to stop, with at most a few runs to go, minus what it held at the first
// time, when it had its worlds and no states. One worker asks equally often in every
// search.
func live(b *testing.B, s *explore.Scenario, asked int) float64 {
	var first, last runtime.MemStats
	n := 0
	r, err := explore.Check(s, explore.Options{Workers: 1, Stop: func() bool {
		switch n++; n {
		case 1:
			runtime.GC()
			runtime.ReadMemStats(&first)
		case asked:
			runtime.GC()
			runtime.ReadMemStats(&last)
		}
		return false
	}})
	if err != nil || n != asked || last.HeapAlloc == 0 {
		b.Fatalf("asked %d times instead of %d: %v", n, asked, err)
	}
	return (float64(last.HeapAlloc) - float64(first.HeapAlloc)) / float64(r.States)
}
