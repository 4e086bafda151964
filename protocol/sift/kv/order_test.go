package kv_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// slow makes kv.Open take a while: the first mutex that a server creates after it has started the task that opens the
// store is one of Open.
type slow struct {
	host.Host
	by      time.Duration
	opening bool
}

func (s *slow) Go(name string, f func()) {
	s.opening = s.opening || name == "store"
	s.Host.Go(name, f)
}

func (s *slow) NewMutex() host.Mutex {
	if s.opening {
		s.opening = false
		s.Host.Sleep(s.by)
	}
	return s.Host.NewMutex()
}

// A node takes clients, and brings memory nodes back, only when Open has ended. A put that a coordinator
// has acknowledged may be on two memory nodes of three. If one of them restarts, and gets its direct zone from the third
// one before Open has made all equal, the put is on one node; if that one fails, the put is lost.
func TestNothingBeginsBeforeOpenHasEnded(t *testing.T) {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	var server *kv.Server
	checked := 0
	client := func(h host.Host, _ int) {
		h.Sleep(500 * time.Millisecond) // mem1 has restarted, the node leads, and Open takes until 1 s
		c, err := kv.NewClient(h, kv.ClientConfig{Store: shape, Nodes: []string{"cpu1"}, Rounds: 1, Timeout: 10 * time.Millisecond})
		if err != nil {
			t.Error(err)
			return
		}
		for ; h.Now() < 900*time.Millisecond; h.Sleep(50 * time.Millisecond) {
			s := server.State()
			if s.Term == 0 || s.Serves || fmt.Sprint(s.Live, s.Failed) != "[mem2 mem3] [mem1]" {
				t.Errorf("before Open has ended: %+v", s)
			}
			if err := c.Put([]byte("a"), nil); !errors.Is(err, kv.ErrUnavailable) || errors.Is(err, kv.ErrUnknown) {
				t.Errorf("a put before Open has ended: %v", err)
			}
			checked++
		}
		h.Sleep(300 * time.Millisecond)
		if s := server.State(); !s.Serves || len(s.Failed) > 0 {
			t.Errorf("after Open: %+v", s)
		}
		if err := errors.Join(c.Put([]byte("a"), nil), c.Close()); err != nil {
			t.Error(err)
		}
	}
	cfg := sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "client", Main: client},
		{Name: "cpu1", Daemon: true, Main: func(h host.Host, _ int) {
			h.Sleep(300 * time.Millisecond)
			s, err := kv.NewServer(&slow{Host: h, by: 700 * time.Millisecond}, shape)
			if err != nil {
				t.Error(err)
				return
			}
			server = s
			h.Logf("%v", s.Run(node(1)))
		}},
		dying("mem1", 200*time.Millisecond, true), dying("mem2", time.Hour, false), dying("mem3", time.Hour, false),
	}}
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Run(first{}); err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("nothing was checked before Open had ended")
	}
}
