package nclcheck_test

import (
	"runtime"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

// BenchmarkRuns is the cost of a whole run of ncl/three-writes, from starting five
// hosts to the recovery: on one core.
func BenchmarkRuns(b *testing.B) {
	s := nclcheck.Scenarios()[0]
	r, err := explore.Check(s, explore.Options{Strategy: explore.Random, MaxRuns: uint64(b.N), Workers: 1})
	if err != nil || r.Verdict != explore.Clean {
		b.Fatal(r, err)
	}
	b.ReportMetric(float64(r.Runs)/r.Elapsed.Seconds(), "runs/s")
	b.ReportMetric(float64(r.Steps)/r.Elapsed.Seconds(), "steps/s")
}

// BenchmarkStates is an exhaustive search on one core: distinct states a second,
// and what a state takes in memory.
func BenchmarkStates(b *testing.B) {
	s := nclcheck.Scenarios()[0]
	var before, after runtime.MemStats
	for range b.N {
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := explore.Check(s, explore.Options{Faults: "crash(app)<=1", Workers: 1})
		if err != nil || r.Verdict != explore.Verified {
			b.Fatal(r, err)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(r.States)/r.Elapsed.Seconds(), "states/s")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(r.States), "allocated-B/state")
		b.ReportMetric(float64(r.Runs)/float64(r.States), "runs/state")
	}
}
