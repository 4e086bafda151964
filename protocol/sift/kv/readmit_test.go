package kv_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// dying serves a memory that a host loses when it dies, after a time in its first life. It comes back if back.
func dying(name string, after time.Duration, back bool) sim.Node {
	return sim.Node{Name: name, Daemon: true, Again: func(life int, _ bool) bool { return back && life == 0 }, Main: func(h host.Host, life int) {
		h.Go("serve", func() { h.Logf("%v", sift.ServeMemory(h, sift.MemoryConfig{Layout: shape.Layout(4), New: life == 0})) })
		if life == 0 {
			h.Sleep(after)
			return
		}
		h.Sleep(time.Hour)
	}}
}

// A node that runs brings a memory node back that has lost everything, so that another one may fail after it.
func TestRunBringsMemoryNodesBack(t *testing.T) {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	var server *kv.Server
	client := func(h host.Host, _ int) {
		c := dial(h)
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		for i := range 8 {
			if err := c.Put(fmt.Appendf(nil, "key %d", i), fmt.Appendf(nil, "value %d", i)); err != nil {
				t.Error(err)
			}
		}
		h.Sleep(700 * time.Millisecond)
		if s := server.State(); fmt.Sprint(s.Live, s.Failed) != "[mem1 mem2 mem3] []" || s.Term == 0 || !s.Serves {
			t.Errorf("after mem1 has come back: %+v", s)
		}
		h.Sleep(300 * time.Millisecond)
		for i := range 8 {
			got, found, err := c.Get(fmt.Appendf(nil, "key %d", i))
			if want := fmt.Sprint("value ", i); err != nil || !found || string(got) != want {
				t.Errorf("key %d: %q, %v, %v", i, got, found, err)
			}
		}
	}
	cfg := sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "client", Main: client},
		{Name: "cpu1", Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
			if server, err = kv.NewServer(h, shape); err != nil {
				t.Error(err)
			}
			h.Go("run", func() { h.Logf("%v", server.Run(node(1))) })
			h.Sleep(900 * time.Millisecond)
		}},
		{Name: "cpu2", Daemon: true, Main: func(h host.Host, _ int) {
			h.Sleep(20 * time.Millisecond) // so that the first one leads
			h.Logf("%v", cpu(h, 2))
		}},
		dying("mem1", 200*time.Millisecond, true), dying("mem2", 800*time.Millisecond, false), dying("mem3", time.Hour, false),
	}}
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Run(first{}); err != nil {
		t.Fatal(err)
	}
}
