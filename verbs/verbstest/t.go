package verbstest

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

const (
	// patience is how long a case waits for something that must happen. In a simulator
	// it never expires while anything can happen.
	patience = 15 * time.Second
	// moment is how long it waits for something that must not happen.
	moment = 100 * time.Millisecond
)

// T is one run of a case.
type T struct {
	name    string
	site    Site
	hosts   int
	differs []Difference
	inTask  bool   // tasks run, and the script waits for them
	at      string // the line of the script that waits
	undo    []func()
	ending  bool // the cleanup runs, and continues after a failure

	mu    sync.Mutex // tasks may be goroutines
	err   error
	skip  string
	notes []string
}

// stopped unwinds a task, or the script, after a failure.
type stopped struct{}

// script runs f and then destroys what it made, newest first.
func (t *T) script(f func(*T)) {
	t.guard(func() { f(t) })
	t.ending = true
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.guard(t.undo[i])
	}
}

// guard runs f to its end, or to its first failure.
func (t *T) guard(f func()) {
	defer func() {
		if r := recover(); r != nil && r != (stopped{}) {
			panic(r)
		}
	}()
	f()
}

// errorf records a failure with the line of the case; the first one counts.
func (t *T) errorf(format string, args ...any) {
	at := place()
	if at == "" {
		at = t.at
	}
	err := fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// fatalf is errorf, and ends the task.
func (t *T) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	panic(stopped{})
}

// skipf ends the case: the device cannot do it.
func (t *T) skipf(format string, args ...any) {
	t.mu.Lock()
	t.skip = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	panic(stopped{})
}

// notef adds a line to the test's log.
func (t *T) notef(format string, args ...any) {
	t.mu.Lock()
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
	t.mu.Unlock()
}

// place returns the calling line of a case, or empty if the case is not on this stack: then
// the script is waiting for this task.
func place() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		name := filepath.Base(f.File)
		if strings.Contains(f.Function, "/verbstest.") && name != "t.go" && name != "end.go" && name != "verbstest.go" {
			return fmt.Sprintf("%s:%d", name, f.Line)
		}
		if !more {
			return ""
		}
	}
}

// check ends the task if err is not nil.
func (t *T) check(err error) {
	if err != nil {
		t.fatalf("%v", err)
	}
}

// refused checks that err wraps want.
func (t *T) refused(what string, err, want error) {
	if !errors.Is(err, want) {
		t.errorf("%s: got %v, want an error that wraps %q", what, err, want)
	}
}

// can skips the case if err means that the device lacks the operation, and otherwise
// checks it.
func (t *T) can(err error) {
	if errors.Is(err, verbs.ErrUnsupported) {
		t.skipf("%v", err)
	}
	t.check(err)
}

// on runs f as a task of a host. Within a task it just runs it.
func (t *T) on(h int, f func()) {
	if t.inTask {
		f()
		return
	}
	t.together(Task{h, f})
}

// together runs tasks concurrently. If one of them fails, the script ends.
func (t *T) together(tasks ...Task) {
	for i := range tasks {
		f := tasks[i].Run
		tasks[i].Run = func() { t.guard(f) }
	}
	t.inTask, t.at = true, place()
	t.site.Do(tasks)
	t.inTask = false
	t.mu.Lock()
	over := t.err != nil || t.skip != ""
	t.mu.Unlock()
	if over && !t.ending {
		panic(stopped{})
	}
}

// cleanup registers f to run on a host when the case has finished, before what was registered earlier.
func (t *T) cleanup(h int, f func() error) {
	t.undo = append(t.undo, func() {
		t.on(h, func() {
			if err := f(); err != nil {
				t.errorf("cleanup: %v", err)
			}
		})
	})
}

// known reports whether the backend is known to return another status here.
func (t *T) known(want, says verbs.Status) bool {
	return t.differ(func(d Difference) bool { return !d.Lost && d.Want == want && d.Says == says }, says.String(), want)
}

// lost reports whether this completion is known to be missing at times.
func (t *T) lost(want verbs.Status) bool {
	return t.differ(func(d Difference) bool { return d.Lost && d.Want == want }, "no completion, at times,", want)
}

func (t *T) differ(is func(Difference) bool, says string, want verbs.Status) bool {
	for _, d := range t.differs {
		if d.Case == t.name && is(d) {
			t.notef("%s instead of %v: %s", says, want, d.Why)
			return true
		}
	}
	return false
}
