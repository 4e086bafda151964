// Package goroutine identifies goroutines. Go discourages that, and only the simulator
// needs it, to report to the author of a protocol that a goroutine which is no task has
// called it.
package goroutine

import (
	"bytes"
	"runtime"
	"sync/atomic"
)

// Name returns the name of the calling goroutine, such as "goroutine 7". It takes many microseconds.
func Name() string {
	var buf [64]byte
	text, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte(" ["))
	return string(text)
}

// Flag can be raised by any goroutine. The zero value is not raised.
type Flag struct{ up atomic.Bool }

// Raise raises the flag.
func (f *Flag) Raise() { f.up.Store(true) }

// Raised yields to other goroutines, and reports whether the flag is raised.
func (f *Flag) Raised() bool {
	for range 100 {
		runtime.Gosched() // it may not have come so far
	}
	return f.up.Load()
}
