package bench

import (
	"runtime"
	"time"
)

// round is one timed sequence of operations.
type round struct {
	lat     []uint64 // ticks of each operation; empty if only the rate is measured
	ops     int
	ticks   uint64
	seconds float64
	allocs  uint64
}

func newRound(iters int) *round { return &round{lat: make([]uint64, iters), ops: iters} }

// rate is operations per second.
func (r *round) rate() float64 { return float64(r.ops) / r.seconds }

// time runs f, which fills in the latencies, and measures its duration and the
// allocations of the process.
func (r *round) time(f func(lat []uint64) error) error {
	var before, after runtime.MemStats
	for range 100 { // until work on the last message to the peer is finished: it allocates
		runtime.Gosched()
	}
	runtime.ReadMemStats(&before)
	began, first := time.Now(), ticks()
	err := f(r.lat)
	last, took := ticks(), time.Since(began)
	runtime.ReadMemStats(&after)
	r.ticks, r.seconds, r.allocs = last-first, took.Seconds(), after.Mallocs-before.Mallocs
	return err
}
