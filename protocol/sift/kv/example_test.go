package kv_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

var shape = kv.Config{Key: 32, Value: 64, Index: 64, Blocks: 8, Log: 4, Cache: 4}

// node is the configuration of a CPU node.
func node(number uint16) sift.Config {
	return sift.Config{Layout: shape.Layout(4), Node: number, Memory: []string{"mem1", "mem2", "mem3"},
		Period: time.Millisecond, Missed: 3, Lease: 2 * time.Millisecond, BackOff: time.Millisecond, CallTimeout: time.Second}
}

// cpu is a CPU node with a store.
func cpu(h host.Host, number uint16) error { return kv.Run(h, node(number), shape) }

// run starts three memory nodes, two CPU nodes and a client. The first CPU node crashes after dies.
func run(client func(h host.Host), dies time.Duration) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	cfg := sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "client", Main: func(h host.Host, _ int) { client(h) }},
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

func dial(h host.Host) *kv.Client {
	c, err := kv.NewClient(h, kv.ClientConfig{Store: shape, Nodes: []string{"cpu1", "cpu2"}, Rounds: 50, Pause: 5 * time.Millisecond, Timeout: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	return c
}

func Example() {
	err := run(func(h host.Host) {
		c := dial(h)
		fmt.Println(c.Put([]byte("protocol"), []byte("sift")))
		value, found, err := c.Get([]byte("protocol"))
		fmt.Printf("%s %v %v\n", value, found, err)
		fmt.Println(c.Delete([]byte("protocol")))
		_, found, err = c.Get([]byte("protocol"))
		fmt.Println(found, err)
		fmt.Println(c.Close())
	}, time.Hour)
	fmt.Println(err)
	// Output:
	// <nil>
	// sift true <nil>
	// <nil>
	// false <nil>
	// <nil>
	// <nil>
}

// The second CPU node has what the first one has acknowledged, and its clients find it.
func TestAnotherNodeTakesOver(t *testing.T) {
	if err := run(func(h host.Host) {
		c := dial(h)
		for i := range 8 {
			if err := c.Put(fmt.Appendf(nil, "key %d", i), fmt.Appendf(nil, "value %d", i)); err != nil {
				t.Error(err)
			}
		}
		h.Sleep(time.Second) // the first one is dead
		for i := range 8 {
			got, found, err := c.Get(fmt.Appendf(nil, "key %d", i))
			if want := fmt.Sprint("value ", i); err != nil || !found || string(got) != want {
				t.Errorf("key %d: %q, %v, %v", i, got, found, err)
			}
		}
		if err := c.Put([]byte("a ninth"), nil); !errors.Is(err, kv.ErrFull) {
			t.Errorf("a ninth key of 8: %v", err)
		}
		if err := c.Put([]byte("key 3"), []byte("changed")); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}, 900*time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

// Without a coordinator a client gives up, and says that nothing has happened.
func TestAClientWithoutACoordinatorGivesUp(t *testing.T) {
	if err := run(func(h host.Host) {
		c, err := kv.NewClient(h, kv.ClientConfig{Store: shape, Nodes: []string{"mem1", "nobody"}, Rounds: 2, Pause: time.Millisecond, Timeout: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		_, _, got := c.Get([]byte("a"))
		for i, err := range []error{c.Put([]byte("a"), nil), c.Delete([]byte("a")), got} {
			if !errors.Is(err, kv.ErrUnavailable) || errors.Is(err, kv.ErrUnknown) {
				t.Errorf("%d: %v", i, err)
			}
		}
		for i, err := range []error{c.Put(nil, nil), c.Delete(make([]byte, 33)), c.Put([]byte("a"), make([]byte, 65))} {
			if !errors.Is(err, kv.ErrTooLong) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// A memory that is too small for the store is an error before anything begins.
func TestAMemoryThatIsTooSmallIsRefused(t *testing.T) {
	if err := run(func(h host.Host) {
		larger := shape
		larger.Blocks++
		err := kv.Run(h, sift.Config{Layout: shape.Layout(4), Node: 3}, larger)
		if !errors.Is(err, kv.ErrConfig) {
			t.Error(err)
		}
	}, time.Hour); err != nil {
		t.Fatal(err)
	}
}
