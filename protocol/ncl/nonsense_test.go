package ncl_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// lie turns the honest answer of a peer into a malformed one.
type lie func(honest []byte) []byte

// liar is a host whose answers pass through a lie, if there is one.
type liar struct {
	host.Host
	lie *lie
}

func (l liar) Listen(service string) (host.Listener, error) {
	lis, err := l.Host.Listen(service)
	return lyingListener{lis, l.lie}, err
}

type lyingListener struct {
	host.Listener
	lie *lie
}

func (l lyingListener) Accept(timeout time.Duration) (host.Request, error) {
	r, err := l.Listener.Accept(timeout)
	if err != nil {
		return nil, err
	}
	return lyingRequest{r, l.lie}, nil
}

type lyingRequest struct {
	host.Request
	lie *lie
}

func (r lyingRequest) Reply(body []byte) {
	if *r.lie != nil {
		body = (*r.lie)(slices.Clone(body))
	}
	r.Request.Reply(body)
}

// tail replaces the end of an answer, where an offer has its last window: address (8
// bytes), key (4) and size (8).
func tail(end ...byte) lie {
	return func(honest []byte) []byte {
		if len(honest) < len(end) {
			return end
		}
		copy(honest[len(honest)-len(end):], end)
		return honest
	}
}

var lies = map[string]lie{
	"nothing":         func([]byte) []byte { return []byte{} },
	"a byte":          func([]byte) []byte { return []byte{7} },
	"text":            func([]byte) []byte { return []byte("HTTP/1.1 200 OK\r\n\r\n") },
	"a byte missing":  func(honest []byte) []byte { return honest[:max(len(honest)-1, 0)] },
	"a byte too many": func(honest []byte) []byte { return append(honest, 0) },
	"a megabyte":      func([]byte) []byte { return bytes.Repeat([]byte{0xff}, 1<<20-1) },
	"zeros":           func(honest []byte) []byte { return make([]byte, len(honest)) },
	"ones":            func(honest []byte) []byte { return bytes.Repeat([]byte{0xff}, len(honest)) },
	"a huge region":   tail(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	"a large region":  tail(0, 0, 0, 0, 0x3f, 0xff, 0xff, 0xf0),
	"an empty region": tail(0, 0, 0, 0, 0, 0, 0, 0),
	"words at switch": func(honest []byte) []byte {
		if len(honest) == 0 {
			return []byte("yes")
		}
		return honest
	},
	"another key":   tail(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 8+fileSize),
	"another place": tail(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8+fileSize),
}

// believed are the lies that look valid when a file is created: the card or a later
// answer reveals them.
var believed = []string{"another key", "another place", "words at switch"}

// A peer with malformed answers is a failed peer: the error names it, nothing waits for
// ever, and no acknowledged write is lost.
func TestNonsense(t *testing.T) {
	for name, nonsense := range lies {
		t.Run(name, func(t *testing.T) {
			var now lie
			var said []string
			c := config(t, 4, "strong", "none", func(h host.Host, cfg ncl.Config, life int) {
				if life > 0 {
					return
				}
				cfg.F = 1
				if err := amongNonsense(h, cfg, &now, nonsense, slices.Contains(believed, name), &said); err != nil {
					panic(err)
				}
			})
			c.Nodes[1].Main = func(h host.Host, _ int) {
				panic(ncl.ServePeer(liar{h, &now}, ncl.PeerConfig{Memory: 1 << 12}))
			}
			c.Nodes[1].Symmetric = false
			c.Reset = func() { now, said = nil, nil }
			w, err := sim.New(c)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if end, err := w.Run(first{}); end != sim.Finished {
				t.Fatal(end, err)
			}
			t.Log(strings.Join(said, "\n"))
		})
	}
}

// amongNonsense uses files with peer1 as a peer, first honest and then not.
func amongNonsense(h host.Host, cfg ncl.Config, now *lie, nonsense lie, believed bool, said *[]string) error {
	exactly := cfg
	exactly.Peers = cfg.Peers[:3]
	f, err := ncl.Create(h, exactly, "wal", fileSize)
	if err != nil {
		return err
	}
	want := []byte{1, 2, 3, 4, 5}
	if err := f.Record(0, want[:3]); err != nil {
		return err
	}
	f.Close()

	*now = nonsense
	if f, err = ncl.Recover(h, cfg, "wal"); err != nil {
		return err
	}
	if err := has(f, want[:3]); err != nil {
		return err
	}
	m := ncl.Maintained{File: f}
	for i := 3; i < len(want); i++ { // the second notices the effect of the first
		if err := m.Record(i, want[i:i+1]); err != nil {
			return err
		}
	}
	if err := f.Repair(); err != nil || slices.Contains(f.AlivePeers(), "peer1") {
		return fmt.Errorf("peers %v, %w", f.AlivePeers(), err)
	}
	f.Close()

	switch f, err = ncl.Create(h, exactly, "other", fileSize); {
	case believed && err == nil:
		if err := f.Record(0, want); err != nil { // two peers suffice
			return err
		}
		f.Close()
	case believed || !errors.Is(err, ncl.ErrTooFew) || !errors.Is(err, ncl.ErrMalformed) || !strings.Contains(err.Error(), "alloc at peer peer1: "):
		return fmt.Errorf("a new file: %w", err)
	default:
		*said = append(*said, err.Error())
	}
	if _, bad := ncl.Collect(h, "peer1", time.Second); bad != nil {
		*said = append(*said, bad.Error())
		if !strings.Contains(bad.Error(), "peer1") {
			return bad
		}
	}

	*now = nil
	if f, err = ncl.Recover(h, cfg, "wal"); err != nil {
		return err
	}
	return has(f, want)
}

// has returns an error unless the file begins with want.
func has(f *ncl.File, want []byte) error {
	b := make([]byte, len(want))
	if _, err := f.ReadAt(b, 0); err != nil || !bytes.Equal(b, want) {
		return fmt.Errorf("recovered %v, %w, want %v", b, err, want)
	}
	return nil
}

// A peer with a malformed entry at the controller is skipped, and named if it would
// have been needed.
func TestNonsenseAtTheController(t *testing.T) {
	c := config(t, 4, "strong", "none", func(h host.Host, cfg ncl.Config, life int) {
		if life > 0 {
			return
		}
		cfg.Peers, cfg.F = nil, 1
		for _, p := range []string{"peer1", "peer2", "peer3"} {
			if err := cfg.Coord.Create("peers/"+p, []byte{0, 0, 0, 0, 0, 0, 1, 0}, coord.NoSession); err != nil {
				panic(err)
			}
		}
		if err := cfg.Coord.Create("peers/odd", []byte("what?"), coord.NoSession); err != nil {
			panic(err)
		}
		if _, err := ncl.Create(h, cfg, "wal", fileSize); err != nil {
			panic(err)
		}
		cfg.F = 2
		_, err := ncl.Create(h, cfg, "wider", fileSize)
		if !errors.Is(err, ncl.ErrTooFew) || !strings.Contains(err.Error(), "peers/odd") {
			panic(fmt.Sprint("a file with 5 peers: ", err))
		}
		if _, err = ncl.Create(h, cfg, "large", 1<<12); !errors.Is(err, ncl.ErrTooFew) || !strings.Contains(err.Error(), "0 of 5; the last reason") ||
			!strings.Contains(err.Error(), "peer3 has 4000 bytes left to lend, and the file takes 8208") {
			panic(fmt.Sprint("a large file: ", err))
		}
	})
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); end != sim.Finished {
		t.Fatal(end, err)
	}
}
