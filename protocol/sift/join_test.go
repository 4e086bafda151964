package sift

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

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

// A node that has joined counts with everything that it was given, although nothing was written since.
func TestANodeThatHasJoinedHasTheLog(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		if err := c.Write(0, []byte("a")); err != nil {
			t.Fatal(err)
		}
		for _, name := range cfg.Memory {
			crash(name)
			fails(t, c, name)
			h.Sleep(cfg.Period)
			if err := c.CopyRegion(name); err != nil {
				t.Fatal(err)
			}
			same(t, c)
		}
	})
}

// An entry that no majority had may be in the log of a node that is copied. It must go: with the state word it would count
// as much as one that the next coordinator logs under its index.
func TestANodeThatIsCopiedHasNoEntryOfItsOwn(t *testing.T) {
	for name, copied := range map[string]func(c *Coordinator, r *replica) *Coordinator{
		"by a coordinator": func(c *Coordinator, r *replica) *Coordinator {
			c.group.Fail(r.Conn, host.ErrTimeout)
			if err := c.CopyRegion(r.Peer); err != nil {
				t.Error(err)
			}
			return c
		},
		"by a recovery": func(c *Coordinator, r *replica) *Coordinator {
			c.state(r, void, verbs.Signaled) // an earlier copy was not complete
			c.group.Await(r.Conn, r.Asked)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			return lead(t, c.h, *c.cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
				c := lead(t, h, cfg)
				if err := c.Write(0, []byte("a")); err != nil {
					t.Fatal(err)
				}
				r, b := c.nodes[2], make([]byte, c.shape.SlotSize())
				n := c.shape.Encode(b, &Entry{Index: c.last + 1, Term: c.term, Updates: []Update{{Addr: 0, Data: []byte("b")}}})
				c.scratch.Region.Store(0, b[:n])
				c.write(r, c.cfg.slotAt(c.last+1), c.scratch, 0, n, verbs.Signaled)
				c.group.Await(r.Conn, r.Asked)
				c = copied(c, r)
				c.enter()
				names, logs, err := c.readAll(stateSize, c.cfg.logSize())
				c.leave()
				if err != nil || len(logs) != 3 {
					t.Fatalf("%v: %d memory nodes", err, len(logs))
				}
				for i, b := range logs {
					if _, all := c.shape.Parse(b); len(all) != 1 || all[0].Index != c.last {
						t.Errorf("%s has the entries %v, and the log ends with %d", names[i], all, c.last)
					}
				}
			})
		})
	}
}

// Between the copy and the welcome a node may start again, and lose what was copied.
func TestAnotherLifeOfANodeIsNotWelcome(t *testing.T) {
	returned(t, func(h host.Host, c *Coordinator, crash func(mem string)) {
		over, err := c.lookAt("mem3")
		if err != nil {
			t.Fatal(err)
		}
		crash("mem3")
		h.Sleep(c.cfg.Period)
		if _, err := c.lookAt("mem3"); err != nil {
			t.Fatal(err)
		}
		if err := c.welcome("mem3", over); !errors.Is(err, ErrNotJoined) {
			t.Errorf("another life: %v", err)
		}
		if err := c.Beat(); err != nil || fmt.Sprint(c.n.Outsiders()) != "[mem3]" {
			t.Errorf("%v: outsiders are %v", err, c.n.Outsiders())
		}
		over = c.n.nodes[0].conn // nor is a member welcome whose connection has failed: it may have restarted since
		c.n.dialer.group.Fail(over, host.ErrTimeout)
		if _, err := c.lookAt("mem1"); err != nil {
			t.Fatal(err)
		}
		if err := c.welcome("mem1", over); !errors.Is(err, ErrNotJoined) {
			t.Errorf("over another connection: %v", err)
		}
	})
}
