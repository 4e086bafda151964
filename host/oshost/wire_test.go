package oshost

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
)

func TestHead(t *testing.T) {
	for _, service := range []string{"s", "a/b", "ü", "a b", "%2f", "..a", "?"} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.URL.Path, r.URL.RawPath = pathPrefix+service, ""
		setHead(r, "a", "b", "1")
		if h, err := parseHead(r, "b", "1"); err != nil || h != (head{"a", service}) {
			t.Errorf("service %q: %+v, %v", service, h, err)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"": false, "a": true, "a-b.c_9": true, "a b": false, "a/b": false, "ü": false,
		strings.Repeat("x", maxName): true, strings.Repeat("x", maxName+1): false} {
		if validName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestValidate(t *testing.T) {
	for field, cfg := range map[string]Config{"Name": {}, "MaxMessage": {Name: "a", MaxMessage: -1}, "Queue": {Name: "a", Queue: -1},
		"MaxConns": {Name: "a", MaxConns: 1 << 21}, "Slowest": {Name: "a", Slowest: -1}, "peer": {Name: "a", Peers: map[string]string{"b": ""}}} {
		if _, err := New(cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := New(Config{Name: "a", Listen: "256.0.0.1:1"}); err == nil {
		t.Error("a wrong address")
	}
}

// FuzzRequest: for any bytes, the server answers with one of its statuses, and only a
// well-formed request reaches the service.
func FuzzRequest(f *testing.F) {
	f.Add("POST /verbatim/s HTTP/1.1\r\nHost: b\r\nVerbatim-Version: 1\r\nVerbatim-From: a\r\nVerbatim-To: b\r\nContent-Length: 2\r\n\r\nhi")
	f.Add("POST /verbatim/%2e%2e HTTP/1.1\r\nHost: b\r\nVerbatim-Version: 1\r\nVerbatim-From: a\r\nVerbatim-To: b\r\n\r\n")
	f.Add("GET / HTTP/1.0\r\n\r\n")
	f.Add("POST /verbatim/s HTTP/1.1\r\nHost: b\r\nVerbatim-Version: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	h, err := New(Config{Name: "b", Listen: "127.0.0.1:0", MaxMessage: 64})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { h.Close() })
	serve(f, h, "s", func(r host.Request) {
		if !validName(r.From()) || len(r.Body()) > 64 {
			panic("a malformed request was accepted")
		}
		r.Reply(r.Body())
	})
	statuses := map[int]bool{statusReply: true, statusNoService: true, statusVersion: true, statusTooLarge: true, statusWrongHost: true, statusMalformed: true}
	f.Fuzz(func(t *testing.T, in string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(in)))
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		h.server.ServeHTTP(w, r)
		resp := w.Result()
		body, err := io.ReadAll(resp.Body)
		if !statuses[resp.StatusCode] || resp.Header.Get(headVersion) != version || err != nil || len(body) > maxReason {
			t.Errorf("status %d, %d bytes, %v", resp.StatusCode, len(body), err)
		}
	})
}

// FuzzAnswer: for any bytes, the caller gets an answer within its limit or an error of
// package host.
func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nVerbatim-Version: 1\r\nContent-Length: 2\r\n\r\nhi")
	f.Add("HTTP/1.1 409 No\r\nVerbatim-Version: 1\r\n\r\nreason")
	f.Add("HTTP/1.1 200 OK\r\n\r\n")
	f.Add("HTTP/1.1 426 Other\r\nVerbatim-Version: 7\r\n\r\n")
	h := &Host{cfg: Config{Name: "a", MaxMessage: 64}, version: version}
	f.Fuzz(func(t *testing.T, in string) {
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(in)), nil)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		body, err := h.answer(host.Call{To: "b", Service: "s"}, resp)
		if err == nil && (len(body) > 64 || resp.StatusCode != statusReply || resp.Header.Get(headVersion) != version) {
			t.Errorf("%d bytes with status %d were taken for an answer", len(body), resp.StatusCode)
		}
	})
}
