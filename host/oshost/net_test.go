package oshost

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

const patience = 20 * time.Second

func newHost(t testing.TB, cfg Config) *Host {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// meet gives all hosts each other's addresses.
func meet(t testing.TB, hosts ...*Host) {
	t.Helper()
	for _, a := range hosts {
		for _, b := range hosts {
			if err := a.AddPeer(b.Name(), b.Addr()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// serve answers every request to a service with f, until the host closes.
func serve(t testing.TB, h *Host, service string, f func(host.Request)) host.Listener {
	t.Helper()
	l, err := h.Listen(service)
	if err != nil {
		t.Fatal(err)
	}
	h.Go(service, func() {
		for {
			r, err := l.Accept(verbs.Forever)
			if err != nil {
				return
			}
			f(r)
		}
	})
	return l
}

func echo(r host.Request) { r.Reply(append([]byte(r.From()+":"), r.Body()...)) }

func wantError(t testing.TB, err error, texts []string, is ...error) {
	t.Helper()
	for _, want := range is {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want one that wraps %v", err, want)
		}
	}
	for _, s := range texts {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("got %v, want one that says %q", err, s)
		}
	}
}

func TestCall(t *testing.T) {
	a, b := newHost(t, Config{Name: "a"}), newHost(t, Config{Name: "b", MaxMessage: 1000})
	meet(t, a, b)
	serve(t, b, "echo", echo)
	serve(t, b, "odd/name?&%", echo)
	serve(t, b, "no", func(r host.Request) { r.Reject("not today"); r.Reply(nil) })
	serve(t, b, "long", func(r host.Request) { r.Reply(make([]byte, 1001)) })
	for _, service := range []string{"echo", "odd/name?&%"} {
		for _, body := range []string{"", "x", strings.Repeat("y", 1000)} {
			got, err := a.Call("b", service, []byte(body), patience)
			if string(got) != "a:"+body && len(body) < 1000 || err != nil && len(body) < 990 {
				t.Errorf("%s: %q, %v", service, got, err)
			}
		}
	}
	if got, err := b.Call("b", "echo", []byte("myself"), patience); string(got) != "b:myself" || err != nil {
		t.Errorf("a host that calls itself: %q, %v", got, err)
	}
	_, err := a.Call("b", "no", nil, patience)
	var remote *host.RemoteError
	if !errors.As(err, &remote) || *remote != (host.RemoteError{Host: "b", Service: "no", Reason: "not today"}) {
		t.Errorf("rejected: %v", err)
	}
	_, err = a.Call("b", "long", nil, patience)
	wantError(t, err, []string{"1001 bytes"})
	_, err = a.Call("b", "none", nil, patience)
	wantError(t, err, []string{"call b/none"}, host.ErrNoService)
	_, err = a.Call("b", "..", nil, patience)
	wantError(t, err, nil, host.ErrNoService)
	_, err = a.Call("nobody", "echo", nil, patience)
	wantError(t, err, []string{"no host of that name"}, host.ErrUnreachable)
	_, err = a.Call("b", "echo", make([]byte, 1001), patience)
	wantError(t, err, []string{"1001 bytes"}, ErrTooLarge)
	_, err = a.Call("b", "echo", make([]byte, DefaultMaxMessage+1), patience)
	wantError(t, err, nil, ErrTooLarge)
}

func TestTimeouts(t *testing.T) {
	a, b := newHost(t, Config{Name: "a"}), newHost(t, Config{Name: "b"})
	meet(t, a, b)
	l, err := b.Listen("slow")
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Accept(time.Millisecond)
	wantError(t, err, []string{"accept slow"}, host.ErrTimeout)
	_, err = a.Call("b", "slow", nil, 10*time.Millisecond)
	wantError(t, err, []string{"call b/slow"}, host.ErrTimeout)
	// The caller has given up, so its request, if it arrived at all, is skipped once
	// the server notices. An accepted request can be answered late.
	done := make(chan error)
	go func() {
		_, err := a.Call("b", "slow", []byte("second"), patience)
		done <- err
	}()
	for {
		r, err := l.Accept(patience)
		if err != nil {
			t.Fatal(err)
		}
		r.Reply(nil)
		if string(r.Body()) == "second" {
			break
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	// A service that closes leaves nobody waiting.
	go func() {
		_, err := a.Call("b", "slow", nil, verbs.Forever)
		done <- err
	}()
	for len(l.(*listener).queue) == 0 {
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, <-done, nil, host.ErrNoService)
	_, err = l.Accept(verbs.Forever)
	wantError(t, err, nil, host.ErrClosed)
	wantError(t, l.Close(), nil, host.ErrClosed)
	if _, err := b.Listen("slow"); err != nil {
		t.Errorf("after Close the name is free: %v", err)
	}
	_, err = b.Listen("slow")
	wantError(t, err, []string{"already listens"})
}

func TestGather(t *testing.T) {
	a, b, c := newHost(t, Config{Name: "a"}), newHost(t, Config{Name: "b"}), newHost(t, Config{Name: "c"})
	meet(t, a, b, c)
	serve(t, b, "s", echo)
	gate := make(chan struct{})
	serve(t, c, "s", func(r host.Request) { <-gate; echo(r) })
	g := a.Gather([]host.Call{{To: "c", Service: "s", Body: []byte("1")}, {To: "b", Service: "s", Body: []byte("2")}, {To: "d", Service: "s"}}, verbs.Forever)
	out := g.Wait(1)
	if !out[0].Pending() || string(out[1].Body) != "a:2" {
		t.Errorf("after one: %+v", out)
	}
	close(gate)
	out = g.Wait(3) // only two can
	if string(out[0].Body) != "a:1" || string(out[1].Body) != "a:2" || !errors.Is(out[2].Err, host.ErrUnreachable) {
		t.Errorf("after all: %+v", out)
	}
	if out := a.Gather(nil, patience).Wait(1); len(out) != 0 {
		t.Errorf("of nothing: %+v", out)
	}
	stuck := make(chan struct{})
	serve(t, c, "stuck", func(host.Request) { <-stuck })
	out = a.Gather([]host.Call{{To: "c", Service: "stuck"}}, 10*time.Millisecond).Wait(1)
	wantError(t, out[0].Err, nil, host.ErrTimeout)
	close(stuck)
}

func TestQueueIsBounded(t *testing.T) {
	a, b := newHost(t, Config{Name: "a"}), newHost(t, Config{Name: "b", Queue: 2})
	meet(t, a, b)
	l, err := b.Listen("s")
	if err != nil {
		t.Fatal(err)
	}
	calls := make([]host.Call, 3)
	for i := range calls {
		calls[i] = host.Call{To: "b", Service: "s"}
	}
	g := a.Gather(calls, verbs.Forever).(*gather)
	g.mu.Lock()
	for g.open > 2 { // one is refused at once
		g.cond.Wait()
	}
	g.mu.Unlock()
	for range 2 {
		r, err := l.Accept(patience)
		if err != nil {
			t.Fatal(err)
		}
		r.Reply(nil)
	}
	busy := 0
	for _, x := range g.Wait(3) {
		if x.Err != nil {
			busy++
			wantError(t, x.Err, nil, ErrBusy, host.ErrUnreachable)
		}
	}
	if busy != 1 {
		t.Errorf("%d of 3 calls were refused", busy)
	}
}

func TestClosedHost(t *testing.T) {
	a, b := newHost(t, Config{Name: "a"}), newHost(t, Config{Name: "b"})
	meet(t, a, b)
	l, err := b.Listen("s")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := a.Call("b", "s", nil, verbs.Forever)
		done <- err
	}()
	for len(l.(*listener).queue) == 0 {
	}
	if err := b.Run(func(host.Host) {}); err != nil { // the first task returns
		t.Error(err)
	}
	wantError(t, <-done, nil, host.ErrUnreachable)
	_, err = l.Accept(verbs.Forever)
	wantError(t, err, nil, host.ErrClosed)
	_, err = b.Listen("t")
	wantError(t, err, nil, host.ErrClosed)
	_, err = b.Call("a", "s", nil, patience)
	wantError(t, err, nil, host.ErrClosed)
	_, err = a.Call("b", "s", nil, patience)
	wantError(t, err, nil, host.ErrUnreachable)
}

func TestOtherVersion(t *testing.T) {
	a, b := newHost(t, Config{Name: "a"}), newHost(t, Config{Name: "b"})
	meet(t, a, b)
	serve(t, b, "s", echo)
	a.version = "2"
	_, err := a.Call("b", "s", nil, patience)
	wantError(t, err, []string{`it has version "1"`, "this host has 2"}, ErrVersion, host.ErrUnreachable)
}

// A peer that violates the protocol is disconnected, and others notice nothing.
func TestMisbehavingPeers(t *testing.T) {
	lines := make(chan string, 100)
	b := newHost(t, Config{Name: "b", MaxMessage: 100, Slowest: time.Second, Logf: func(f string, args ...any) { lines <- fmt.Sprintf(f, args...) }})
	served := make(chan string, 100)
	serve(t, b, "s", func(r host.Request) { served <- string(r.Body()); echo(r) })
	head := func(more string) string {
		return "POST /verbatim/s HTTP/1.1\r\nHost: b\r\nVerbatim-Version: 1\r\nVerbatim-From: a\r\nVerbatim-To: b\r\n" + more
	}
	for _, tt := range []struct {
		name, send string
		status     int // 0: it is cut off without an answer
	}{
		{"garbage", "\x00\x01\x02\xff\xfe garbage \r\n\r\n", 400},
		{"another protocol", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		{"announced too long", head("Content-Length: 101\r\n\r\n"), statusTooLarge},
		{"announced absurd", head("Content-Length: 99999999999999999999\r\n\r\n"), 400},
		{"chunks too long", head("Transfer-Encoding: chunked\r\n\r\n") + "65\r\n" + strings.Repeat("x", 101) + "\r\n0\r\n\r\n", statusTooLarge},
		{"long headers", head("X: " + strings.Repeat("x", 3*maxHeader) + "\r\n\r\n"), 431},
		{"no version", "POST /verbatim/s HTTP/1.1\r\nHost: b\r\n\r\n", statusVersion},
		{"two versions", head("Verbatim-Version: 2\r\n\r\n"), statusVersion},
		{"for another host", strings.Replace(head("\r\n"), "To: b", "To: c", 1), statusWrongHost},
		{"no name", strings.Replace(head("\r\n"), "From: a", "From: a b", 1), 400},
		{"method", strings.Replace(head("\r\n"), "POST", "GET", 1), 400},
		{"path", strings.Replace(head("\r\n"), "/verbatim/s", "/metrics", 1), 400},
		{"query", strings.Replace(head("\r\n"), "/verbatim/s", "/verbatim/s?x=1", 1), 400},
		{"stops in the middle", head("Content-Length: 50\r\n\r\n") + "only this", 400},
		{"says nothing", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := net.Dial("tcp", b.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, tt.send) // it may be cut off while it sends
			in := bufio.NewReader(c)
			if tt.status != 0 {
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != tt.status {
					t.Errorf("answered with %s", resp.Status)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			// Nothing more arrives, and the connection closes within Slowest.
			if n, err := in.Read(make([]byte, 1)); n != 0 || errors.Is(err, net.ErrClosed) || isTimeout(err) {
				t.Errorf("it is not cut off: %d bytes, %v", n, err)
			}
		})
	}
	a := newHost(t, Config{Name: "a"})
	meet(t, a, b)
	if got, err := a.Call("b", "s", []byte("fine"), patience); string(got) != "a:fine" || err != nil {
		t.Errorf("a well-behaved peer afterwards: %q, %v", got, err)
	}
	if n := len(served); n != 1 || <-served != "fine" {
		t.Errorf("%d requests reached the service", n)
	}
	if len(lines) == 0 {
		t.Error("the log says nothing")
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// A server that violates the protocol causes an error at the caller.
func TestMisbehavingServers(t *testing.T) {
	a := newHost(t, Config{Name: "a", MaxMessage: 100})
	for _, tt := range []struct {
		name, answer string
		want         error
	}{
		{"garbage", "\x00\x01garbage\r\n\r\n", host.ErrUnreachable},
		{"another server", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", ErrProtocol},
		{"redirect", "HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", ErrProtocol},
		{"too long", "HTTP/1.1 200 OK\r\nVerbatim-Version: 1\r\n\r\n" + strings.Repeat("x", 101), ErrTooLarge},
		{"cut short", "HTTP/1.1 200 OK\r\nVerbatim-Version: 1\r\nContent-Length: 9\r\n\r\nx", host.ErrUnreachable},
		{"long reason", "HTTP/1.1 409 No\r\nVerbatim-Version: 1\r\n\r\n" + strings.Repeat("x", maxReason+1), ErrTooLarge},
		{"strange status", "HTTP/1.1 299 Hm\r\nVerbatim-Version: 1\r\nContent-Length: 0\r\n\r\n", ErrProtocol},
		{"long headers", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 3*maxHeader) + "\r\n\r\n", host.ErrUnreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lis, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer lis.Close()
			go func() {
				c, err := lis.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.WriteString(c, tt.answer) // the caller may have hung up
				}
			}()
			// Each has its own name, since connections are kept by name.
			bad := strings.ReplaceAll(tt.name, " ", "-")
			if err := a.AddPeer(bad, lis.Addr().String()); err != nil {
				t.Fatal(err)
			}
			_, err = a.Call(bad, "s", nil, patience)
			wantError(t, err, nil, tt.want, host.ErrUnreachable)
		})
	}
}

// Connections are bounded: one beyond MaxConns waits until another closes.
func TestConnectionsAreBounded(t *testing.T) {
	b := newHost(t, Config{Name: "b", MaxConns: 1, Slowest: time.Second})
	serve(t, b, "s", echo)
	idle, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	a := newHost(t, Config{Name: "a"})
	meet(t, a, b)
	if _, err := a.Call("b", "s", nil, patience); err != nil { // the idle one is cut off meanwhile
		t.Error(err)
	}
}

// Many tasks of many hosts at once; for the race detector.
func TestCrowd(t *testing.T) {
	hosts := make([]*Host, 3)
	for i := range hosts {
		hosts[i] = newHost(t, Config{Name: fmt.Sprintf("h%d", i)})
		serve(t, hosts[i], "s", echo)
	}
	meet(t, hosts...)
	var wg sync.WaitGroup
	for i, h := range hosts {
		for k := range 4 {
			wg.Go(func() {
				for n := range 20 {
					to := hosts[(i+n)%3]
					body := fmt.Appendf(nil, "%d.%d.%d", i, k, n)
					got, err := h.Call(to.Name(), "s", body, patience)
					if err != nil || !bytes.Equal(got, append([]byte(h.Name()+":"), body...)) {
						t.Errorf("%q, %v", got, err)
					}
				}
			})
		}
	}
	wg.Wait()
}

// Hosts that are not configured are resolved for each connection; one that has moved is
// found.
func TestResolve(t *testing.T) {
	first, second := newHost(t, Config{Name: "b"}), newHost(t, Config{Name: "b"})
	serve(t, first, "echo", func(r host.Request) { r.Reply([]byte("first")) })
	serve(t, second, "echo", func(r host.Request) { r.Reply([]byte("second")) })
	at := first.Addr()
	a := newHost(t, Config{Name: "a", Resolve: func(name string) (string, error) {
		if name != "b" {
			return "", errors.New("never heard of " + name)
		}
		return at, nil
	}})
	for want, addr := range map[string]string{"first": first.Addr(), "second": second.Addr()} { //lint:ordered either first
		at = addr
		a.client.CloseIdleConnections()
		if got, err := a.Call("b", "echo", nil, patience); string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	_, err := a.Call("c", "echo", nil, patience)
	wantError(t, err, []string{"call c/echo", "never heard of c"}, host.ErrUnreachable)
	_, err = a.Call("c/d", "echo", nil, patience)
	wantError(t, err, []string{`"c/d" is not a host name`}, host.ErrUnreachable)
}

// A caller of several hosts waits only for the silent ones, so it must know which they
// are.
func TestUnreachable(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Post", URL: "http://b/", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	for _, x := range []struct {
		name   string
		err    error
		silent bool
	}{
		{"nobody has the address", dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), true},
		{"the dial took too long", dial(os.ErrDeadlineExceeded), true},
		{"refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), false},
		{"no route", dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), false},
		{"ended midway", io.ErrUnexpectedEOF, false},
	} {
		err := unreachable(x.err)
		if !errors.Is(err, host.ErrUnreachable) || errors.Is(err, host.ErrTimeout) != x.silent || !errors.Is(err, x.err) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}
