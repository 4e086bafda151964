package coord_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// recorder is a host that keeps the request and does not answer.
type recorder struct {
	host.Host
	req []byte
}

func (r *recorder) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	r.req = req
	return nil, host.ErrTimeout
}

// requests are all operations, as the client encodes them.
var requests = []struct {
	req      []byte
	readOnly bool
	resp     string
	says     string
}{
	{captured(func(c coord.Client) { c.Get("k") }), true,
		"\x00\x02\x00\x00\x00\x00\x00\x00\x00abc", `get "k": version 2, 3 bytes`},
	{captured(func(c coord.Client) { c.Create("k", []byte("v"), 0) }), false,
		"\x02", `create "k", 1 bytes: coord: key exists`},
	{captured(func(c coord.Client) { c.Create("k", []byte("vv"), 3) }), false,
		"\x00", `create "k" in session 3, 2 bytes: ok`},
	{captured(func(c coord.Client) { c.Set("k", nil, 4) }), false,
		"\x00\x05\x00\x00\x00\x00\x00\x00\x00", `set "k" at version 4, 0 bytes: version 5`},
	{captured(func(c coord.Client) { c.Set("k", nil, coord.AnyVersion) }), false,
		"\x01", `set "k", 0 bytes: coord: no such key`},
	{captured(func(c coord.Client) { c.Delete("k", 1) }), false,
		"\x03", `delete "k" at version 1: coord: key has another version`},
	{captured(func(c coord.Client) { c.List("") }), true, "\x00", `list "": ok`},
	{captured(func(c coord.Client) { c.NewSession() }), false,
		"\x00\x01\x00\x00\x00\x00\x00\x00\x00", "new session: session 1"},
	{captured(func(c coord.Client) { c.CheckSession(1) }), true,
		"\x04", "check session in session 1: coord: session expired"},
	{captured(func(c coord.Client) { c.CloseSession(1) }), false, "", "close session in session 1"},
}

func TestReadOnlyAndDescribe(t *testing.T) {
	for _, r := range requests {
		if got := coord.ReadOnly(r.req); got != r.readOnly {
			t.Errorf("%s: ReadOnly is %v", r.says, got)
		}
		resp := []byte(r.resp)
		if r.resp == "" {
			resp = nil
		}
		if got := coord.Describe(r.req, resp); got != r.says {
			t.Errorf("Describe gives %q, want %q", got, r.says)
		}
	}
}

// invalid is the answer to a malformed request.
var invalid = []byte{5}

func TestMalformedRequests(t *testing.T) {
	var store coord.Store
	before := store.Hash()
	check := func(req []byte) {
		t.Helper()
		if got := store.Apply("a", req); !bytes.Equal(got, invalid) {
			t.Errorf("%q is answered with %q", req, got)
		}
		if !coord.ReadOnly(req) || store.Hash() != before {
			t.Errorf("%q changes the state", req)
		}
	}
	check(nil)
	check([]byte{0})
	check([]byte{200})
	check([]byte{1, 0})                                             // an empty key
	check(append(requests[1].req, make([]byte, coord.MaxValue)...)) // a long value
	for _, r := range requests {
		if bytes.ContainsAny(r.req[:1], "\x02\x03") {
			continue // without its end the value is a shorter one
		}
		for n := range r.req {
			check(r.req[:n])
		}
		check(append(bytes.Clone(r.req), 0))
	}
	for n := range requests[2].req[:3+8] {
		check(requests[2].req[:n]) // create "k", up to the value
	}
}

func FuzzApply(f *testing.F) {
	for _, r := range requests {
		f.Add(r.req)
		f.Add(r.req[:len(r.req)-1])
	}
	f.Fuzz(func(t *testing.T, req []byte) {
		var store coord.Store
		_, c := newClient(&store, "a")
		s, _ := c.NewSession()
		c.Create("k", []byte("value"), s)
		before, kept := store.Hash(), bytes.Clone(req)
		resp := store.Apply("a", req)
		if len(resp) == 0 {
			t.Fatal("no answer")
		}
		if !bytes.Equal(kept, req) {
			t.Fatal("the request was changed")
		}
		if coord.ReadOnly(req) && store.Hash() != before {
			t.Fatalf("%s is not read-only", coord.Describe(req, resp))
		}
		if store.Hash() != store.SlowHash() {
			t.Fatalf("%s: the hash is out of date", coord.Describe(req, resp))
		}
		if again, ok := coord.Reencode(req); ok == bytes.Equal(resp, invalid) || ok && !bytes.Equal(again, req) {
			t.Fatalf("%q decodes: %v, encodes as %q, is answered with %q", req, ok, again, resp)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, r := range requests {
		f.Add([]byte(r.resp))
	}
	f.Add([]byte("\x00\x01a\x02bc"))
	f.Fuzz(func(t *testing.T, resp []byte) {
		h, c := newClient(nil, "a")
		h.fixed = append([]byte{}, resp...)
		for name, err := range operations(c) {
			if err == nil && (len(resp) == 0 || resp[0] != 0) {
				t.Errorf("%s takes %q for success", name, resp)
			}
		}
		for _, r := range requests {
			coord.Describe(r.req, resp)
		}
	})
}
