package sift

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

func config() Config {
	return Config{Layout: Layout{Size: 1024, Direct: 64, Block: 8, Slots: 4, Entry: 512}, Node: 1, Memory: []string{"mem1", "mem2", "mem3"},
		Period: time.Millisecond, Missed: 2, BackOff: time.Millisecond, CallTimeout: time.Second}
}

// run runs a CPU node beside memory nodes, of which serve may replace the first.
func run(t *testing.T, cpu func(h host.Host), serve func(h host.Host, life int) error) {
	t.Helper()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Profile: profile, Nodes: []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) { cpu(h) }}}}
	for i, name := range config().Memory {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, life int) {
			if i == 0 && serve != nil {
				h.Logf("%v", serve(h, life))
				h.Sleep(time.Hour)
			}
			t.Error(ServeMemory(h, MemoryConfig{Layout: config().Layout, New: true}))
		}})
	}
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); err != nil {
		t.Fatal(end, err)
	}
}

// lead makes a CPU node the coordinator.
func lead(t *testing.T, h host.Host, cfg Config) *Coordinator {
	t.Helper()
	n, err := Start(h, cfg)
	if err != nil {
		t.Error(err)
		return nil
	}
	c, err := n.Follow()
	if err != nil {
		t.Error(err)
		return nil
	}
	return c
}

func TestRequestsOutsideTheMemoryAreErrors(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		tests := []struct {
			err  error
			want error
		}{
			{c.Write(1020, make([]byte, 8)), ErrBounds},
			{c.Write(-8, make([]byte, 8)), ErrBounds},
			{c.Write(math.MaxInt, make([]byte, 8)), ErrBounds},
			{c.Write(0, nil), ErrBounds},
			{c.WriteAll(nil), ErrTooLong},
			{c.Write(0, make([]byte, 512)), ErrTooLong},
			{c.Read(1024, make([]byte, 1)), ErrBounds},
			{c.WriteDirect(60, make([]byte, 8)), ErrBounds},
			{c.ReadDirect(-1, make([]byte, 1)), ErrBounds},
		}
		for i, x := range tests {
			if !errors.Is(x.err, x.want) {
				t.Errorf("%d: %v, want %v", i, x.err, x.want)
			}
		}
		if err := c.Write(0, []byte("still here")); err != nil {
			t.Error(err)
		}
	}, nil)
}

// Entries that do not go inline are sent from the mirror, whose slots must stay as they are
// until the card has them.
func TestLargeEntriesGoAroundTheLog(t *testing.T) {
	cfg := config()
	run(t, func(h host.Host) {
		c := lead(t, h, cfg)
		want := make([]byte, cfg.Size)
		for i := range 13 {
			data := bytes.Repeat([]byte{byte('a' + i)}, 300)
			addr := 100 * (i % 7)
			if err := c.Write(addr, data); err != nil {
				t.Fatal(err)
			}
			copy(want[addr:], data)
		}
		got := make([]byte, cfg.Size)
		if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: read %q, want %q", err, got, want)
		}
		term := c.Term()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Write(0, []byte("x")); !errors.Is(err, ErrReplaced) {
			t.Errorf("after Close: %v", err)
		}
		c = lead(t, h, cfg)
		clear(got)
		if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) || c.Term() <= term {
			t.Errorf("term %d, %v: read %q, want %q", c.Term(), err, got, want)
		}
	}, nil)
}

// A memory node may be slow, and its card may read a slot of the mirror late: the next entry waits for that.
func TestASlowNodeGetsWhatWasWritten(t *testing.T) {
	cfg := config()
	cfg.Slots, cfg.Size = 2, 2048
	for seed := range uint64(20) {
		crashingIn(t, anyRun{rand.New(rand.NewPCG(seed, 0))}, &cfg, "", func(h host.Host, _ func(string)) {
			c := lead(t, h, cfg)
			for i := range 6 {
				if err := c.Write(304*i, bytes.Repeat([]byte{byte('a' + i)}, 300)); err != nil {
					t.Fatal(err)
				}
			}
			same(t, c)
		})
	}
}

// A list is applied after WriteAll has returned, and the caller may use its memory again.
func TestAListMayChangeAfterItsWrite(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		data := []byte("old")
		list := []Update{{Addr: 0, Data: data}}
		if err := c.WriteAll(list); err != nil {
			t.Fatal(err)
		}
		copy(data, "new")
		list[0] = Update{Addr: 64, Data: []byte("longer")}
		c.ApplyOne()
		images, err := c.Inspect()
		if err != nil || string(images[0].Memory[:3]) != "old" || images[0].Memory[64] != 0 {
			t.Fatalf("%v: the memory is %q", err, images[0].Memory[:72])
		}
		if err := c.Read(0, data); err != nil || string(data) != "old" {
			t.Errorf("%v: read %q", err, data)
		}
	}, nil)
}

func TestDirectWritesAreOnEveryNode(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		if err := c.WriteDirect(8, []byte("direct")); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 6)
		if err := c.ReadDirect(8, p); err != nil || string(p) != "direct" {
			t.Errorf("%v: %q", err, p)
		}
		copies, err := c.Copies(8, 6)
		if err != nil || len(copies) != 3 || string(copies[2]) != "direct" {
			t.Errorf("%v: %q", err, copies)
		}
	}, nil)
}

func TestALeaseSavesTheHeartbeat(t *testing.T) {
	cfg := config()
	cfg.Lease = time.Millisecond
	run(t, func(h host.Host) {
		c := lead(t, h, cfg)
		beats := c.beats
		if err := c.Read(0, make([]byte, 8)); err != nil || c.beats != beats {
			t.Errorf("%v: %d heartbeats, and then %d", err, beats, c.beats)
		}
		h.Sleep(cfg.Lease)
		if err := c.Read(0, make([]byte, 8)); err != nil || c.beats != beats+1 {
			t.Errorf("%v: %d heartbeats, and then %d", err, beats, c.beats)
		}
	}, nil)
}

func TestNumbersThatAreUsedUpAreErrors(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		c.beats = math.MaxUint32
		if err := c.Beat(); !errors.Is(err, ErrExhausted) {
			t.Error(err)
		}
		c.n.term = math.MaxUint16
		if _, err := c.n.Campaign(); !errors.Is(err, ErrExhausted) {
			t.Error(err)
		}
	}, nil)
}

// A memory node that answers nonsense counts as one that has failed.
func TestNonsenseOfAMemoryNodeIsAFailure(t *testing.T) {
	answers := map[string]func(h host.Host, life int) error{
		"no greeting": func(h host.Host, _ int) error {
			l, err := h.Listen(service)
			for err == nil {
				var r host.Request
				if r, err = l.Accept(verbs.Forever); err == nil {
					r.Reply([]byte("nonsense"))
				}
			}
			return err
		},
		"another size": func(h host.Host, _ int) error {
			other := config().Layout
			other.Size *= 2
			return ServeMemory(h, MemoryConfig{Layout: other, New: true})
		},
		"another use": func(h host.Host, _ int) error {
			other := config().Layout
			other.Use++
			return ServeMemory(h, MemoryConfig{Layout: other, New: true})
		},
		"has restarted": func(h host.Host, _ int) error { return ServeMemory(h, MemoryConfig{Layout: config().Layout}) },
		"a word of nonsense": func(h host.Host, _ int) error {
			admin, err := lendAlone(h, "", 8, verbs.RemoteRead|verbs.RemoteAtomic)
			if err != nil {
				return err
			}
			admin.Region.Store64(0, math.MaxUint64-1)
			return lend.Serve(h, service, func(v *lend.Visitor) error { return v.Admit(admin) })
		},
	}
	for name, serve := range answers {
		t.Run(name, func(t *testing.T) {
			run(t, func(h host.Host) {
				cfg := config()
				n, err := Start(h, cfg)
				if err != nil {
					t.Fatal(err)
				}
				c, err := n.Follow()
				if name == "a word of nonsense" {
					if !errors.Is(err, ErrExhausted) {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Write(0, []byte("x")); err != nil || len(c.Live()) != 2 {
					t.Errorf("%v, with %v", err, c.Live())
				}
				if name == "has restarted" && fmt.Sprint(n.Outsiders()) != "[mem1]" {
					t.Errorf("outsiders: %v", n.Outsiders())
				}
			}, serve)
		})
	}
}
