// Package goroutine identifies goroutines. Go discourages that, and only the simulator
// needs it, to report to the author of a protocol that a goroutine which is no task has
// called it.
package goroutine

import (
	"runtime"
	"sync/atomic"

	"github.com/petermattis/goid"
)

// ID returns the number of the calling goroutine, which is not 0. It takes a nanosecond, or,
// if goid does not know this version of Go, many microseconds.
func ID() int64 { return goid.Get() }

// Flag can be raised by any goroutine. The zero value is not raised.
type Flag struct{ up atomic.Bool }

// Raise raises the flag.
func (f *Flag) Raise() { f.up.Store(true) }

// Raised yields to other goroutines, and reports whether the flag is raised.
func (f *Flag) Raised() bool {
	for range 100 {
		runtime.Gosched() // it may not have got that far
	}
	return f.up.Load()
}
