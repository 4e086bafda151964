package soft

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

const patience = 20 * time.Second

func TestConfig(t *testing.T) {
	for _, x := range []struct {
		cfg  Config
		want string
	}{
		{Config{Listen: "nowhere:1"}, `Listen "nowhere:1"`},
		{Config{Listen: ":7000"}, "that peers can reach"},
		{Config{Listen: "0.0.0.0:0"}, "that peers can reach"},
		{Config{Listen: "[::]:0"}, "that peers can reach"},
		{Config{Timeout: -1}, "Timeout is -1ns"},
		{Config{RNRTimer: time.Hour}, "RNRTimer is 1h"},
		{Config{MaxConns: -1}, "MaxConns is -1"},
	} {
		_, err := Open(x.cfg)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x.cfg, err)
		}
	}
	if _, err := Open(Config{Listen: "192.0.2.77:0"}); err == nil || errors.Is(err, ErrConfig) {
		t.Errorf("an address of another machine: %v", err)
	}
	if c := (Config{Listen: "[::ffff:127.0.0.1]:0"}); c.Validate() != nil {
		t.Error("a mapped address is refused")
	} else if a, _ := c.address(); a.Addr() != netip.MustParseAddr("127.0.0.1") {
		t.Error(a)
	}
}

// couple is two devices with a queue pair each, connected to each other.
func couple(t testing.TB, cfg verbs.QPConfig) (a, b *rig) {
	t.Helper()
	a, b = newRig(t, cfg), newRig(t, cfg)
	prepare := func(x *rig) verbs.PreparedQP {
		p := must[verbs.PreparedQP](t)(x.pd.CreateQP(x.q.cfg))
		t.Cleanup(func() { check(t, p.Destroy()) })
		return p
	}
	pa, pb := prepare(a), prepare(b)
	a.q = must[verbs.QP](t)(pa.Connect(pb.Endpoint())).(*qp)
	b.q = must[verbs.QP](t)(pb.Connect(pa.Endpoint())).(*qp)
	return a, b
}

// write is a Write of n bytes to the same place of another rig's memory.
func (r *rig) write(id uint64, to *rig, n int) verbs.SendWR {
	return verbs.SendWR{ID: id, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: to.mr.RKey(), RemoteAddr: to.mr.Addr(), SGL: r.list(0, n)}
}

func (r *rig) next(t testing.TB) verbs.WC {
	t.Helper()
	var wc [1]verbs.WC
	if _, err := r.cq.Wait(wc[:], patience); err != nil {
		t.Fatal(err)
	}
	return wc[0]
}

// A post, what comes of it and the wait for it allocate nothing.
func TestPostAndWaitAllocateNothing(t *testing.T) {
	a, b := couple(t, verbs.QPConfig{})
	wrs := []verbs.SendWR{a.write(1, b, 128), a.write(2, b, 8)}
	wrs[0].Flags = 0
	wc := make([]verbs.WC, 4)
	if n := testing.AllocsPerRun(200, func() {
		if err := a.q.PostSend(wrs); err != nil {
			t.Fatal(err)
		}
		if n, err := a.cq.Wait(wc, patience); n != 1 || err != nil || wc[0].Status != verbs.StatusSuccess {
			t.Fatal(n, err, wc[0])
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// crowded is a listener of a system that has no more connections to give.
type crowded struct {
	net.Listener
	asked chan struct{}
}

func (c crowded) Accept() (net.Conn, error) {
	close(c.asked)
	return nil, errors.New("too many open files")
}

func (crowded) Close() error { return nil }

// A device that waits until connections are available again can be closed at once.
func TestCloseWhileNoConnectionIsAvailable(t *testing.T) {
	c := crowded{asked: make(chan struct{})}
	d := &device{cfg: Config{RNRTimer: time.Minute}, lis: c, conns: make(chan struct{}, 1), done: make(chan struct{})}
	d.tasks.Go(d.accept)
	<-c.asked
	closed := make(chan error, 1)
	go func() { closed <- d.Close() }()
	select {
	case err := <-closed:
		check(t, err)
	case <-time.After(patience):
		t.Error("Close waits")
	}
}

// A CQ that is destroyed wakes those who wait for it.
func TestDestroyWakes(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	q := must[verbs.CQ](t)(r.d.CreateCQ(4, nil))
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
	if err := <-done; !errors.Is(err, verbs.ErrClosed) {
		t.Error(err)
	}
}

// A CQ that is too small for its queue pairs reports an overflow.
func TestOverflow(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	small := must[verbs.CQ](t)(r.d.CreateCQ(1, nil))
	t.Cleanup(func() { check(t, small.Destroy()) })
	p := must[verbs.PreparedQP](t)(r.pd.CreateQP(verbs.QPConfig{SendCQ: small, RecvCQ: r.cq}))
	t.Cleanup(func() { check(t, p.Destroy()) })
	q := must[verbs.QP](t)(p.Connect(p.Endpoint()))
	check(t, q.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr}))
	check(t, q.PostSend([]verbs.SendWR{{Op: verbs.OpSend}, {Op: verbs.OpSend}}))
	if _, err := small.Poll(make([]verbs.WC, 2)); !errors.Is(err, verbs.ErrInvalid) || !strings.Contains(err.Error(), "overflowed") {
		t.Error(err)
	}
}

// silent returns the port of a server that accepts connections and calls serve for each.
func silent(t *testing.T, serve func(net.Conn)) uint16 {
	t.Helper()
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { check(t, l.Close()) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// A peer that is silent, of another kind, or of another version costs the retries and no more,
// and so does one that falls silent later.
func TestDeafPeers(t *testing.T) {
	welcome := func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, helloSize)); err == nil {
			_, _ = c.Write(appendWelcome(nil, false)) // it may have gone
		}
	}
	for name, serve := range map[string]func(net.Conn){
		"silent":          func(net.Conn) {},
		"of another kind": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		"newer":           func(c net.Conn) { _, _ = c.Write([]byte{'V', 'S', 'F', 'T', 0, 0, 0, version + 1}) },
		"closes":          func(c net.Conn) { _ = c.Close() },
		"falls silent":    welcome,
		"answers nonsense": func(c net.Conn) {
			welcome(c)
			_, _ = c.Write(make([]byte, answerSize))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, verbs.QPConfig{RetryCount: 1})
			r.d.cfg.Timeout = 50 * time.Millisecond
			r.q.remote.LID = silent(t, serve)
			check(t, r.q.PostSend([]verbs.SendWR{r.write(1, r, 8), r.write(2, r, 8)}))
			for id, want := range []verbs.Status{verbs.StatusRetryExcErr, verbs.StatusWRFlushErr} {
				if wc := r.next(t); wc.ID != uint64(id+1) || wc.Status != want {
					t.Errorf("%+v, want %v", wc, want)
				}
			}
		})
	}
}

// Strangers that say nothing, or nonsense, keep nobody from using the device or closing it.
func TestStrangers(t *testing.T) {
	a, b := couple(t, verbs.QPConfig{})
	for _, say := range []string{"", "GET / HTTP/1.1\r\n", string(make([]byte, helloSize))} {
		c := must[net.Conn](t)(net.Dial("tcp", b.d.Addr()))
		if _, err := io.WriteString(c, say); err != nil {
			t.Fatal(err)
		}
	}
	check(t, a.q.PostSend([]verbs.SendWR{a.write(1, b, 8)}))
	if wc := a.next(t); wc.Status != verbs.StatusSuccess {
		t.Error(wc)
	}
}

// Only the queue pair that it is connected to reaches a queue pair.
func TestImpostors(t *testing.T) {
	r := newRig(t, verbs.QPConfig{})
	good := hello{to: r.q.num, from: 77, psn: 99, gid: r.d.at.Addr().As16(), port: 9}
	for name, change := range map[string]func(h *hello){
		"nobody": func(*hello) {}, "another QP here": func(h *hello) { h.to++ }, "another QP there": func(h *hello) { h.from++ },
		"another PSN": func(h *hello) { h.psn++ }, "another device": func(h *hello) { h.port++ }, "another host": func(h *hello) { h.gid[15]++ },
	} {
		h := good
		change(&h)
		here, there := net.Pipe()
		in := r.d.admit(h, there)
		if (in != nil) != (name == "nobody") {
			t.Errorf("%s: admitted: %v", name, in != nil)
		}
		in.leave()
		check(t, here.Close())
		check(t, there.Close())
	}
}

// counting is memory that counts how often it was made persistent.
type counting struct {
	*guardedMemory
	flushes, fences atomic.Int32
}

func (c *counting) Flush(off, n int) {
	if off == 8 && n == 16 || off == 0 && n == page {
		c.flushes.Add(1)
	}
}
func (c *counting) Fence() { c.fences.Add(1) }

// A Flush to persistence calls that of the region, for the range or for all of it; one to global
// visibility does not.
func TestFlushPersists(t *testing.T) {
	a, b := couple(t, verbs.QPConfig{})
	mem := &counting{guardedMemory: newGuarded(t)}
	mr := must[verbs.MR](t)(b.pd.RegisterMR(mem, verbs.LocalWrite|everything))
	t.Cleanup(func() { check(t, mr.Dereg()) })
	flush := verbs.SendWR{Op: verbs.OpFlush, Flags: verbs.Signaled, RKey: mr.RKey(), RemoteAddr: mr.Addr() + 8, FlushLen: 16}
	for i, x := range []struct {
		to    verbs.Access
		whole bool
		want  int32
	}{{verbs.FlushGlobal, false, 0}, {verbs.FlushPersistent, false, 1}, {verbs.FlushGlobal | verbs.FlushPersistent, true, 2}} {
		flush.FlushTo, flush.FlushMR = x.to, x.whole
		check(t, a.q.PostSend([]verbs.SendWR{flush}))
		if wc := a.next(t); wc.Status != verbs.StatusSuccess || wc.Op != verbs.WCFlush {
			t.Error(wc)
		}
		if n, m := mem.flushes.Load(), mem.fences.Load(); n != x.want || m != x.want {
			t.Errorf("after Flush %d: %d flushes and %d fences, want %d", i, n, m, x.want)
		}
	}
}

// plain is memory that cannot be flushed, and lost is memory whose disk has failed.
type plain struct{ mem *guardedMemory }

func (p plain) Bytes() []byte { return p.mem.Bytes() }
func (p plain) Addr() uint64  { return p.mem.Addr() }
func (p plain) Len() int      { return page }

type lost struct{ *guardedMemory }

func (lost) Flush(int, int) { panic(io.ErrUnexpectedEOF) }

// Memory that cannot be made persistent is an error, and nobody's panic.
func TestCannotPersist(t *testing.T) {
	a, b := couple(t, verbs.QPConfig{})
	if _, err := b.pd.RegisterMR(plain{newGuarded(t)}, verbs.LocalWrite|verbs.FlushPersistent); !errors.Is(err, verbs.ErrUnsupported) {
		t.Error(err)
	}
	mr := must[verbs.MR](t)(b.pd.RegisterMR(lost{newGuarded(t)}, verbs.LocalWrite|everything))
	t.Cleanup(func() { check(t, mr.Dereg()) })
	check(t, a.q.PostSend([]verbs.SendWR{{Op: verbs.OpFlush, RKey: mr.RKey(), RemoteAddr: mr.Addr(), FlushLen: 8, FlushTo: verbs.FlushPersistent}}))
	if wc := a.next(t); wc.Status != verbs.StatusRemOpErr {
		t.Error(wc)
	}
}
