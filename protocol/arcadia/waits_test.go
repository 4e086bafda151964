package arcadia

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

var errBroken = errors.New("the store is broken")

type store = Store // whose embedding does not hide its method Store

// broken is a Store whose next Force fails, but not before it may.
type broken struct {
	store
	may chan struct{}
}

func (b broken) Force(int, int) error {
	<-b.may
	return errBroken
}

// watched is a condition that reports each task before it waits. The task holds the mutex then, so what another task
// does under the mutex comes after it waits.
type watched struct {
	host.Cond
	waits chan struct{}
}

func (w watched) Wait() {
	w.waits <- struct{}{}
	w.Cond.Wait()
}

// breaking returns a log whose next Force fails, and what its tasks wait for.
func breaking(t *testing.T) (l *Log, may, waits chan struct{}) {
	l, _ = newF().open(t, 640)
	may, waits = make(chan struct{}), make(chan struct{}, 8)
	l.mem, l.wake = broken{l.mem, may}, watched{l.wake, waits}
	return l, may, waits
}

// fails requires that a task ends with the error of the store.
func fails(t *testing.T, what string, done chan error) {
	t.Helper()
	select {
	case err := <-done:
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(patience):
		t.Errorf("%s waits for ever", what)
	}
}

func inTask(f func() error) chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// A Force that fails wakes the tasks whose Force waits for it.
func TestFailedForceWakesThoseBehindIt(t *testing.T) {
	l, may, waits := breaking(t)
	a, b := put(t, l, "1"), put(t, l, "2")
	one := inTask(func() error { return a.Force(1) })
	for leads := false; !leads; {
		l.mu.Lock()
		leads = l.forcing
		l.mu.Unlock()
	}
	two := inTask(func() error { return b.Force(1) })
	<-waits
	close(may)
	fails(t, "the Force that leads", one)
	fails(t, "the Force behind it", two)
}

// A Force that waits for an incomplete record returns once the log has failed: nobody may complete the record any more.
func TestFailedLogEndsTheWaitForARecord(t *testing.T) {
	l, may, waits := breaking(t)
	a := put(t, l, "1")
	_, err := l.Reserve(8) // and abandons it
	ok(t, err)
	c := put(t, l, "3")
	waiting := inTask(func() error { return c.Force(1) })
	<-waits
	close(may)
	fails(t, "the Force of a complete record", inTask(func() error { return a.Force(1) }))
	fails(t, "the Force that waits for a record", waiting)
}
