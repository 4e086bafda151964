package sift

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/quorum"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// dying chooses a run at random in which a host dies when it was armed and some more events have happened.
type dying struct {
	*rand.Rand
	armed bool
	left  int // events until then
	died  bool
}

func (d *dying) Pick(events []sim.Event) int {
	if d.armed {
		d.left--
	}
	var calm []int
	for i, e := range events {
		if !e.Fault {
			calm = append(calm, i)
		} else if d.armed && d.left < 0 {
			d.armed, d.died = false, true
			return i
		}
	}
	return calm[d.IntN(len(calm))]
}
func (d *dying) Choose(_ sim.ChoiceKind, n int) int { return d.IntN(n) }

// dies runs two CPU nodes beside memory nodes. The first one dies after some events since it has called arm; then the
// second one runs. It reports whether the first one died.
func dies(t *testing.T, cfg Config, after int, before func(h host.Host, arm func()), then func(h host.Host)) bool {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	budget, err := faults.ParseBudget("crash(cpu1)<=1")
	if err != nil {
		t.Fatal(err)
	}
	d := &dying{Rand: rand.New(rand.NewPCG(uint64(after), 0)), left: after}
	once := func(int, bool) bool { return false }
	nodes := []sim.Node{
		{Name: "cpu1", Again: once, Main: func(h host.Host, _ int) {
			before(h, func() { d.armed = true })
			d.armed = false
		}},
		{Name: "cpu2", Again: once, Main: func(h host.Host, _ int) {
			h.Sleep(1000 * cfg.Period)
			then(h)
		}},
	}
	for _, name := range cfg.Memory {
		nodes = append(nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
			t.Error(ServeMemory(h, MemoryConfig{Layout: cfg.Layout, New: true}))
		}})
	}
	w, err := sim.New(sim.Config{Profile: profile, Budget: budget, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(d); err != nil {
		t.Fatal(end, err)
	}
	return d.died
}

// fillAll writes more than the log holds, all over a memory, and returns what it then is.
func fillAll(t *testing.T, c *Coordinator) []byte {
	t.Helper()
	want := make([]byte, c.cfg.Size)
	for i := range 3 * c.cfg.Slots {
		at, data := i*(len(want)-8)/(3*c.cfg.Slots)&^7, []byte{byte('a' + i), 'x'}
		copy(want[at:], data)
		if err := c.Write(at, data); err != nil {
			t.Fatal(err)
		}
	}
	return want
}

// A recovery may die at any point while it copies a memory. The node that it was copying to
// then has parts of two memories, and the next recovery makes it whole.
func TestARecoveryMayDieWhileItCopies(t *testing.T) {
	plain, coded := config(), config()
	coded.Size, coded.Block, coded.Chunks = 16<<10, 64, 2 // so large beside the log that it takes two steps
	for name, cfg := range map[string]Config{"whole": plain, "chunks": coded} {
		t.Run(name, func(t *testing.T) {
			copied := [2]int{} // recoveries that copied in a run in which the first one died, and in others
			for after, died := 0, true; died; after++ {
				var want []byte
				late := after % len(cfg.Memory)
				died = dies(t, cfg, after, func(h host.Host, arm func()) {
					c := lead(t, h, cfg)
					c.group.Fail(c.nodes[late].Conn, host.ErrTimeout)
					want = fillAll(t, c)
					if err := c.Close(); err != nil {
						t.Error(err)
					}
					arm()
					if c = lead(t, h, cfg); c != nil && c.Recovered().Copied == 1 {
						copied[1]++
					}
				}, func(h host.Host) {
					other := cfg
					other.Node = 2
					c := lead(t, h, other)
					copied[0] += c.Recovered().Copied
					got := make([]byte, cfg.Size)
					if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
						t.Errorf("dies after %d events: %v: the memory is another one", after, err)
					}
					if cfg.Chunks == 0 {
						same(t, c)
					}
					c.group.Fail(c.nodes[(late+1)%len(cfg.Memory)].Conn, host.ErrTimeout)
					if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
						t.Errorf("dies after %d events: %v: with %s the memory is another one", after, err, cfg.Memory[late])
					}
				})
				if t.Failed() {
					t.FailNow()
				}
			}
			if copied[0] < 10 || copied[1] != 1 {
				t.Errorf("%d recoveries copied after one that died, and %d that did not die", copied[0], copied[1])
			}
		})
	}
}

// Memory nodes may fail at any moment of a recovery. It replays the log only if a majority has it.
func TestARecoveryNeedsAMajorityToTheEnd(t *testing.T) {
	cfg := config()
	recovered, failed := 0, 0
	for seed := range uint64(200) {
		crashingIn(t, anyRun{rand.New(rand.NewPCG(seed, 0))}, &cfg, "", func(h host.Host, crash func(mem string)) {
			c := lead(t, h, cfg)
			if err := errors.Join(c.Write(0, []byte("a")), c.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.n.Campaign(); err != nil {
				t.Fatal(err)
			}
			next := c.n.coordinator()
			if err := next.open(memoryDoor); err != nil {
				t.Fatal(err)
			}
			h.Go("crash", func() {
				for range h.Rand(4) { // so that some recoveries end before
					h.Sleep(0)
				}
				crash("mem1")
				crash("mem2")
			})
			next.enter()
			err := next.recover()
			next.leave()
			if err != nil {
				failed++
				return
			}
			recovered++
			if has := quorum.Count(next.nodes, func(r *replica) bool { return r.has == next.last }); has < 2 {
				t.Errorf("seed %d: the log was replayed, and %d memory nodes have it", seed, has)
			}
		})
	}
	if recovered == 0 || failed == 0 {
		t.Errorf("%d recoveries came to their end, and %d did not", recovered, failed)
	}
}
