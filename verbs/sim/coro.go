package sim

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/verbatim-rdma/verbatim/internal/goroutine"
)

// coro is a coroutine that runs one function after another, so that a world that runs many times
// creates its coroutines once. iter.Pull switches without the Go scheduler and without allocation.
type coro struct {
	next func() (struct{}, bool)
	stop func()
	out  func(struct{}) bool
	fn   func()
	kill bool
	idle bool  // the function has returned
	err  error // it panicked

	goroutine int64 // its number
}

// killed unwinds a coroutine whose task died; protocol code must not recover it. Its
// text appears only if nothing recovers it, and then the caller was not a coroutine.
type killed struct{}

func (killed) Error() string { return ErrGoroutine.Error() }

// PanicError is a panic of protocol code: a violation of its own kind.
type PanicError struct {
	Value any
	Stack []byte

	source, file string // the line that panicked, for the trace
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Class returns the class of the violation.
func (e *PanicError) Class() string { return "panic" }

func newCoro() *coro {
	c := &coro{idle: true}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.out, c.goroutine = yield, goroutine.ID()
		defer func() { c.idle = true }() // the function may terminate the goroutine
		for {
			if c.fn != nil {
				c.call()
			}
			c.fn, c.idle = nil, true
			if !yield(struct{}{}) {
				return
			}
		}
	})
	c.next()
	return c
}

func (c *coro) call() {
	if c.kill {
		return // it was aborted before it began
	}
	defer func() {
		switch r := recover().(type) {
		case nil, killed:
		default:
			e := &PanicError{Value: r, Stack: debug.Stack()}
			e.source, e.file = caller(nil)
			c.err = e
		}
	}()
	c.fn()
}

// start sets f as the function to run. resume runs it until it yields or returns.
func (c *coro) start(f func()) { c.fn, c.idle, c.kill, c.err = f, false, false, nil }

func (c *coro) resume() { c.next() }

// yield returns control to the world; it is called inside the coroutine.
func (c *coro) yield() {
	c.out(struct{}{})
	if c.kill {
		panic(killed{})
	}
}

// abort unwinds the function if it has not returned.
func (c *coro) abort() {
	if c.idle {
		return
	}
	c.kill = true
	for !c.idle {
		c.next()
	}
}
