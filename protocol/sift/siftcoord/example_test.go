package siftcoord_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcoord"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

var shape = kv.Config{Key: siftcoord.MinKey, Value: 128, Index: 32, Blocks: 48, Log: 8, Cache: 16}

// cpu is a CPU node with a store and the coordination service.
func cpu(h host.Host, number uint16) error {
	server, err := kv.NewServer(h, shape)
	if err != nil {
		return err
	}
	s, err := siftcoord.New(h, server, shape, siftcoord.Config{Ticks: 3, Every: 4})
	if err != nil {
		return err
	}
	h.Go("coord", func() { h.Logf("%v", s.Serve("coord")) })
	h.Go("ticks", func() { s.Expire(50 * time.Millisecond) })
	return server.Run(sift.Config{Layout: shape.Layout(4), Node: number, Memory: []string{"mem1", "mem2", "mem3"},
		Period: time.Millisecond, Missed: 3, Lease: 2 * time.Millisecond, BackOff: time.Millisecond, CallTimeout: time.Second})
}

// run starts three memory nodes, two CPU nodes and a client. The first CPU node crashes after dies.
func run(client func(h host.Host, c coord.Client), dies time.Duration) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	cfg := sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "client", Main: func(h host.Host, _ int) {
			c, err := siftcoord.NewClient(h, []string{"cpu1", "cpu2"}, "coord")
			if err != nil {
				panic(err)
			}
			h.Sleep(50 * time.Millisecond) // until there is a coordinator
			client(h, c)
		}},
		{Name: "cpu1", Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
			h.Go("run", func() { h.Logf("%v", cpu(h, 1)) })
			h.Sleep(dies)
		}},
		{Name: "cpu2", Daemon: true, Main: func(h host.Host, _ int) {
			h.Sleep(20 * time.Millisecond) // so that the first one leads
			h.Logf("%v", cpu(h, 2))
		}},
	}}
	for _, name := range []string{"mem1", "mem2", "mem3"} {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
			h.Logf("%v", sift.ServeMemory(h, sift.MemoryConfig{Layout: shape.Layout(4), New: true}))
		}})
	}
	w, err := sim.New(cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Run(first{})
	return err
}

func Example() {
	err := run(func(h host.Host, c coord.Client) {
		mine, err := c.NewSession()
		fmt.Println(mine, err)
		fmt.Println(c.Create("leader", []byte("me"), mine))
		value, version, err := c.Get("leader")
		fmt.Printf("%s %d %v\n", value, version, err)
		fmt.Println(c.CloseSession(mine))
		fmt.Println(c.Create("leader", []byte("you"), mine))
	}, time.Hour)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// <nil>
	// me 1 <nil>
	// <nil>
	// coord: session expired (create "leader" in session 1)
	// <nil>
}

// The next coordinator has what the first one has acknowledged, its snapshots and its sessions; a session that nobody
// checks expires there.
func TestAnotherCoordinatorGoesOn(t *testing.T) {
	if err := run(func(h host.Host, c coord.Client) {
		session, err := c.NewSession()
		if err := errors.Join(err, c.Create("mine", nil, session), c.Create("n", make([]byte, 300), coord.NoSession)); err != nil {
			t.Error(err)
		}
		for i := range uint64(10) {
			if _, err := c.Set("n", fmt.Appendf(nil, "%d", i), 1+i); err != nil {
				t.Errorf("set %d: %v", i, err)
			}
		}
		h.Sleep(900 * time.Millisecond)
		_, _, _ = c.Get("n") // may find the first one dead
		value, version, err := c.Get("n")
		if string(value) != "9" || version != 11 || err != nil {
			t.Errorf("%q at version %d, %v", value, version, err)
		}
		if _, err := c.Set("n", nil, version); err != nil {
			t.Error(err)
		}
		h.Sleep(time.Second)
		if keys, err := c.List(""); len(keys) != 1 || err != nil {
			t.Errorf("%q, %v", keys, err)
		}
		if err := c.CheckSession(session); !errors.Is(err, coord.ErrSessionExpired) {
			t.Errorf("got %v, want ErrSessionExpired", err)
		}
	}, 500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
}
