package soft

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// held is a link of r without a sender: pick returns the request that it would send.
func (r *rig) held(t *testing.T, wrs ...verbs.SendWR) *link {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { check(t, here.Close()) })
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	l := newLink(r.q)
	l.conn, r.q.out = there, l
	for i := range wrs {
		check(t, r.q.postOne(&wrs[i]))
	}
	return l
}

// picks is how many requests can be sent now.
func (l *link) picks() (n int) {
	for more := true; more; n++ {
		more, _ = l.pick()
	}
	return n - 1
}

// A fenced request waits for Reads before it; one that is not does not.
func TestFenceWaits(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	read, write := r.write(1, r, 8), r.write(2, r, 8)
	read.Op = verbs.OpRead
	fenced := write
	fenced.Flags |= verbs.Fence
	l := r.held(t, read, write, fenced, write)
	if n := l.picks(); n != 2 {
		t.Errorf("%d requests are sent before the Read is done, want 2", n)
	}
	if !l.answered(answer{kind: data, seq: l.seq(0), length: 8}, make([]byte, 8)) {
		t.Fatal("the answer is refused")
	}
	if n := l.picks(); n != 2 {
		t.Errorf("%d requests are sent after the Read is done, want 2", n)
	}
}

// No more Reads and Atomics are under way than MaxRdAtomic, and what is behind them waits too.
func TestOutstandingReads(t *testing.T) {
	r := newRig(t, verbs.QPConfig{MaxRdAtomic: 2})
	read, write := r.write(1, r, 8), r.write(2, r, 8)
	read.Op = verbs.OpRead
	l := r.held(t, read, read, write, read, write)
	if n := l.picks(); n != 3 {
		t.Errorf("%d requests are sent at once, want 3", n)
	}
	if !l.answered(answer{kind: data, seq: l.seq(0), length: 8}, make([]byte, 8)) {
		t.Fatal("the answer is refused")
	}
	if n := l.picks(); n != 2 {
		t.Errorf("%d requests are sent when one Read is done, want 2", n)
	}
}

// A hello that comes late takes the place of no younger connection.
func TestLateHello(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	h := hello{to: r.q.num, from: 77, psn: 99, life: 2, gid: r.d.at.Addr().As16(), port: 9}
	here, there := net.Pipe()
	in := r.d.admit(h, there)
	older, same := h, h
	older.life = 1
	if in == nil || r.d.admit(older, there) != nil {
		t.Error("the older connection is taken, or the first is not")
	}
	again := r.d.admit(same, there)
	if again == nil || !in.dead {
		t.Error("another try of the same requester is not taken")
	}
	again.leave()
	check(t, here.Close())
}

// A connection of before a RESET does nothing after it, whatever it has buffered.
func TestResetEndsConnection(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	here, there := net.Pipe()
	in := r.d.admit(hello{to: r.q.num, from: 77, psn: 99, gid: r.d.at.Addr().As16(), port: 9}, there)
	r.again(t)
	if v, _ := in.begin(&request{op: verbs.OpWrite, length: 8, rkey: r.mr.RKey(), addr: r.mr.Addr()}); v != gone {
		t.Errorf("it goes on: %d", v)
	}
	check(t, here.Close())
}

// A refused requester can finish its current request, and then receives the refusal.
func TestRefusalArrives(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	c := must[net.Conn](t)(net.Dial("tcp", r.d.Addr()))
	defer c.Close()
	bad := request{op: verbs.OpWrite, length: 8, rkey: r.mr.RKey() ^ 1, addr: r.mr.Addr(), seq: 99}
	b := append(bad.append(r.hello()), make([]byte, 16<<20)...)
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, welcomeSize+answerSize)
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	if a, err := parseAnswer(got[welcomeSize:]); err != nil || a.kind != nak || a.status != verbs.StatusRemAccessErr {
		t.Error(a, err)
	}
}

// One request that has succeeded gives the next one all tries for a missing receive.
func TestRNRTriesAreOfEachRequest(t *testing.T) {
	r := newRig(t, verbs.QPConfig{RNRRetry: 1})
	send := r.write(1, r, 8)
	send.Op = verbs.OpSend
	l := r.held(t, send, send)
	seq := l.seq(0)
	for i, x := range []struct {
		a    answer
		want verbs.QPState
	}{{answer{kind: rnr, seq: seq}, verbs.StateRTS}, {answer{kind: ack, seq: seq}, verbs.StateRTS},
		{answer{kind: rnr, seq: seq + 1}, verbs.StateRTS}, {answer{kind: rnr, seq: seq + 1}, verbs.StateErr}} {
		r.q.mu.Lock()
		l.notBefore = time.Time{} // the time between two tries is over
		r.q.mu.Unlock()
		l.picks()
		if ok := l.answered(x.a, nil); !ok || r.q.State() != x.want {
			t.Fatalf("answer %d: %v, and the queue pair is in %v, want %v", i, ok, r.q.State(), x.want)
		}
	}
	if a, b := r.next(t), r.next(t); a.Status != verbs.StatusSuccess || b.Status != verbs.StatusRNRRetryExcErr {
		t.Error(a, b)
	}
}

// A request whose memory goes while it is sent fails, as nobody answers it.
func TestMemoryGoesMidway(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	mr := must[verbs.MR](t)(r.pd.RegisterMR(newGuarded(t), 0))
	wr := r.write(1, r, 8)
	wr.SGL = []verbs.SGE{{Addr: mr.Addr(), Length: 8, LKey: mr.LKey()}}
	l := r.held(t, wr)
	if n, _ := l.pick(); !n {
		t.Fatal("it is not sent")
	}
	check(t, mr.Dereg())
	l.write(bufio.NewWriter(io.Discard))
	if wc := r.next(t); wc.Status != verbs.StatusLocProtErr {
		t.Error(wc)
	}
}

// After a request that was sent in part, whose memory has gone, nothing can be sent again: the
// peer would take it for the rest of that request. So a receive that is missing for an earlier
// one fails the connection, whichever of the two the requester learns first.
func TestNothingFollowsACutRequest(t *testing.T) {
	for name, rnrFirst := range map[string]bool{"the receive is missing first": true, "the memory goes first": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, verbs.QPConfig{RNRRetry: 7})
			mr := must[verbs.MR](t)(r.pd.RegisterMR(newGuarded(t), 0))
			send, wr := r.write(1, r, 8), r.write(2, r, 8)
			send.Op = verbs.OpSend
			wr.SGL = []verbs.SGE{{Addr: mr.Addr(), Length: 8, LKey: mr.LKey()}}
			l := r.held(t, send, wr)
			if n := l.picks(); n != 2 {
				t.Fatalf("%d requests are sent, want 2", n)
			}
			check(t, mr.Dereg())
			missing := answer{kind: rnr, seq: l.seq(0)}
			if rnrFirst && !l.answered(missing, nil) {
				t.Fatal("the answer is refused")
			}
			l.write(bufio.NewWriter(io.Discard))
			if !rnrFirst && l.answered(missing, nil) {
				t.Fatal("the Send is to be sent again")
			}
			r.q.mu.Lock()
			l.notBefore = time.Time{} // the time between two tries is over
			r.q.mu.Unlock()
			if n := l.picks(); n != 0 {
				t.Errorf("%d requests are sent in the middle of one", n)
			}
			if open := l.conn.SetDeadline(time.Time{}) == nil; open && rnrFirst {
				t.Fatal("the connection stays open")
			}
			l.broke() // as receive does when the connection is closed or the answer is refused
			for id, want := range []verbs.Status{verbs.StatusRetryExcErr, verbs.StatusWRFlushErr} {
				if wc := r.next(t); wc.ID != uint64(id+1) || wc.Status != want {
					t.Errorf("%+v, want %v", wc, want)
				}
			}
		})
	}
}

// A request that cannot be sent fails after those before it, also if one of them must be sent
// again.
func TestMissingReceiveBeforeABadRequest(t *testing.T) {
	r := newRig(t, verbs.QPConfig{RNRRetry: 7})
	send, bad := r.write(1, r, 8), r.write(2, r, 8)
	send.Op = verbs.OpSend
	bad.SGL = []verbs.SGE{{Addr: r.mr.Addr(), Length: 8, LKey: r.mr.LKey() ^ 1}}
	l := r.held(t, send, bad)
	for i, kind := range []kind{rnr, ack} {
		if n := l.picks(); n != 1 {
			t.Errorf("try %d: %d requests are sent, want 1", i, n)
		}
		if !l.answered(answer{kind: kind, seq: l.seq(0)}, nil) {
			t.Fatal("the answer is refused")
		}
		r.q.mu.Lock()
		l.notBefore = time.Time{}
		r.q.mu.Unlock()
	}
	for id, want := range []verbs.Status{verbs.StatusSuccess, verbs.StatusLocProtErr} {
		if wc := r.next(t); wc.ID != uint64(id+1) || wc.Status != want {
			t.Errorf("%+v, want %v", wc, want)
		}
	}
}

// A connection that breaks while nothing is under way fails the next request.
func TestBreaksWhileIdle(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	l := r.held(t)
	check(t, l.conn.Close())
	l.receive(l.conn)
	r.q.mu.Lock()
	wr := r.write(1, r, 8)
	check(t, r.q.postOne(&wr))
	r.q.mu.Unlock()
	l.pick()
	if wc := r.next(t); wc.Status != verbs.StatusRetryExcErr {
		t.Error(wc)
	}
}

// A peer may be silent for as long as all tries take.
func TestSilenceIsTolerated(t *testing.T) {
	welcome := func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, helloSize)); err == nil {
			_, _ = c.Write(appendWelcome(nil, false)) // it may have gone
		}
	}
	for name, serve := range map[string]func(net.Conn){"at once": func(net.Conn) {}, "later": welcome} {
		t.Run(name, func(t *testing.T) {
			const timeout, tries = 40 * time.Millisecond, 4
			r := newRig(t, verbs.QPConfig{RetryCount: tries - 1})
			r.d.cfg.Timeout = timeout
			r.q.remote.LID = silent(t, serve)
			begin := time.Now()
			check(t, r.q.PostSend([]verbs.SendWR{r.write(1, r, 8)}))
			if wc, took := r.next(t), time.Since(begin); wc.Status != verbs.StatusRetryExcErr || took < (tries-1)*timeout {
				t.Errorf("%v after %v, want %v after %v", wc.Status, took, verbs.StatusRetryExcErr, tries*timeout)
			}
		})
	}
}

// joined connects a queue pair of each of two devices, and returns that of the first.
func joined(t *testing.T, a, b *rig) (verbs.QP, verbs.Endpoint) {
	t.Helper()
	cfg := func(r *rig) verbs.QPConfig {
		return verbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Access: everything, MaxSGE: 1}
	}
	p, q := must[verbs.PreparedQP](t)(a.pd.CreateQP(cfg(a))), must[verbs.PreparedQP](t)(b.pd.CreateQP(cfg(b)))
	here, there := p.Endpoint(), q.Endpoint()
	one, other := must[verbs.QP](t)(p.Connect(there)), must[verbs.QP](t)(q.Connect(here))
	t.Cleanup(func() { check(t, one.Destroy()); check(t, other.Destroy()) })
	return one, there
}

// A device that is cut off from one of another process reaches it no more, over old connections and new ones, until
// the cut is over.
func TestCutByEndpoint(t *testing.T) {
	a, b := newRig(t, verbs.QPConfig{}), newRig(t, verbs.QPConfig{})
	write := func(q verbs.QP) verbs.Status {
		t.Helper()
		check(t, q.PostSend([]verbs.SendWR{a.write(1, b, 8)}))
		return a.next(t).Status
	}
	q, there := joined(t, a, b)
	if s := write(q); s != verbs.StatusSuccess {
		t.Errorf("before: %v", s)
	}
	check(t, Cut(a.d, there, true))
	if s := write(q); s != verbs.StatusRetryExcErr {
		t.Errorf("over an old connection: %v", s)
	}
	q, _ = joined(t, a, b)
	if s := write(q); s != verbs.StatusRetryExcErr {
		t.Errorf("over a new connection: %v", s)
	}
	check(t, Cut(a.d, there, false))
	q, _ = joined(t, a, b)
	if s := write(q); s != verbs.StatusSuccess {
		t.Errorf("after: %v", s)
	}
	if err := Cut(nil, there, true); !errors.Is(err, verbs.ErrUnsupported) {
		t.Error(err)
	}
}
