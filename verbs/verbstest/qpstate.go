package verbstest

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// states are the states that a reliable connection can reach. SQE is not one of them: only
// unreliable queue pairs enter it, by themselves.
func states() []verbs.QPState {
	return []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR, verbs.StateRTS, verbs.StateSQD, verbs.StateErr}
}

func stateCases() []testCase {
	out := []testCase{
		{"reconnect", 0, reconnect},
		{"reconnect-after-error", 0, reconnectAfterError},
		{"reset-wipes", 0, resetWipes},
		{"reset-forgets", 0, resetForgets},
		{"err-flushes", 0, errFlushes},
		{"init-takes-receives", 0, initTakesReceives},
		{"rtr-does-not-send", 0, rtrDoesNotSend},
		{"reset-takes-nothing", 0, resetTakesNothing},
		{"sqd-holds-requests", 0, sqdHolds},
		{"sqd-resumes", 0, sqdResumes},
		{"sqd-responds", 0, sqdResponds},
		{"access-changes", 0, accessChanges},
		{"connect-twice", 0, connectTwice},
		{"bad-endpoint", 0, badEndpoint},
	}
	for _, from := range states() {
		for _, to := range append(states(), verbs.StateSQE) {
			out = append(out, testCase{fmt.Sprintf("%v-to-%v", from, to), 0, func(t *T) { transition(t, from, to) }})
		}
	}
	return out
}

// row returns the row of the state machine from one state to another, and whether there
// is one. RESET can always be reached, and ERR from all others.
func row(from, to verbs.QPState) (verbs.Transition, bool) {
	for _, r := range verbs.Transitions {
		if r.From == from && r.To == to {
			return r, true
		}
	}
	return verbs.Transition{From: from, To: to}, verbs.CheckTransition(from, to, 0) == nil
}

// step modifies the queue pair to a state with the attributes that the state machine
// requires.
func (e *end) step(to verbs.QPState, more verbs.Attr) error {
	r, _ := row(e.state(), to)
	return e.tryModify(verbs.QPAttr{SetState: true, State: to, Mask: r.Required | more, Access: allRemote})
}

// bring brings a connected queue pair to a state, by way of RESET.
func (e *end) bring(to verbs.QPState) {
	e.settled(verbs.QPAttr{SetState: true, State: verbs.StateReset}) // it may be in SQD
	path := []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR, verbs.StateRTS}
	switch to {
	case verbs.StateSQD, verbs.StateErr:
		path = append(path, to)
	default:
		path = path[:to+1]
	}
	for _, s := range path[1:] {
		e.t.check(e.step(s, 0))
	}
	if s := e.state(); s != to {
		e.t.fatalf("it is in %v, want %v", s, to)
	}
}

// transition tries one row of the table: without required attributes and with
// unaccepted ones it is refused and changes nothing; with the required ones it works,
// and with each optional one. Other transitions are refused.
func transition(t *T, from, to verbs.QPState) {
	a, _ := t.pair(verbs.QPConfig{})
	a.bring(from)
	r, ok := row(from, to)
	refused := func(mask verbs.Attr) {
		err := a.tryModify(verbs.QPAttr{SetState: true, State: to, Mask: mask, Access: allRemote})
		t.refused(fmt.Sprintf("%v to %v with %v", from, to, mask), err, verbs.ErrState)
		if s := a.state(); s != from {
			t.fatalf("a refused change from %v took it to %v", from, s)
		}
	}
	if !ok {
		refused(0)
		refused(verbs.AttrAccess)
		return
	}
	for bit := verbs.AttrPort; bit <= verbs.AttrAltPath; bit <<= 1 {
		if r.Required&bit != 0 {
			refused(r.Required &^ bit)
		} else if r.Optional&bit == 0 {
			refused(r.Required | bit)
		}
	}
	for bit := verbs.Attr(0); bit <= verbs.AttrAltPath; bit = max(1, bit<<1) {
		if bit != 0 && r.Optional&bit == 0 || bit == verbs.AttrAltPath { // there is no alternate path here
			continue
		}
		a.bring(from)
		a.settled(verbs.QPAttr{SetState: true, State: to, Mask: r.Required | bit, Access: allRemote})
		if s := a.state(); s != to {
			t.errorf("%v to %v with %v ended in %v", from, to, r.Required|bit, s)
		}
	}
}

// reconnect takes both ends through RESET and back, by hand.
func reconnect(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 1)
	a.done(a.write(1, 0, 8, b, 0))
	again(t, a, b)
}

// So can a connection that has failed.
func reconnectAfterError(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	bad := a.write(1, 0, 8, b, 0)
	bad.RKey ^= 0x5500
	a.post(bad)
	a.want(1, verbs.StatusRemAccessErr)
	again(t, a, b)
}

func again(t *T, a, b *end) {
	for _, s := range []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
		t.check(b.step(s, 0))
		t.check(a.step(s, 0))
	}
	a.setWord(0, 11)
	b.setWord(8, 12)
	a.post(a.write(2, 0, 8, b, 40), a.read(3, 16, 8, b, 8))
	a.want(2, verbs.StatusSuccess)
	a.want(3, verbs.StatusSuccess)
	b.done(b.read(4, 24, 8, a, 0))
	if v, w, x := b.word(40), a.word(16), b.word(24); v != 11 || w != 12 || x != 11 {
		t.errorf("after it was connected again: %d, %d and %d", v, w, x)
	}
}

// RESET discards queued requests: they do not complete, and are not sent when the queue
// pair is connected again.
func resetWipes(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.recv(verbs.RecvWR{ID: 1}, verbs.RecvWR{ID: 2})
	a.setWord(8, 9)
	a.post(a.send(3, 8, 8)) // b has no receive for it
	t.check(a.step(verbs.StateReset, 0))
	a.nothing(a.cq)
	a.nothing(a.rcq)
	for _, s := range []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
		t.check(b.step(s, 0))
		t.check(a.step(s, 0))
	}
	b.recv(verbs.RecvWR{ID: 4, SGL: b.list(64, 8)}, verbs.RecvWR{ID: 5, SGL: b.list(64, 8)})
	a.setWord(0, 5)
	a.done(a.send(6, 0, 8))
	b.wantRecv(4, verbs.StatusSuccess)
	if v := b.word(64); v != 5 {
		t.errorf("received %d, want 5", v)
	}
	b.nothing(b.rcq)
}

// A RESET also discards completions that were not polled, wherever they are.
func resetForgets(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.recv(verbs.RecvWR{ID: 5, SGL: a.list(64, 8)})
	b.recv(verbs.RecvWR{ID: 6, SGL: b.list(64, 8)})
	last := a.send(4, 0, 8)
	last.Flags = 0
	a.post(a.write(1, 0, 8, b, 0), a.write(2, 0, 8, b, 8), a.write(3, 0, 8, b, 16), last)
	b.wantRecv(6, verbs.StatusSuccess)
	b.done(b.send(7, 0, 8))
	a.wantRecv(5, verbs.StatusSuccess) // the acknowledgements were on the way before it
	a.want(1, verbs.StatusSuccess)
	t.check(a.step(verbs.StateReset, 0))
	a.nothing(a.cq)
}

// ERR flushes queued requests, in order, each side separately.
func errFlushes(t *T) {
	a, _ := t.pair(verbs.QPConfig{})
	a.recv(verbs.RecvWR{ID: 1}, verbs.RecvWR{ID: 2})
	quiet := a.send(4, 0, 8)
	quiet.Flags = 0
	a.post(a.send(3, 0, 8), quiet, a.send(5, 0, 8)) // the peer has no receive for them
	a.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	for id := uint64(3); id <= 5; id++ {
		a.want(id, verbs.StatusWRFlushErr)
	}
	a.wantRecv(1, verbs.StatusWRFlushErr)
	a.wantRecv(2, verbs.StatusWRFlushErr)
	a.failed()
}

// Receives can be posted before the connection exists.
func initTakesReceives(t *T) {
	a, b := t.newEnd(0, endConfig{}), t.newEnd(1, endConfig{})
	b.recv(verbs.RecvWR{ID: 1, SGL: b.list(0, 8)})
	t.connect(a, b)
	a.setWord(0, 5)
	a.done(a.send(2, 0, 8))
	b.wantRecv(1, verbs.StatusSuccess)
	if v := b.word(0); v != 5 {
		t.errorf("received %d, want 5", v)
	}
}

// In RTR a queue pair answers and receives, but accepts no send requests.
func rtrDoesNotSend(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for _, s := range []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR} {
		t.check(b.step(s, 0))
		t.check(a.step(s, 0))
	}
	t.refused("a post in RTR", b.tryPost(b.send(1, 0, 8)), verbs.ErrState)
	b.recv(verbs.RecvWR{ID: 2, SGL: b.list(64, 8)})
	t.check(a.step(verbs.StateRTS, 0))
	a.setWord(0, 4)
	a.post(a.write(3, 0, 8, b, 0), a.send(4, 0, 8))
	a.want(3, verbs.StatusSuccess)
	a.want(4, verbs.StatusSuccess)
	b.wantRecv(2, verbs.StatusSuccess)
	if v, w := b.word(0), b.word(64); v != 4 || w != 4 {
		t.errorf("in RTR it took %d and %d", v, w)
	}
}

// In RESET a queue pair accepts no work, and in INIT receives only.
func resetTakesNothing(t *T) {
	a, _ := t.pair(verbs.QPConfig{})
	t.check(a.step(verbs.StateReset, 0))
	t.refused("a receive in RESET", a.tryRecv(verbs.RecvWR{ID: 1}), verbs.ErrState)
	t.refused("a post in RESET", a.tryPost(a.send(2, 0, 8)), verbs.ErrState)
	t.check(a.step(verbs.StateInit, 0))
	t.refused("a post in INIT", a.tryPost(a.send(3, 0, 8)), verbs.ErrState)
	a.recv(verbs.RecvWR{ID: 4})
	a.modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	a.wantRecv(4, verbs.StatusWRFlushErr)
	a.nothing(a.cq)
}

// held returns a connection with one end that was in SQD, has accepted requests there,
// and is in RTS again.
func held(t *T) (a, b *end) {
	a, b = t.pair(verbs.QPConfig{})
	a.done(a.write(1, 0, 8, b, 0))
	a.modify(verbs.QPAttr{SetState: true, State: verbs.StateSQD})
	a.setWord(0, 6)
	bad := a.write(3, 0, 8, b, 0)
	bad.RKey ^= 0x5500
	a.post(a.write(2, 0, 8, b, 8), bad)
	a.nothing(a.cq)
	if v := b.word(8); v != 0 {
		t.errorf("in SQD a request was executed")
	}
	a.settled(verbs.QPAttr{SetState: true, State: verbs.StateRTS})
	return a, b
}

// settled modifies a queue pair in SQD, which may be refused while it drains.
func (e *end) settled(a verbs.QPAttr) {
	e.t.on(e.host, func() {
		began := e.h.Now()
		err := e.qp.Modify(a)
		for errors.Is(err, verbs.ErrInvalid) && e.h.Now()-began < patience {
			_, _ = e.cq.Wait(make([]verbs.WC, 1), time.Millisecond)
			err = e.qp.Modify(a)
		}
		e.t.check(err)
	})
}

// In SQD requests are accepted and wait until the queue pair is in RTS again.
func sqdHolds(t *T) {
	a, b := held(t)
	a.post(a.write(4, 0, 8, b, 0))
	a.want(2, verbs.StatusSuccess)
	a.want(3, verbs.StatusRemAccessErr)
	a.want(4, verbs.StatusWRFlushErr)
}

// Then they resume by themselves.
func sqdResumes(t *T) {
	a, _ := held(t)
	a.want(2, verbs.StatusSuccess)
	a.want(3, verbs.StatusRemAccessErr)
}

// In SQD it still answers and receives.
func sqdResponds(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	b.recv(verbs.RecvWR{ID: 1, SGL: b.list(64, 8)})
	b.modify(verbs.QPAttr{SetState: true, State: verbs.StateSQD})
	a.setWord(0, 4)
	a.post(a.write(2, 0, 8, b, 0), a.read(3, 8, 8, b, 0), a.send(4, 0, 8))
	for id := uint64(2); id <= 4; id++ {
		a.want(id, verbs.StatusSuccess)
	}
	b.wantRecv(1, verbs.StatusSuccess)
	if v, w := a.word(8), b.word(64); v != 4 || w != 4 {
		t.errorf("in SQD it answered %d and received %d", v, w)
	}
}

// Access can be revoked and granted again while nothing is in flight.
func accessChanges(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.done(a.write(1, 0, 8, b, 0))
	b.modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.RemoteRead})
	a.done(a.read(2, 0, 8, b, 0))
	b.modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: allRemote})
	a.done(a.write(3, 0, 8, b, 0))
	b.modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.RemoteRead})
	a.post(a.write(4, 0, 8, b, 0))
	a.want(4, verbs.StatusRemInvReqErr)
}

func connectTwice(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	to := b.endpoint()
	t.on(a.host, func() {
		_, err := a.prepared.Connect(to)
		t.refused("a second Connect", err, verbs.ErrState)
	})
	a.done(a.write(1, 0, 8, b, 0))
}

// An invalid endpoint is refused, and the queue pair can still be connected.
func badEndpoint(t *T) {
	a, b := t.newEnd(0, endConfig{}), t.newEnd(1, endConfig{})
	good := b.endpoint()
	for _, x := range []struct {
		what   string
		change func(*verbs.Endpoint)
	}{
		{"QPN 0", func(e *verbs.Endpoint) { e.QPN = 0 }}, {"QPN of 25 bits", func(e *verbs.Endpoint) { e.QPN = 1 << 24 }},
		{"PSN of 25 bits", func(e *verbs.Endpoint) { e.PSN = 1 << 24 }}, {"MTU 0", func(e *verbs.Endpoint) { e.MTU = 0 }},
		{"MTU 1500", func(e *verbs.Endpoint) { e.MTU = 1500 }},
	} {
		bad := good
		x.change(&bad)
		t.on(a.host, func() {
			_, err := a.prepared.Connect(bad)
			t.refused(x.what, err, verbs.ErrInvalid)
		})
	}
	t.connect(a, b)
	a.done(a.write(1, 0, 8, b, 0))
}
