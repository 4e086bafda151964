package sift

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// latest chooses a run without surprises in which hosts that have crashed start again when they can.
type latest struct{}

func (latest) Pick(events []sim.Event) int {
	for i, e := range events {
		if e.Actor.Restart() {
			return i
		}
	}
	return 0
}
func (latest) Choose(sim.ChoiceKind, int) int { return 0 }

// crashing runs a CPU node beside memory nodes that it may crash, and that start again.
func crashing(t *testing.T, cfg *Config, persistent string, cpu func(h host.Host, crash func(mem string))) {
	t.Helper()
	crashingIn(t, latest{}, cfg, persistent, cpu)
}

// crashingIn is crashing in the order of events that by picks.
func crashingIn(t *testing.T, by sim.Policy, cfg *Config, persistent string, cpu func(h host.Host, crash func(mem string))) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	var w *sim.World
	nodes := []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) {
		cpu(h, func(mem string) {
			if err := w.Inject(faults.Crash, mem); err != nil {
				t.Error(err)
			}
		})
	}}}
	for _, name := range cfg.Memory {
		nodes = append(nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, life int) {
			t.Error(ServeMemory(h, MemoryConfig{Layout: cfg.Layout, New: life == 0, Persistent: persistent}))
		}})
	}
	if w, err = sim.New(sim.Config{Profile: profile, Nodes: nodes}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(by); err != nil {
		t.Fatal(end, err)
	}
}

// fails makes the coordinator notice that memory nodes have failed.
func fails(t *testing.T, c *Coordinator, want ...string) {
	t.Helper()
	if _, err := c.Inspect(); err != nil || fmt.Sprint(c.Failed()) != fmt.Sprint(want) {
		t.Fatalf("%v: failed are %v, want %v", err, c.Failed(), want)
	}
}

// same reports an error unless all memory nodes are there and have the same content.
func same(t *testing.T, c *Coordinator) {
	t.Helper()
	for c.ApplyOne() {
	}
	images, err := c.Inspect()
	if err != nil || len(images) != 3 {
		t.Fatalf("%v: %d memory nodes", err, len(images))
	}
	for _, x := range images {
		name := x.Node
		if x.Node = images[0].Node; fmt.Sprint(x) != fmt.Sprint(images[0]) {
			t.Errorf("%s and %s differ", name, images[0].Node)
		}
	}
}

// A node that has lost its memory gets all of it, the direct zone too, whose last block is shorter. One
// that has kept it gets what it missed.
func TestAMemoryNodeThatComesBackIsComplete(t *testing.T) {
	cfg := config()
	cfg.Size, cfg.Block, cfg.Direct = 512, 64, 72
	for persistent, want := range map[string]int{"": 10, "memory": 6} {
		crashing(t, &cfg, persistent, func(h host.Host, crash func(mem string)) {
			c := lead(t, h, cfg)
			for i := range 6 {
				if err := errors.Join(c.Write(64*(i%2), []byte{byte(i)}), c.WriteDirect(64, []byte("direct"))); err != nil {
					t.Fatal(err)
				}
			}
			crash("mem2")
			fails(t, c, "mem2")
			if err := c.Write(128, bytes.Repeat([]byte("x"), 65)); err != nil {
				t.Fatal(err)
			}
			h.Sleep(cfg.Period)
			j, err := c.Rejoin("mem2")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Rejoin("mem2"); !errors.Is(err, ErrNotJoined) {
				t.Errorf("two at a time: %v", err)
			}
			for more := true; more; {
				if more, err = j.CopyBlock(); err != nil {
					t.Fatal(err)
				}
			}
			if more, err := j.CopyBlock(); more || err != nil {
				t.Errorf("after the last block: %v, %v", more, err)
			}
			if err := j.Join(); err != nil || j.Copied() != want {
				t.Errorf("%v: %d blocks were copied, want %d", err, j.Copied(), want)
			}
			same(t, c)
			if err := j.Join(); !errors.Is(err, ErrNotJoined) {
				t.Errorf("joined twice: %v", err)
			}
			crash("mem1")
			fails(t, c, "mem1")
			if err := errors.Join(c.Beat(), c.Beat(), c.Write(0, []byte("y"))); err != nil {
				t.Errorf("with the node that has come back: %v", err)
			}
			h.Sleep(cfg.Period)
			if err := c.CopyRegion("mem1"); err != nil {
				t.Error(err)
			}
			same(t, c)
		})
	}
}

func TestANodeJoinsOnlyWhenItIsComplete(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		for _, name := range []string{"mem1", "nobody"} {
			if _, err := c.Rejoin(name); !errors.Is(err, ErrNotJoined) {
				t.Errorf("%s: %v", name, err)
			}
		}
		crash("mem3")
		fails(t, c, "mem3")
		h.Sleep(cfg.Period)
		j, err := c.Rejoin("mem3")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.CopyBlock(); err != nil {
			t.Error(err)
		}
		if err := j.Join(); !errors.Is(err, ErrNotJoined) {
			t.Errorf("incomplete: %v", err)
		}
		if err := c.Write(0, []byte("unlocked")); err != nil {
			t.Error(err)
		}
		if j, err = c.Rejoin("mem3"); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := j.CopyBlock(); !errors.Is(err, ErrReplaced) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// kept is a store in memory.
type kept struct {
	s    Snapshot
	size int // of the memory; default config().Size
}

func (k *kept) Load() (Snapshot, error)  { return k.s, nil }
func (k *kept) Begin(term uint16) error  { k.s.Term = max(k.s.Term, term); return nil }
func (k *kept) Replace(s Snapshot) error { k.s = s; return nil }
func (k *kept) Persist(e Entry) error {
	if k.s.Index == 0 {
		k.s.Memory = make([]byte, cmp.Or(k.size, config().Size))
	}
	for _, u := range e.Updates {
		copy(k.s.Memory[u.Addr:], u.Data)
	}
	k.s.Index = e.Index
	return nil
}

// A group starts again only when a majority has lost its memory. Then it has what was durable, and goes
// on from there.
func TestAGroupStartsAgainFromASnapshot(t *testing.T) {
	cfg := config()
	cfg.Durable = &kept{}
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		data := []byte("durable")
		if err := c.Write(8, data); err != nil {
			t.Fatal(err)
		}
		copy(data, "changed") // the caller may do that
		if !c.PersistOne() || c.PersistOne() {
			t.Error("one write is to be durable")
		}
		if err := errors.Join(c.Write(0, []byte("lost")), c.Close()); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		h.Sleep(time.Second)
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Restart(); !errors.Is(err, ErrNotLost) {
			t.Errorf("a majority has the memory: %v", err)
		}
		crash("mem2")
		crash("mem3")
		h.Sleep(time.Second)
		if err := n.connect(); err != nil { // the connections to the lives before fail
			t.Fatal(err)
		}
		if _, err := n.Watch(); !errors.Is(err, ErrUnavailable) {
			t.Errorf("nobody has the memory: %v", err)
		}
		if c, err = n.Restart(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 16)
		if err := c.Read(0, got); err != nil || string(got) != "\x00\x00\x00\x00\x00\x00\x00\x00durable\x00" {
			t.Errorf("%v: %q", err, got)
		}
		same(t, c)
		for i := range 10 { // more than the log has slots
			if err := c.Write(16, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		same(t, c)
	})
}

func TestANodeWithoutAStoreCannotStartAgain(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Restart(); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
	})
}
