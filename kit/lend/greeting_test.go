package lend

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/verbs"
)

var someEnd = verbs.Endpoint{GID: [16]byte{1, 2, 3}, QPN: 7, PSN: 9, MTU: 4096}

func TestGreetings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Greeting{Endpoint: someEnd, Windows: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Window {
			return Window{rapid.Uint64().Draw(t, "addr"), rapid.Uint32().Draw(t, "key"), rapid.IntRange(1, math.MaxInt).Draw(t, "len")}
		}), 0, 3).Draw(t, "windows")}
		b := want.Encode()
		n := len(want.Windows)
		if got, err := DecodeGreeting(b, n); err != nil || got.Endpoint != want.Endpoint || !slices.Equal(got.Windows, want.Windows) {
			t.Fatalf("%+v comes back as %+v, %v", want, got, err)
		}
		for _, bad := range [][]byte{b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], append(slices.Clone(b), 0)} {
			if _, err := DecodeGreeting(bad, n); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%d of %d bytes: %v", len(bad), len(b), err)
			}
		}
		if _, err := DecodeGreeting(b, n+1); !errors.Is(err, ErrMalformed) {
			t.Fatalf("a window more: %v", err)
		}
	})
}

// A window of no bytes, or of more than the address space, is malformed.
func TestWindowsThatCannotBe(t *testing.T) {
	for _, n := range []int{0, -1} {
		g := Greeting{Endpoint: someEnd, Windows: []Window{{Len: n}}}
		if _, err := DecodeGreeting(g.Encode(), 1); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	g := Greeting{Endpoint: verbs.Endpoint{PSN: 1 << 24}}
	if _, err := DecodeGreeting(g.Encode(), 0); !errors.Is(err, ErrMalformed) {
		t.Errorf("a long packet sequence number: %v", err)
	}
}

func FuzzGreeting(f *testing.F) {
	for n := range 3 {
		g := Greeting{Endpoint: someEnd, Windows: slices.Repeat([]Window{{1, 2, 3}}, n)}
		f.Add(g.Encode(), uint8(n))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		if g, err := DecodeGreeting(b, int(n)); err == nil && !bytes.Equal(g.Encode(), b) {
			t.Errorf("%x is also %x", b, g.Encode())
		}
	})
}

// The completion of a signaled request frees its own slot and those of the unsignaled
// requests before it.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p places
		var queue []bool // whether each request that occupies a slot is signaled
		all := rapid.Bool().Draw(t, "all")
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "post") {
				wrs := make([]verbs.SendWR, rapid.IntRange(1, 4).Draw(t, "n"))
				for i := range wrs {
					if rapid.Bool().Draw(t, "signaled") {
						wrs[i].Flags = verbs.Signaled
					}
					queue = append(queue, all || wrs[i].Flags != 0)
				}
				p.post(wrs, all)
			} else {
				p.completed()
				if i := slices.Index(queue, true); i >= 0 {
					queue = queue[i+1:]
				}
			}
			if p.taken != len(queue) {
				t.Fatalf("%d places are taken, want %d", p.taken, len(queue))
			}
		}
	})
}

// Waiting reports that a request succeeded, that one failed and its connection with it,
// that a message arrived, or nothing.
func TestTook(t *testing.T) {
	gone, late := errors.New("gone before"), verbs.ErrTimeout
	for name, x := range map[string]struct {
		before error // why the connection has already failed
		n      int
		err    error
		wc     verbs.WC
		want   bool
		after  error
		mail   int
	}{
		"success":                    {nil, 1, nil, verbs.WC{ID: 7, Op: verbs.WCWrite}, true, nil, 0},
		"nothing":                    {nil, 0, nil, verbs.WC{}, false, nil, 0},
		"nothing, after a failure":   {nil, 0, nil, verbs.WC{Status: verbs.StatusRetryExcErr}, false, nil, 0},
		"failure":                    {nil, 1, nil, verbs.WC{Status: verbs.StatusRetryExcErr}, false, verbs.ErrCompletion, 0},
		"too late":                   {nil, 0, late, verbs.WC{}, false, late, 0},
		"success after a failure":    {gone, 1, nil, verbs.WC{ID: 7, Op: verbs.WCWrite}, false, gone, 0},
		"failure after a failure":    {gone, 1, nil, verbs.WC{Status: verbs.StatusRetryExcErr}, false, gone, 0},
		"a time-out after a failure": {gone, 0, late, verbs.WC{}, false, gone, 0},
		"a message":                  {nil, 1, nil, verbs.WC{ID: 7, Op: verbs.WCRecv}, false, nil, 1},
		"a write with immediate":     {nil, 1, nil, verbs.WC{ID: 7, Op: verbs.WCRecvWriteImm}, false, nil, 1},
		"a receive that failed":      {nil, 1, nil, verbs.WC{Op: verbs.WCRecv, Status: verbs.StatusLocLenErr}, false, verbs.ErrCompletion, 0},
	} {
		g := GroupOf(quiet{}, nil, nil)
		c := &Conn{Err: x.before, wc: [1]verbs.WC{x.wc}}
		got := g.took(c, x.n, x.err)
		if got != x.want || !errors.Is(c.Err, x.after) || (c.Err == nil) != (x.after == nil) || len(c.inbox) != x.mail || (c.Done == 7) != x.want {
			t.Errorf("%s: %v, done %d, %d messages, and it has failed of %v; want %v, %d, %v", name, got, c.Done, len(c.inbox), c.Err, x.want, x.mail, x.after)
		}
	}
}
