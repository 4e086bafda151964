package kv

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

type inOrder struct{}

func (inOrder) Pick([]sim.Event) int           { return 0 }
func (inOrder) Choose(sim.ChoiceKind, int) int { return 0 }

// broken runs a client beside a node that gives one answer to everything.
func broken(t *testing.T, reply []byte, use func(c *Client)) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	shape := small()
	w, err := sim.New(sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "client", Main: func(h host.Host, _ int) {
			c, err := NewClient(h, ClientConfig{Store: shape, Nodes: []string{"cpu"}, Rounds: 1, Timeout: time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			if use(c); c.Close() != nil {
				t.Error("close")
			}
		}},
		{Name: "cpu", Daemon: true, Main: func(h host.Host, _ int) {
			t.Error(rpc.Serve(h, service, shape.calls(), func(string, []byte) []byte { return reply }))
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(inOrder{}); err != nil {
		t.Fatal(end, err)
	}
}

// An answer that does not fit the request says nothing about it.
func TestAnAnswerToAnotherRequestIsNoSuccess(t *testing.T) {
	for _, reply := range [][]byte{{byte(absent)}, {byte(done), 'v'}, {}, {0}, {byte(malformed) + 1}, {byte(absent), 'v'}} {
		broken(t, reply, func(c *Client) {
			if err := c.Put([]byte("a"), []byte("v")); !errors.Is(err, ErrUnknown) {
				t.Errorf("a put is answered by %q: %v", reply, err)
			}
			if err := c.Delete([]byte("a")); !errors.Is(err, ErrUnknown) {
				t.Errorf("a delete is answered by %q: %v", reply, err)
			}
		})
	}
	long := append([]byte{byte(done)}, bytes.Repeat([]byte("v"), small().Value+1)...)
	broken(t, long, func(c *Client) {
		if v, _, err := c.Get([]byte("a")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("a value that is too long: %q, %v", v, err)
		}
	})
}

// A caller may use its memory again when a put has returned, as the server of clients does.
func TestAPutKeepsNothingOfTheCallers(t *testing.T) {
	s, _ := open(t, small())
	key, value := []byte("a"), []byte("v")
	if err := s.Put(key, value); err != nil {
		t.Fatal(err)
	}
	key[0], value[0] = 'b', 'w'
	if _, err := s.ApplyOne(); err != nil {
		t.Fatal(err)
	}
	_, found, err := s.table.find([]byte("a"))
	if err != nil || string(found) != "v" {
		t.Errorf("%v: %q", err, found)
	}
}

// That a key is absent may be old news too, if its chain is empty: no read confirms it.
func TestAnAbsentKeyIsConfirmed(t *testing.T) {
	c := newCluster(small())
	l := c.lead(nil, []int{0, 1, 2}, 0)
	s, err := Open(alone{}, l, small())
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Get([]byte("a"), nil); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	s.mem = replaced{l}
	if _, _, err := s.Get([]byte("a"), nil); !errors.Is(err, ErrNotLeading) {
		t.Errorf("another coordinator may have put the key: %v", err)
	}
}

// replaced is the memory of a coordinator that another one has replaced.
type replaced struct{ Memory }

func (replaced) Confirm() error { return sift.ErrReplaced }
