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
	// fullAt is the largest share of the limit, in percent, that live objects may take. Above it the
	// garbage collector would need most of the processor time.
	fullAt = 85
)

// bound sets the limit until release is called. It also tells the garbage collector, which then runs more
// often near the limit.
func (m *memory) bound(limit uint64) (release func()) {
	m.limit, m.sample[0].Name = limit, "/gc/heap/live:bytes"
	if limit == 0 {
		return func() {}
	}
	runtime.GC() // so that objects of an earlier search do not count
	before := debug.SetMemoryLimit(int64(min(limit, 1<<62)))
	return func() { debug.SetMemoryLimit(before) }
}

// full reports whether the search must stop. Every lookAtMemory calls it looks at the size of the objects that were
// live at the last garbage collection.
func (m *memory) full() bool {
	if m.looks++; m.limit == 0 || m.looks%lookAtMemory != 1 {
		return false
	}
	metrics.Read(m.sample[:])
	return m.sample[0].Value.Uint64() > m.limit/100*fullAt
}

func (m *memory) err() error { return fmt.Errorf("%w: %d bytes", ErrMemory, m.limit) }
