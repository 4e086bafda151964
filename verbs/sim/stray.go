package sim

import (
	"errors"
	"runtime"

	"github.com/verbatim-rdma/verbatim/internal/goroutine"
)

// ErrGoroutine means that code outside all tasks called the simulator.
var ErrGoroutine = errors.New("sim: a goroutine that is no task of a host called the simulator: " +
	"start tasks with host.Host.Go, and no goroutines, which nothing could schedule")

// watch detects goroutines that are not tasks. A checker watches only its first runs,
// since this is slow with a version of Go that goid does not support.
type watch struct {
	world int64 // the goroutine of the world
	stray goroutine.Flag
}

// Watch makes the world check from now on which goroutine calls it.
func (w *World) Watch(on bool) {
	w.watch = nil
	if on {
		w.watch = &watch{world: goroutine.ID()}
	}
}

// Stray returns ErrGoroutine if a goroutine that is not a task has called a world that watches.
func (w *World) Stray() error {
	if w.watch == nil {
		return nil
	}
	if w.watch.stray.Raised() {
		return ErrGoroutine
	}
	return nil
}

// maxDead bounds the operations that the deferred functions of a task can try after its
// run, so that a loop that waits there for a change terminates.
const maxDead = 1000

// guard is called first by everything that tasks call. It terminates a goroutine that is
// not the running task, since its next action would corrupt the world.
func (w *World) guard() {
	if w.dying() {
		if w.dead++; w.dead > maxDead {
			panic(killed{})
		}
	}
	x := w.watch
	if x == nil {
		if w.cur == nil {
			panic(killed{})
		}
		return
	}
	want := x.world
	if t := w.cur; t != nil && t.co.goroutine != 0 {
		want = t.co.goroutine
	}
	if goroutine.ID() != want {
		x.stray.Raise()
		runtime.Goexit()
	}
}
