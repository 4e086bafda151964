package explore

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// ErrMemory: a search stopped because of Options.MaxMemory.
var ErrMemory = errors.New("explore: the memory limit is reached")

// memory limits the memory of the process during a search.
type memory struct {
	limit  uint64 // bytes; 0: no limit
	looks  uint64
	sample [1]metrics.Sample
}

const (
	// lookAtMemory is the number of runs between looks at the memory in use.
	lookAtMemory = 64
	// fullAt is the share of the limit, in percent, that what the search keeps may take. Beyond it the
	// garbage collector would work most of the time to stay within the limit.
	fullAt = 85
)

// bound sets the limit, until the returned function is called: the collector then works harder the
// closer the process is to the limit.
func (m *memory) bound(limit uint64) (release func()) {
	m.limit, m.sample[0].Name = limit, "/gc/heap/live:bytes"
	if limit == 0 {
		return func() {}
	}
	runtime.GC() // what an earlier search kept does not count
	before := debug.SetMemoryLimit(int64(min(limit, 1<<62)))
	return func() { debug.SetMemoryLimit(before) }
}

// full reports whether the search must stop. It looks now and then, at what the last garbage collection kept.
func (m *memory) full() bool {
	if m.looks++; m.limit == 0 || m.looks%lookAtMemory != 1 {
		return false
	}
	metrics.Read(m.sample[:])
	return m.sample[0].Value.Uint64() > m.limit/100*fullAt
}

func (m *memory) err() error { return fmt.Errorf("%w: %d bytes", ErrMemory, m.limit) }
