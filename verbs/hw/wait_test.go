//go:build rdma

package hw

import (
	"runtime"
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
	var events []Event
	d := open(t, Config{Spin: NoSpin, OnEvent: func(e Event) { events = append(events, e) }})
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
	d.happened(Event{Text: "injected", Fatal: true}, true)
	for range waits {
		wantError(t, <-done, ErrDead)
	}
	for _, wait := range waits {
		wantError(t, wait(), ErrDead)
	}
	_, err := a.Poll(make([]verbs.WC, 1))
	wantError(t, err, ErrDead)
	if len(events) != 1 || events[0].String() != d.name+": injected" {
		t.Errorf("events %v", events)
	}
	check(t, a.Destroy())
	check(t, b.Destroy())
	check(t, ch.Destroy())
}

// The card says which CQ has lost completions, and which QP has failed: those who use them
// learn of it, and nobody else.
func TestObjectsLearnOfTheirErrors(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	d := a.qp.(*qp).d
	done := make(chan error)
	go func() {
		_, err := a.cq.Wait(make([]verbs.WC, 1), verbs.Forever)
		done <- err
	}()
	d.happened(Event{About: AboutCQ, Number: a.cq.(*cq).handle, Text: "injected"}, true)
	wantError(t, <-done, verbs.ErrInvalid, "injected", "overflowed")
	if n, err := b.cq.Poll(make([]verbs.WC, 1)); n != 0 || err != nil {
		t.Error("another CQ: ", n, err)
	}
	d.happened(Event{About: AboutQP, Number: b.qp.Num(), Text: "communication established"}, false)
	if err := b.qp.(*qp).Err(); err != nil {
		t.Error("an event that is no error: ", err)
	}
	d.happened(Event{About: AboutQP, Number: b.qp.Num(), Text: "injected"}, true)
	wantError(t, b.qp.(*qp).Err(), verbs.ErrState, "injected")
	if err := a.qp.(*qp).Err(); err != nil {
		t.Error("another QP: ", err)
	}
}

// A CQ that is too small for its queue pairs loses completions. Its waiter learns of that
// after those that are there, and does not wait forever for the others.
func TestOverflow(t *testing.T) {
	d := open(t, Config{Spin: NoSpin})
	small := must[verbs.CQ](t)(d.CreateCQ(4, nil))
	t.Cleanup(func() { check(t, small.Destroy()) })
	cfg := verbs.QPConfig{Access: all &^ verbs.LocalWrite, MaxSendWR: 256}
	a, b := newEnd(t, d, nil, cfg, all), newEnd(t, d, nil, cfg, all)
	a.destroy()
	cfg.SendCQ, cfg.RecvCQ = small, a.cq
	a.prepared = must[verbs.PreparedQP](t)(a.pd.CreateQP(cfg))
	connect(t, a, b)
	wrs := []verbs.SendWR{{Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 8)}}
	const posted = 200
	for range posted {
		check(t, a.qp.PostSend(wrs))
	}
	wc := make([]verbs.WC, 8)
	for got := 0; ; {
		n, err := small.Wait(wc, patience)
		if err != nil {
			wantError(t, err, verbs.ErrInvalid, "overflowed")
			t.Log(err)
			return
		}
		if got += n; got == posted {
			t.Fatal("none was lost")
		}
	}
}
