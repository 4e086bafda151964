package sift

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

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

// A coordinator knows only the blocks of the log with which it began. A node that has missed more gets
// everything.
func TestANodeThatMissedMoreThanTheLogKnowsGetsEverything(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "memory", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		crash("mem3")
		fails(t, c, "mem3")
		for i := range 2 * cfg.Slots {
			if err := c.Write(8*i, []byte{1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = lead(t, h, cfg)
		fails(t, c, "mem3")
		if err := c.CopyRegion("mem3"); err != nil {
			t.Fatal(err)
		}
		same(t, c)
	})
}

// A coordinator knows which blocks the log has written with which it began.
func TestANodeGetsWhatTheLogOfAnEarlierCoordinatorWrote(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "memory", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		if err := c.Write(0, []byte("a")); err != nil {
			t.Fatal(err)
		}
		crash("mem3")
		fails(t, c, "mem3")
		if err := errors.Join(c.Write(8, []byte("b")), c.Write(16, []byte("c")), c.Close()); err != nil {
			t.Fatal(err)
		}
		c = lead(t, h, cfg)
		fails(t, c, "mem3")
		j, err := c.Rejoin("mem3")
		if err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = j.CopyBlock(); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Join(); err != nil || j.Copied() >= cfg.blocks() {
			t.Errorf("%v: %d blocks of %d were copied", err, j.Copied(), cfg.blocks())
		}
		same(t, c)
	})
}

// A node with a persistent region has lost its word, and what it had promised to coordinators.
func TestARestartedNodeDoesNotCountAlthoughItHasKeptItsMemory(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "memory", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		if err := errors.Join(c.Write(0, []byte("a")), c.Close()); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		h.Sleep(time.Second)
		if c = lead(t, h, cfg); fmt.Sprint(c.Failed()) != "[mem1]" {
			t.Errorf("failed are %v", c.Failed())
		}
	})
}

// After Close the node follows, maybe in another task, with the connections that a node that comes back
// would use.
func TestAClosedCoordinatorLeavesTheConnectionsAlone(t *testing.T) {
	returned(t, func(h host.Host, c *Coordinator, crash func(mem string)) {
		over, err := c.lookAt("mem3")
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		asked := over.Asked
		if _, err := c.lookAt("mem3"); !errors.Is(err, ErrReplaced) {
			t.Errorf("a look: %v", err)
		}
		if err := c.welcome("mem3", over); !errors.Is(err, ErrReplaced) {
			t.Errorf("a welcome: %v", err)
		}
		if err := c.Beat(); !errors.Is(err, ErrReplaced) { // the refused calls have released the lock
			t.Errorf("a heartbeat: %v", err)
		}
		if over.Asked != asked {
			t.Error("it has used the connection")
		}
	})
}

// A coordinator that is closed while it connects to a node that comes back leaves nothing behind.
func TestCloseDropsTheConnectionToANodeThatComesBack(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		a := &asking{Host: h, before: func() {}}
		c := lead(t, a, cfg)
		crash("mem3")
		fails(t, c, "mem3")
		h.Sleep(cfg.Period)
		j := &Rejoining{c: c}
		if err := j.reserve("mem3"); err != nil {
			t.Fatal(err)
		}
		var err error
		if j.word, err = c.lookAt("mem3"); err != nil {
			t.Fatal(err)
		}
		closed := false
		a.before = func() {
			h.Go("close", func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				closed = true
			})
			h.Sleep(time.Second)
		}
		if err := j.fail(j.connect("mem3")); !errors.Is(err, ErrReplaced) {
			t.Error(err)
		}
		a.before = func() {}
		if h.Sleep(time.Second); !closed || j.r != nil && j.r.CQ != nil {
			t.Errorf("closed: %v; the connection: %+v", closed, j.r)
		}
	})
}
