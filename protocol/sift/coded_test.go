package sift

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// coded is a configuration with codes that tolerates f failures.
func coded(f int) Config {
	c := config()
	c.Chunks, c.Block = f+1, 16*(f+1)
	c.Size, c.Entry, c.Slots = 4*c.Block, 3*(8+c.Block), 3
	c.Memory = nil
	for i := range 2*f + 1 {
		c.Memory = append(c.Memory, fmt.Sprint("mem", i+1))
	}
	return c
}

// runCoded runs a CPU node beside the memory nodes of a configuration, which die when they
// are called.
func runCoded(cfg Config, cpu func(h host.Host) error) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	var failed error
	world := sim.Config{Profile: profile, MaxSteps: 1 << 20, Nodes: []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) { failed = cpu(h) }}}}
	for _, name := range cfg.Memory {
		world.Nodes = append(world.Nodes, sim.Node{Name: name, Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
			h.Go("serve", func() { h.Logf("%v", ServeMemory(h, MemoryConfig{Layout: cfg.Layout, New: true})) })
			if l, err := h.Listen("die"); err == nil {
				_, _ = l.Accept(verbs.Forever)
			}
		}})
	}
	w, err := sim.New(world)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Run(first{}); err != nil {
		return err
	}
	return failed
}

func kill(h host.Host, name string) error {
	if _, err := h.Call(name, "die", nil, time.Second); !errors.Is(err, host.ErrUnreachable) {
		return fmt.Errorf("%s does not die: %w", name, err)
	}
	return nil
}

func begin(h host.Host, cfg Config) (*Coordinator, error) {
	n, err := Start(h, cfg)
	if err != nil {
		return nil, err
	}
	return n.Follow()
}

// Whatever is written, wherever it begins and ends, and whichever F memory nodes die in
// between, the coordinator and the next one read what an array holds.
func TestCodedMemoryIsAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.IntRange(1, 2).Draw(t, "F")
		cfg := coded(f)
		dead := rapid.Permutation(append([]string{}, cfg.Memory...)).Draw(t, "dead")[:f]
		writes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []Update {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Update {
				at := rapid.IntRange(0, cfg.Size-1).Draw(t, "at")
				return Update{Addr: at, Data: rapid.SliceOfN(rapid.Byte(), 1, min(cfg.Size-at, cfg.Block)).Draw(t, "data")}
			}), 1, 2).Draw(t, "list")
		}), 1, 12).Draw(t, "writes")
		deaths := rapid.SliceOfN(rapid.IntRange(0, len(writes)), f, f).Draw(t, "deaths")
		again := rapid.IntRange(0, len(writes)).Draw(t, "again")
		if err := runCoded(cfg, func(h host.Host) error { return writing(h, cfg, writes, dead, deaths, again) }); err != nil {
			t.Fatal(err)
		}
	})
}

// writing compares a memory with an array; nodes die, and another coordinator comes, before
// the writes with these numbers.
func writing(h host.Host, cfg Config, writes [][]Update, dead []string, deaths []int, again int) error {
	want, got := make([]byte, cfg.Size), make([]byte, cfg.Size)
	c, err := begin(h, cfg)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		for j, at := range deaths {
			if at == i {
				if err := kill(h, dead[j]); err != nil {
					return err
				}
			}
		}
		if i == again {
			if err := c.Close(); err != nil {
				return err
			}
			if c, err = begin(h, cfg); err != nil {
				return err
			}
		}
		if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("before write %d: read\n%x, want\n%x (%w)", i, got, want, err)
		}
		if i == len(writes) {
			return nil
		}
		err := c.WriteAll(writes[i])
		if errors.Is(err, ErrTooLong) {
			continue
		}
		if err != nil {
			return err
		}
		for _, u := range writes[i] {
			copy(want[u.Addr:], u.Data)
		}
	}
}

// A memory node stores a chunk of each block and no more, which is what codes are for (5.1).
func TestCodesDivideTheMemory(t *testing.T) {
	for f := 1; f <= 3; f++ {
		cfg := coded(f)
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		plain := cfg
		plain.Chunks = 0
		if got, want := cfg.regionSize()-cfg.memoryAt(), (plain.regionSize()-plain.memoryAt())/(f+1); got != want {
			t.Errorf("F=%d: %d bytes of %d, want %d", f, got, cfg.Size, want)
		}
	}
}

func TestCodesThatDoNotFitAreErrors(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"one chunk":                        func(c *Config) { c.Chunks = 1 },
		"a negative number":                func(c *Config) { c.Chunks = -2 },
		"chunks for another F":             func(c *Config) { c.Chunks, c.Block, c.Size, c.Entry = 3, 48, 192, 192 },
		"blocks that chunks do not divide": func(c *Config) { c.Block = 24; c.Size = 96 },
		"chunks of half words":             func(c *Config) { c.Block = 8; c.Size = 32 },
		"entries without room for a block": func(c *Config) { c.Entry = 32 },
		"too many":                         func(c *Config) { c.Chunks = MaxF + 2 },
	} {
		t.Run(name, func(t *testing.T) {
			c := coded(1)
			if change(&c); !errors.Is(c.Validate(), ErrConfig) {
				t.Errorf("got %v", c.Validate())
			}
		})
	}
}

// A place of the scratch memory holds a block, although it may be larger than what is copied at once
// otherwise: a read of no block would never end.
func TestAPlaceHoldsABlock(t *testing.T) {
	cfg := coded(1)
	cfg.Block = 2 * copySize
	cfg.Size, cfg.Entry = 2*cfg.Block, 8+cfg.Block
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if c := (&Coordinator{cfg: &cfg, coding: &coding{}}); c.chunk() < cfg.Block {
		t.Errorf("a place has %d bytes, and a block %d", c.chunk(), cfg.Block)
	}
}

// A list whose blocks do not fit into an entry is refused, although its bytes would.
func TestWholeBlocksMustFitIntoAnEntry(t *testing.T) {
	cfg := coded(1)
	cfg.Entry = 8 + cfg.Block
	if err := runCoded(cfg, func(h host.Host) error {
		c, err := begin(h, cfg)
		if err != nil {
			return err
		}
		if err := c.Write(cfg.Block-4, make([]byte, 8)); !errors.Is(err, ErrTooLong) {
			return fmt.Errorf("got %v", err)
		}
		return c.Write(0, make([]byte, cfg.Block))
	}); err != nil {
		t.Error(err)
	}
}

// A log of blocks of another size is an error, and not a panic.
func TestALogOfOtherBlocksIsMalformed(t *testing.T) {
	cfg := coded(1)
	if err := runCoded(cfg, func(h host.Host) error {
		c, err := begin(h, cfg)
		if err != nil {
			return err
		}
		if c.encode(Update{Addr: 8, Data: make([]byte, cfg.Block)}) || !errors.Is(c.stopped, ErrMalformed) {
			return fmt.Errorf("got %v", c.stopped)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// A node that comes back gets its chunks, which are made from those of the others. Then reads need
// them, since another node is lost.
func TestAMemoryNodeThatComesBackHasItsChunks(t *testing.T) {
	cfg := coded(1)
	cfg.Direct = 40
	for i, mem := range slices.Concat(cfg.Memory, cfg.Memory) {
		persistent, missed := "", 0
		if i >= len(cfg.Memory) { // it has kept its memory, and missed nothing of the first block
			persistent, missed = "memory", cfg.Block
		}
		crashing(t, &cfg, persistent, func(h host.Host, crash func(mem string)) {
			c := lead(t, h, cfg)
			want := make([]byte, cfg.Size)
			write := func(at int, data string) {
				t.Helper()
				if err := c.Write(at, []byte(data)); err != nil {
					t.Fatal(err)
				}
				copy(want[at:], data)
			}
			write(3, "around the border of two blocks")
			for at := range cfg.Slots { // so that the log does not have the first write any more
				write(missed+cfg.Block+at, "here")
			}
			for c.ApplyOne() {
			}
			crash(mem)
			fails(t, c, mem)
			for at := range 4 {
				write(missed+at*17, "while it is away")
			}
			h.Sleep(cfg.Period)
			if err := c.CopyRegion(mem); err != nil {
				t.Fatal(err)
			}
			write(60, "when it has joined")
			other := cfg.Memory[(i+1)%3]
			crash(other)
			fails(t, c, other)
			got := make([]byte, cfg.Size)
			if err := c.Read(0, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s came back: %v: read\n%q, want\n%q", mem, err, got, want)
			}
		})
	}
}

// A group with codes starts again from a snapshot of its blocks, and any two chunks give a block.
func TestAGroupWithCodesStartsAgainFromASnapshot(t *testing.T) {
	cfg := coded(1)
	cfg.Durable = &kept{size: cfg.Size}
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		if err := c.Write(20, []byte("durable, in two blocks")); err != nil || !c.PersistOne() {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, mem := range cfg.Memory {
			crash(mem)
		}
		h.Sleep(time.Second)
		if c, err = n.Restart(); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		fails(t, c, "mem1")
		got := make([]byte, 22)
		if err := errors.Join(c.Write(0, []byte("more")), c.Read(20, got)); err != nil || string(got) != "durable, in two blocks" {
			t.Errorf("%v: %q", err, got)
		}
	})
}
