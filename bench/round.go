package bench

import (
	"runtime"
	"time"
)

// round is one timed stretch.
type round struct {
	lat     []uint64 // ticks of each operation
	ticks   uint64
	seconds float64
	allocs  uint64
}

func newRound(iters int) *round { return &round{lat: make([]uint64, iters)} }

// time runs f, which fills in the latencies, and counts what it takes and what the
// process allocates meanwhile.
func (r *round) time(f func(lat []uint64) error) error {
	var before, after runtime.MemStats
	for range 100 { // what is left to do of the last message to the peer allocates
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
