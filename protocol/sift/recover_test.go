package sift

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/wal"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// anyRun chooses a run at random.
type anyRun struct{ *rand.Rand }

func (r anyRun) Pick(events []sim.Event) int        { return r.IntN(len(events)) }
func (r anyRun) Choose(_ sim.ChoiceKind, n int) int { return r.IntN(n) }

// wide is a configuration whose memory is larger than its log, so that a copy of it goes over
// all of a log in the scratch memory.
func wide() Config {
	cfg := config()
	cfg.Size = 4096
	return cfg
}

// runs runs a CPU node beside memory nodes, n times, each time in another order of events.
func runs(t *testing.T, n uint64, cpu func(h host.Host)) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range n {
		cfg := sim.Config{Profile: profile, Nodes: []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) { cpu(h) }}}}
		for _, name := range config().Memory {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
				t.Error(ServeMemory(h, MemoryConfig{Layout: wide().Layout, New: true}))
			}})
		}
		w, err := sim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if end, err := w.Run(anyRun{rand.New(rand.NewPCG(seed, 0))}); err != nil {
			t.Fatal(end, err)
		}
		w.Close()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// put gives a memory node a log, and says in which term it was brought up to date.
func put(c *Coordinator, r *replica, term uint64, entries ...wal.Entry) {
	c.mirror.Region.Store(stateSize, make([]byte, c.cfg.logSize()))
	for i := range entries {
		c.keep(&entries[i])
	}
	c.mirror.Region.Store64(0, term)
	c.write(r, 0, c.mirror, 0, c.cfg.directAt(), verbs.Signaled)
	c.group.Await(r.Conn, r.Asked)
}

// A recovery sends a node the updates of entries that only this node has, from what it has
// read of the node's log. The copy of a memory to another node goes through the same scratch
// memory, and must not replace them before the card has them.
func TestACopyLeavesTheRepairsOfOthersAlone(t *testing.T) {
	var entries []wal.Entry // each writes to a place of its own; what does not go inline is sent later
	at := 0
	for i, n := range []int{8, 400, 400, 8, 8, 8, 8} {
		entries = append(entries, wal.Entry{Index: uint64(i + 1), Term: 1, Updates: []Update{{Addr: at, Data: bytes.Repeat([]byte{byte('a' + i)}, n)}}})
		at += n
	}
	want := make([]byte, wide().Size)
	for _, e := range entries {
		copy(want[e.Updates[0].Addr:], e.Updates[0].Data)
	}
	runs(t, 50, func(h host.Host) {
		cfg := wide()
		c := lead(t, h, cfg)
		nodes := c.nodes                     // the copy is from the first
		put(c, nodes[0], 1, entries[3:7]...) // and it has applied the others
		c.scratch.Region.Store(0, want[:808])
		c.write(nodes[0], cfg.memoryAt(), c.scratch, 0, 808, verbs.Signaled)
		c.group.Await(nodes[0].Conn, nodes[0].Asked)
		put(c, nodes[1], 1, entries[1:5]...)
		c.scratch.Region.Store(0, want[:8])
		c.write(nodes[1], cfg.memoryAt(), c.scratch, 0, 8, verbs.Signaled)
		c.group.Await(nodes[1].Conn, nodes[1].Asked)
		if err := c.WriteDirect(0, []byte("direct")); err != nil {
			t.Error(err)
		}
		c.group.AwaitAll(conns(nodes))
		put(c, nodes[2], 1) // and it has nothing, in the direct zone neither
		c.scratch.Region.Store(0, make([]byte, 8))
		c.write(nodes[2], cfg.directAt(), c.scratch, 0, 8, verbs.Signaled)
		c.group.Await(nodes[2].Conn, nodes[2].Asked)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		c = lead(t, h, cfg)
		if x := c.Recovered(); x.Copied != 1 || x.Repaired != 1 {
			t.Errorf("the recovery did %+v", x)
		}
		images, err := c.Inspect()
		if err != nil {
			t.Error(err)
		}
		for _, x := range images {
			if !bytes.Equal(x.Memory, want) {
				t.Errorf("%s has %q, want %q", x.Node, x.Memory[:1024], want[:1024])
			}
			if string(x.Direct[:6]) != "direct" {
				t.Errorf("%s has %q in the direct zone", x.Node, x.Direct[:6])
			}
		}
	})
}

// The next part of a copy goes through the same scratch memory.
func TestACopyEndsWhenTheCardHasReadIt(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		c.enter()
		defer c.leave()
		to := c.nodes[1]
		if !c.copy(to, c.nodes[0], c.cfg.memoryAt(), c.cfg.regionSize()) || to.Done != to.Asked {
			t.Errorf("%v: request %d of %d is done", to.Err, to.Done, to.Asked)
		}
	}, nil)
}

// A memory node may fail while its log is read. The logs of the others are still where they are looked
// for.
func TestARecoverySendsTheRepairsOfTheNodesThatAreLeft(t *testing.T) {
	cfg := wide()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		var entries []wal.Entry
		want := make([]byte, cfg.Size)
		for i := range 7 {
			data := bytes.Repeat([]byte{byte('a' + i)}, 8)
			entries = append(entries, wal.Entry{Index: uint64(i + 1), Term: 1, Updates: []Update{{Addr: 8 * i, Data: data}}})
			copy(want[8*i:], data)
		}
		nodes := c.nodes
		put(c, nodes[1], 1, entries[3:7]...) // and it has applied the others
		c.scratch.Region.Store(0, want[:24])
		c.write(nodes[1], cfg.memoryAt(), c.scratch, 0, 24, verbs.Signaled)
		c.group.Await(nodes[1].Conn, nodes[1].Asked)
		put(c, nodes[2], 1, entries[0:4]...) // and it has applied none
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.n.Campaign(); err != nil {
			t.Fatal(err)
		}
		next := c.n.coordinator()
		if err := next.open(memoryDoor); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		next.enter()
		err := next.recover()
		next.leave()
		if err != nil {
			t.Fatal(err)
		}
		images, err := next.Inspect()
		if err != nil || len(images) != 2 {
			t.Fatalf("%v: %d memory nodes", err, len(images))
		}
		for _, x := range images {
			if !bytes.Equal(x.Memory, want) {
				t.Errorf("%s has %q, want %q", x.Node, x.Memory[:64], want[:64])
			}
		}
	})
}

// While a heartbeat is under way the connections to the words are in use. Close must not
// give them back before, nor may a heartbeat begin afterwards.
func TestCloseWaitsForAHeartbeat(t *testing.T) {
	waited := 0
	runs(t, 50, func(h host.Host) {
		c := lead(t, h, wide())
		mu := h.NewMutex()
		begins, begun := h.NewCond(mu), false
		h.Go("keep", func() {
			mu.Lock()
			begun = true
			begins.Signal()
			mu.Unlock()
			h.Logf("%v", c.Beat())
		})
		mu.Lock()
		for !begun {
			begins.Wait()
		}
		mu.Unlock()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		var asked []uint64
		for _, p := range c.n.nodes {
			if asked = append(asked, p.conn.Asked); p.conn.Done != p.conn.Asked {
				t.Errorf("Close has returned, and request %d of %d is done", p.conn.Done, p.conn.Asked)
			}
		}
		h.Sleep(100 * config().Period)
		for i, p := range c.n.nodes {
			if p.conn.Asked != asked[i] {
				t.Errorf("after Close: request %d, and before %d", p.conn.Asked, asked[i])
			}
		}
		waited++
	})
	if waited == 0 {
		t.Error("no run came to its end")
	}
}

// A memory node that restarts again and again has a word that nobody stands with, so it does
// not keep a follower from standing.
func TestARestartedMemoryNodeIsNoHeartbeat(t *testing.T) {
	run(t, func(h host.Host) {
		n, err := Start(h, config())
		if err != nil {
			t.Fatal(err)
		}
		for look := range config().Missed + 1 {
			vacant, err := n.Watch()
			if err != nil || vacant != (look == config().Missed) {
				t.Fatalf("look %d: %v, %v", look, vacant, err)
			}
			n.dialer.group.Fail(n.nodes[0].conn, host.ErrTimeout)
		}
	}, func(h host.Host, _ int) error { return ServeMemory(h, MemoryConfig{Layout: config().Layout}) })
}

// A candidate that has lost the words of a majority cannot win with the rest: it looks at
// the words again, instead of using up one term after the other.
func TestACandidateWithoutAMajorityFollowsAgain(t *testing.T) {
	run(t, func(h host.Host) {
		n, err := Start(h, config())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Watch(); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			n.dialer.group.Fail(n.nodes[i].conn, host.ErrTimeout)
			n.nodes[i].known = false // as after a Read or a CompareSwap that fails
		}
		for range 2 {
			if o, err := n.Campaign(); o != Lost || err != nil {
				t.Fatalf("%v, %v", o, err)
			}
			if err := n.connect(); err != nil {
				t.Fatal(err)
			}
		}
		c, err := n.Follow()
		if err != nil || c.Term() != 3 {
			t.Errorf("%v: term %d", err, c.Term())
		}
	}, nil)
}
