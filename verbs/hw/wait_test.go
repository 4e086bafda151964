//go:build rdma

package hw

import (
	"runtime"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Destroying a CQ wakes its waiters.
func TestDestroyWakes(t *testing.T) {
	d := open(t, Config{Spin: NoSpin})
	q := must[verbs.CQ](t)(d.CreateCQ(4, nil))
	done := make(chan error)
	go func() {
		_, err := q.Wait(make([]verbs.WC, 1), verbs.Forever)
		done <- err
	}()
	ch := q.(*cq).ch
	for sleeping := false; !sleeping; { // until it sleeps
		ch.mu.Lock()
		sleeping = ch.asleep.Len() > 0
		ch.mu.Unlock()
	}
	check(t, q.Destroy())
	wantError(t, <-done, verbs.ErrClosed)
}

// A device that dies wakes all who wait for it, and nothing waits for it afterwards.
func TestDeathWakes(t *testing.T) {
	var events []string
	d := open(t, Config{Spin: NoSpin, OnEvent: func(text string) { events = append(events, text) }})
	ch := must[verbs.CompChannel](t)(d.CreateCompChannel())
	a := must[verbs.CQ](t)(d.CreateCQ(4, ch))
	b := must[verbs.CQ](t)(d.CreateCQ(4, nil))
	waits := []func() error{
		func() error { _, err := a.Wait(make([]verbs.WC, 1), verbs.Forever); return err },
		func() error { _, err := b.Wait(make([]verbs.WC, 1), verbs.Forever); return err },
		func() error { _, err := ch.Wait(verbs.Forever); return err },
		func() error { return ch.Gather([]verbs.CQ{a}, make([]verbs.WC, 1), verbs.Forever) },
	}
	done := make(chan error)
	for _, wait := range waits {
		go func() { done <- wait() }()
	}
	asleep := func(x *channel) int {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.asleep.Len()
	}
	for asleep(ch.(*channel)) < 3 || asleep(b.(*cq).ch) < 1 { // until all sleep
		runtime.Gosched()
	}
	d.happened(true, "injected")
	for range waits {
		wantError(t, <-done, ErrDead)
	}
	for _, wait := range waits {
		wantError(t, wait(), ErrDead)
	}
	_, err := a.Poll(make([]verbs.WC, 1))
	wantError(t, err, ErrDead)
	if len(events) != 1 || !strings.Contains(events[0], "injected") {
		t.Errorf("events %q", events)
	}
	check(t, a.Destroy())
	check(t, b.Destroy())
	check(t, ch.Destroy())
}
