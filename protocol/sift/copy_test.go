package sift

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Blocks that do not go inline are sent from one place, which the card must have read before the next one
// is put there.
func TestLargeBlocksAreCopiedWhole(t *testing.T) {
	cfg := config()
	cfg.Block, cfg.Size, cfg.Entry = 512, 2048, 520
	for seed := range uint64(20) {
		crashingIn(t, restarting{anyRun{rand.New(rand.NewPCG(seed, 0))}}, &cfg, "", func(h host.Host, crash func(mem string)) {
			c := lead(t, h, cfg)
			for i := range cfg.Size / cfg.Block {
				if err := c.Write(i*cfg.Block, bytes.Repeat([]byte{byte('a' + i)}, cfg.Block)); err != nil {
					t.Fatal(err)
				}
			}
			crash("mem2")
			fails(t, c, "mem2")
			for len(c.Failed()) > 0 {
				h.Sleep(cfg.Period)
				h.Logf("%v", c.CopyRegion("mem2")) // it may not be up yet
			}
			same(t, c)
		})
	}
}

// restarting is anyRun, but hosts that have crashed start again when they can.
type restarting struct{ anyRun }

func (r restarting) Pick(events []sim.Event) int {
	for i, e := range events {
		if e.Actor.Restart() {
			return i
		}
	}
	return r.anyRun.Pick(events)
}

// An entry that is applied while a node comes back is applied at the others only. So its block is copied afterwards.
func TestACopyHasTheWritesThatWereNotApplied(t *testing.T) {
	returned(t, func(h host.Host, c *Coordinator, crash func(mem string)) {
		if err := c.Write(8, []byte("pending!")); err != nil {
			t.Fatal(err)
		}
		j, err := c.Rejoin("mem3")
		if err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = j.CopyBlock(); err != nil {
				t.Fatal(err)
			}
		}
		for c.ApplyOne() {
		}
		if err := j.Join(); err != nil {
			t.Fatal(err)
		}
		same(t, c)
	})
}

// A write that begins while its block is copied is on the node afterwards: it waits, or the copy has it.
func TestWritesBesideACopyReachTheNode(t *testing.T) {
	cfg := config()
	cfg.Size, cfg.Direct = 4*cfg.Block, 0
	beside, waited := 0, 0
	for seed := range uint64(100) {
		ended := false
		crashingIn(t, restarting{anyRun{rand.New(rand.NewPCG(seed, 0))}}, &cfg, "", func(h host.Host, crash func(mem string)) {
			c := lead(t, h, cfg)
			crash("mem3")
			fails(t, c, "mem3")
			j, err := c.Rejoin("mem3")
			for ; err != nil; j, err = c.Rejoin("mem3") { // it may not be up yet
				h.Sleep(cfg.Period)
			}
			tasks, joined := newCrew(h), false
			for b := range cfg.Size / cfg.Block {
				tasks.work("write", func() {
					if err := c.Write(b*cfg.Block, []byte("written!")); err != nil {
						t.Error(err)
					}
					c.ApplyOne()
					if joined {
						waited++
					} else {
						beside++
					}
				})
			}
			for more := true; more; {
				if more, err = j.CopyBlock(); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Join(); err != nil {
				t.Fatal(err)
			}
			joined = true
			tasks.wait()
			for b := range cfg.Size / cfg.Block { // none is locked any more
				if err := c.Write(b*cfg.Block, []byte("again...")); err != nil {
					t.Error(err)
				}
			}
			same(t, c)
			ended = true
		})
		if t.Failed() || !ended {
			t.Fatalf("seed %d; it has ended: %v", seed, ended)
		}
	}
	if beside == 0 || waited == 0 {
		t.Errorf("%d writes were beside a copy, and %d waited for its end", beside, waited)
	}
}

// A node that comes back has a block as it was when it was copied. Whatever is written to the block waits
// until the node gets it too.
func TestWritesToACopiedBlockWait(t *testing.T) {
	returned(t, func(h host.Host, c *Coordinator, crash func(mem string)) {
		j, err := c.Rejoin("mem3")
		if err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = j.CopyBlock(); err != nil {
				t.Fatal(err)
			}
		}
		written, tasks := 0, newCrew(h)
		tasks.work("write", func() {
			if err := c.Write(8, []byte("logged")); err != nil {
				t.Error(err)
			}
			written++
		})
		tasks.work("write directly", func() {
			if err := c.WriteDirect(8, []byte("direct")); err != nil {
				t.Error(err)
			}
			written++
		})
		h.Sleep(c.cfg.Period)
		if written > 0 {
			t.Error("a write to a block that is copied has not waited")
		}
		if err := j.Join(); err != nil {
			t.Error(err)
		}
		tasks.wait()
		same(t, c)
	})
}

// A write that waits for a copy ends when the coordinator stops: Close waits for it, and the copy never ends.
func TestWritesThatWaitForACopyEndWithTheCoordinator(t *testing.T) {
	returned(t, func(h host.Host, c *Coordinator, crash func(mem string)) {
		j, err := c.Rejoin("mem3")
		if err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = j.CopyBlock(); err != nil {
				t.Fatal(err)
			}
		}
		ended := 0
		for name, write := range map[string]func(int, []byte) error{"logged": c.Write, "direct": c.WriteDirect} {
			h.Go(name, func() {
				if err := write(8, []byte("too late")); !errors.Is(err, ErrReplaced) {
					t.Errorf("%s: %v", name, err)
				}
				ended++
			})
		}
		h.Go("close", func() {
			h.Sleep(c.cfg.Period)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			ended++
		})
		if h.Sleep(2 * c.cfg.Period); ended != 3 {
			t.Errorf("%d of 3 tasks have ended", ended)
		}
	})
}

// A coordinator goes on bringing a node back that fails meanwhile.
func TestANodeThatFailsAgainIsBroughtBack(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		a := &asking{Host: h, before: func() {}}
		c := lead(t, a, cfg)
		crash("mem3")
		fails(t, c, "mem3")
		calls := 0
		a.before = func() { // first for its word, and then for its memory
			if calls++; calls == 2 {
				crash("mem3")
			}
		}
		var ended error
		h.Go("readmit", func() { ended = c.Readmit() })
		h.Sleep(100 * cfg.Period)
		if same(t, c); calls < 4 {
			t.Errorf("%d calls", calls)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if h.Sleep(2 * cfg.Period); !errors.Is(ended, ErrReplaced) {
			t.Errorf("it ended with %v", ended)
		}
	})
}

// What is larger than a place of the scratch memory is read and copied part by part.
func TestMemoriesLargerThanAPlace(t *testing.T) {
	cfg := config()
	cfg.Size, cfg.Direct, cfg.Block = 3*copySize, 2*copySize, 4096
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		want, direct := make([]byte, cfg.Size), make([]byte, cfg.Direct)
		for i := range 6 {
			at := i*copySize/2 + 8*i
			copy(want[at:], "logged")
			copy(direct[at/2:], "direct")
			if err := errors.Join(c.Write(at, []byte("logged")), c.WriteDirect(at/2, []byte("direct"))); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, cfg.Size)
		if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: the memory is another one", err)
		}
		copies, err := c.Copies(0, cfg.Direct)
		if err != nil || len(copies) != 3 {
			t.Fatalf("%v: %d copies", err, len(copies))
		}
		for i, x := range copies {
			if !bytes.Equal(x, direct) {
				t.Errorf("%s has another direct zone", cfg.Memory[i])
			}
		}
	})
}
