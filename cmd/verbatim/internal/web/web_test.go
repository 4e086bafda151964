package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// serve serves answer on this machine and returns its address.
func serve(t *testing.T, answer func(context.Context, *Request) *Response) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Serve(ctx, l, answer) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// echo answers with what it was asked for.
func echo(_ context.Context, r *Request) *Response {
	if r.Path == "/there" {
		return Redirect("/?a=1\r\nSet-Cookie: b=2")
	}
	return Text(OK, r.Method+" "+r.Host+" "+r.Path+" "+r.Query.Encode()+" "+r.Header("Accept"))
}

// said returns the server's answer to bytes on a connection.
func said(t *testing.T, addr, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { _, _ = io.WriteString(c, request) }() // it may be refused before all of it is sent
	b, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("%.60q, %d bytes: %.100q, %v", request, len(request), b, err)
	}
	return string(b)
}

func TestAnswersAClient(t *testing.T) {
	addr := serve(t, echo)
	for _, method := range []string{"GET", "HEAD", "POST"} {
		r, err := http.NewRequest(method, "http://"+addr+"/x%20y?b=2&a=%26", strings.NewReader(strings.Repeat("x", 100_000)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		a.Body.Close()
		want := method + " " + addr + " /x y a=%26&b=2 text/html\n"
		if a.ContentLength != int64(len(want)) {
			t.Errorf("%s: %d bytes, want %d", method, a.ContentLength, len(want))
		}
		if method == "HEAD" {
			want = ""
		}
		if err != nil || a.StatusCode != OK || string(b) != want {
			t.Errorf("%s: %s %q, %v", method, a.Status, b, err)
		}
	}
}

func TestRefusesWhatIsNoRequest(t *testing.T) {
	addr := serve(t, echo)
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: h\r\n\r\n":                                   "HTTP/1.1 200 OK\r\n",
		"GET / HTTP/1.0\nHost: h\n\n":                                         "HTTP/1.1 200 OK\r\n",
		"GET /there HTTP/1.1\r\nHost: h\r\n\r\n":                              "\r\nLocation: /?a=1  Set-Cookie: b=2\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n":                                              "the request has 0 hosts",
		"GET / HTTP/1.1\r\nHost: h\r\nhost: i\r\n\r\n":                        "the request has 2 hosts",
		"GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n":                           "is not an HTTP request",
		"GET / HTTP/2.0\r\nHost: h\r\n\r\n":                                   "is not an HTTP request",
		"GET /\r\n\r\n":                                                       "is not an HTTP request",
		"\x16\x03\x01\x02\r\n\r\n":                                            "is not an HTTP request",
		"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n":                                "invalid URL escape",
		"GET /?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n":                             "invalid URL escape",
		"GET / HTTP/1.1\r\nHost h\r\n\r\n":                                    "malformed MIME header",
		"GET /" + strings.Repeat("a", maxHead):                                "longer than 98304 bytes",
		"GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("a", maxHead):     "longer than 98304 bytes",
		"GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("A: a\r\n", maxHead): "400 Bad Request",
	} { //lint:ordered each is a test of its own
		if got := said(t, addr, request); !strings.Contains(got, want) {
			t.Errorf("%.60q: %.300q, want %q", request, got, want)
		}
	}
}

// An answer that nobody waits for is given up, and so is one at the end of the server.
func TestAnswersEndWithTheirContext(t *testing.T) {
	began, over := make(chan struct{}), make(chan struct{})
	addr := serve(t, func(ctx context.Context, _ *Request) *Response {
		began <- struct{}{}
		<-ctx.Done()
		over <- struct{}{}
		return Text(OK, "")
	})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	c.Close()
	<-over
}

// A connection on which nothing was asked does not hold up the end.
func TestEndsBesideAnIdleConnection(t *testing.T) {
	addr := serve(t, echo)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if got := said(t, addr, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Error(got)
	}
}
