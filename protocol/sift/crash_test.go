package sift

import (
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

// returned is crashing with a coordinator whose memory node mem3 has failed and is up again, in another life.
func returned(t *testing.T, cpu func(h host.Host, c *Coordinator, crash func(mem string))) {
	t.Helper()
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		crash("mem3")
		fails(t, c, "mem3")
		h.Sleep(cfg.Period)
		cpu(h, c, crash)
	})
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

// asking is a host that does something before it calls others.
type asking struct {
	host.Host
	before func()
}

func (a *asking) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	a.before()
	return a.Host.Gather(calls, timeout)
}
