package queryfresh_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/queryfresh"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first always takes the first option: a run without faults.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// run runs hosts in the simulator: the primary p, and the backups b and c, which need not terminate.
func run(hosts ...func(h host.Host) error) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	var failed error
	cfg := sim.Config{Profile: profile, MaxSteps: 1 << 20}
	for i, f := range hosts {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: string("pbc"[i]), Daemon: i > 0, Main: func(h host.Host, _ int) {
			if err := f(h); err != nil && failed == nil {
				failed = fmt.Errorf("%s: %w", h.Name(), err)
			}
		}})
	}
	w, err := sim.New(cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Run(first{})
	return errors.Join(err, failed)
}

func config(size int, backups ...string) queryfresh.Config {
	return queryfresh.Config{Name: "log", Size: size, Backups: backups, Timeout: time.Second}
}

func serve(size int) func(host.Host) error {
	return func(h host.Host) error {
		b, err := queryfresh.NewBackup(h, config(size))
		if err != nil {
			return err
		}
		return b.Serve()
	}
}

func all(l *queryfresh.Log) (out []string, err error) {
	err = l.Each(func(data []byte) error { out = append(out, string(data)); return nil })
	return out, err
}

// A committed group is on the primary and on all backups. A backup takes over with it, and the earlier primary can
// commit nothing more.
func TestABackupTakesOver(t *testing.T) {
	for _, groups := range [][]int{{1}, {2, 1}, {0, 3}} {
		const size = 1 << 10
		var want []string
		err := run(func(h host.Host) error {
			l, err := queryfresh.Open(h, config(size, "b", "c"))
			if err != nil {
				return err
			}
			for _, n := range groups {
				for range n {
					want = append(want, fmt.Sprint("block ", len(want)))
					if err := l.Append([]byte(want[len(want)-1])); err != nil {
						return err
					}
				}
				if err := l.Commit(); err != nil {
					return err
				}
			}
			if _, err := h.Call("b", "take over", nil, verbs.Forever); err != nil {
				return err
			}
			err = errors.Join(l.Append([]byte("late")), l.Commit())
			if !errors.Is(err, queryfresh.ErrBackup) {
				return fmt.Errorf("the earlier primary can commit: %w", err)
			}
			if again := l.Append(nil); !errors.Is(again, queryfresh.ErrBackup) {
				return fmt.Errorf("the earlier primary can append: %w", again)
			}
			return nil
		}, func(h host.Host) error {
			b, err := queryfresh.NewBackup(h, config(size))
			if err != nil {
				return err
			}
			asked, err := h.Listen("take over")
			if err != nil {
				return err
			}
			h.Go("serve", func() { _ = b.Serve() })
			q, err := asked.Accept(verbs.Forever)
			if err != nil {
				return err
			}
			l, err := b.TakeOver()
			if err != nil {
				return err
			}
			if got, err := all(l); err != nil || !slices.Equal(got, want) {
				return fmt.Errorf("the backup has %q, want %q: %w", got, want, err)
			}
			if err := errors.Join(l.Append([]byte("next")), l.Commit()); err != nil {
				return err
			}
			q.Reply(nil)
			_, err = asked.Accept(verbs.Forever)
			return err
		}, serve(size))
		if err != nil {
			t.Errorf("groups of %v: %v", groups, err)
		}
	}
}

// A restarted primary ships its own log, whatever the backup had.
func TestABackupBeginsAnew(t *testing.T) {
	const size = 256
	err := run(func(h host.Host) error {
		for n := range 3 {
			l, err := queryfresh.Open(h, config(size, "b"))
			if err != nil {
				return err
			}
			if got, err := all(l); len(got) != n || err != nil {
				return fmt.Errorf("life %d has %q: %w", n, got, err)
			}
			if err := errors.Join(l.Append(fmt.Append(nil, n)), l.Commit()); err != nil {
				return err
			}
		}
		return nil
	}, serve(size))
	if err != nil {
		t.Error(err)
	}
}

// Invalid configurations and blocks that do not fit are refused with a reason.
func TestRefused(t *testing.T) {
	err := run(func(h host.Host) error {
		for what, cfg := range map[string]queryfresh.Config{"no name": {Size: 64}, "small": {Name: "x", Size: 16}, "odd": {Name: "x", Size: 65}, "large": {Name: "x", Size: 1 << 31}} { //lint:ordered each is checked
			_, err := queryfresh.NewBackup(h, cfg)
			if _, err2 := queryfresh.Open(h, cfg); !errors.Is(err, queryfresh.ErrConfig) || !errors.Is(err2, queryfresh.ErrConfig) {
				return fmt.Errorf("%s: %w, %w", what, err, err2)
			}
		}
		l, err := queryfresh.Open(h, config(64, "b"))
		if err != nil {
			return err
		}
		if err := l.Append(make([]byte, 49)); !errors.Is(err, queryfresh.ErrFull) {
			return fmt.Errorf("a block that does not fit: %w", err)
		}
		if err := errors.Join(l.Append(make([]byte, 48)), l.Commit()); err != nil {
			return err
		}
		if err := l.Append(nil); !errors.Is(err, queryfresh.ErrFull) {
			return fmt.Errorf("a full log: %w", err)
		}
		return nil
	}, serve(64))
	if err != nil {
		t.Error(err)
	}
}

// A backup with a log of another size is refused.
func TestSizesDiffer(t *testing.T) {
	err := run(func(h host.Host) error {
		if _, err := queryfresh.Open(h, config(128, "b")); !errors.Is(err, queryfresh.ErrBackup) {
			return fmt.Errorf("a backup with another size: %w", err)
		}
		return nil
	}, serve(64))
	if err != nil {
		t.Error(err)
	}
}

// A backup ends the connection of a primary that writes more than fits, or sends a message. A primary refuses a message
// that is not the answer of a backup.
func TestNonsense(t *testing.T) {
	for _, op := range []verbs.Opcode{verbs.OpSend, verbs.OpWriteImm} {
		err := run(func(h host.Host) error {
			g, err := lend.NewGroup(h)
			if err != nil {
				return err
			}
			g.Timeout = time.Second
			mem, err := g.Register(64)
			if err != nil {
				return err
			}
			c, err := g.Dial("b", "log", nil, 1, verbs.QPConfig{}, time.Second)
			if err != nil {
				return err
			}
			for range 2 { // 64 bytes fit once
				wr := verbs.SendWR{Op: op, SGL: []verbs.SGE{mem.SGE(0, 64)}}
				if op == verbs.OpWriteImm {
					wr.RemoteAddr, wr.RKey = c.Windows[0].Addr, c.Windows[0].RKey
				} else {
					wr.SGL = nil
				}
				if err = errors.Join(c.PostRecv(make([]verbs.RecvWR, 1)), g.Do(c, wr)); err != nil {
					break
				}
				if _, err = g.Receive(c); err != nil {
					return nil
				}
			}
			if err == nil {
				return errors.New("the backup answered")
			}
			return nil
		}, serve(64))
		if err != nil {
			t.Errorf("%v: %v", op, err)
		}
	}
	err := run(func(h host.Host) error {
		l, err := queryfresh.Open(h, config(64, "b"))
		if err != nil {
			return err
		}
		if err := errors.Join(l.Append([]byte("x")), l.Commit()); !errors.Is(err, queryfresh.ErrBackup) {
			return fmt.Errorf("a long answer: %w", err)
		}
		return nil
	}, func(h host.Host) error {
		g, err := lend.NewGroup(h)
		if err != nil {
			return err
		}
		lender, err := g.Lender()
		if err != nil {
			return err
		}
		mem, err := lender.Lend(64, verbs.RemoteWrite)
		if err != nil {
			return err
		}
		return lend.Serve(h, "log", func(v *lend.Visitor) error {
			c, err := v.Meet(g, verbs.QPConfig{Access: verbs.RemoteWrite}, mem)
			if err != nil {
				return err
			}
			if err := c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
				return err
			}
			h.Go("answer", func() {
				if _, err := g.Receive(c); err == nil {
					_ = g.Do(c, verbs.SendWR{Op: verbs.OpSend, SGL: []verbs.SGE{mem.SGE(0, 8)}})
				}
			})
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// image returns the memory of a log with three blocks.
func image(t *testing.T) []byte {
	b := make([]byte, 128)
	err := run(func(h host.Host) error {
		l, err := queryfresh.Open(h, config(len(b)))
		for i := range 3 {
			err = errors.Join(err, l.Append(fmt.Appendf(nil, "block %d", i)))
		}
		r, err2 := h.OpenPMEM("log", len(b))
		if err = errors.Join(err, err2, l.Commit()); err == nil {
			r.Load(0, b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// recovered checks the blocks that a log finds in memory, before and after an append: a prefix of the blocks, and then
// the new one.
func recovered(image []byte) error {
	return run(func(h host.Host) error {
		r, err := h.OpenPMEM("log", len(image))
		if err != nil {
			return err
		}
		r.Store(0, image)
		l, err := queryfresh.Open(h, config(len(image)))
		if err != nil {
			return err
		}
		got, err := all(l)
		if err != nil {
			return err
		}
		for i, x := range got {
			if x != fmt.Sprint("block ", i) {
				return fmt.Errorf("block %d is %q", i, x)
			}
		}
		err = errors.Join(l.Append([]byte("block 9")), l.Commit())
		if errors.Is(err, queryfresh.ErrFull) {
			return nil
		}
		again, err2 := all(l)
		if err = errors.Join(err, err2); err != nil || !slices.Equal(again, append(got, "block 9")) {
			return fmt.Errorf("after %q the log has %q: %w", got, again, err)
		}
		return nil
	})
}

// After any flipped bit or cut the log is a prefix of the blocks, and no later block reappears.
func TestEveryFlippedBitAndCut(t *testing.T) {
	good := image(t)
	if err := recovered(good); err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if err := recovered(b); err != nil {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	for n := range good {
		if err := recovered(append(slices.Clone(good[:n]), make([]byte, len(good)-n)...)); err != nil {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// Any bytes are a log with some blocks, or an empty one.
func FuzzOpen(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(b, make([]byte, queryfresh.MinSize)...)
		b = b[:len(b)&^7]
		err := run(func(h host.Host) error {
			r, err := h.OpenPMEM("log", len(b))
			if err != nil {
				return err
			}
			r.Store(0, b)
			l, err := queryfresh.Open(h, config(len(b)))
			if err != nil {
				return err
			}
			_, err = all(l)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
