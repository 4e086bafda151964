package explore

import (
	"sync"
	"time"
)

// unknown is an unknown number of runs.
const unknown = -1

// Progress is a snapshot of a running search.
type Progress struct {
	Scenario     string
	Runs, States uint64
	Frontier     int
	Remaining    float64 // runs, negative if unknown
	Elapsed      time.Duration
}

// watchProgress calls f about ten times a second until the returned function is called,
// or the check is given up.
func (d *watchdog) watchProgress(f func(Progress), look func() Progress) func() {
	if f == nil {
		return func() {}
	}
	tick := time.NewTicker(100 * time.Millisecond)
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-tick.C:
				f(look())
			case <-quit:
				return
			}
		}
	})
	var once sync.Once
	end := func() { once.Do(func() { tick.Stop(); close(quit); wg.Wait() }) }
	d.atHang(end)
	return end
}
