//go:build !amd64

package bench

import "time"

// cycles: ticks differ from the ticks of perftest, so microseconds are compared.
const cycles = false

var epoch = time.Now()

// ticks returns the monotonic clock in nanoseconds.
func ticks() uint64 { return uint64(time.Since(epoch)) }
