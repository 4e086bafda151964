package arcadia_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first always takes the first option: a run without faults.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

const logSize = 128 + 40*32

func config(h host.Host, backups ...string) arcadia.Config {
	return arcadia.Config{Name: "log", Size: logSize, Backups: backups, Quorum: len(backups) + 1, Coord: scenario.Dial(h)}
}

func serve(h host.Host) error {
	return arcadia.ServeBackup(h, arcadia.BackupConfig{Name: "log", Size: logSize})
}

// run runs an application once with backups, and returns the number of posted requests.
func run(t *testing.T, app func(h host.Host) error, backups ...func(h host.Host) error) uint64 {
	t.Helper()
	return runIn(t, scenario.Controller(), func(_ *sim.World, h host.Host) error { return app(h) }, backups...)
}

// runIn is run with a service of the cluster, and an application that may cut links.
func runIn(t *testing.T, service sim.Service, app func(w *sim.World, h host.Host) error, backups ...func(h host.Host) error) uint64 {
	t.Helper()
	var failed error
	var w *sim.World
	strong, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Profile: strong, Services: []sim.Service{service}}
	cfg.Nodes = []sim.Node{{Name: "app", Main: func(h host.Host, _ int) { failed = app(w, h) }, Again: func(int, bool) bool { return false }}}
	for i, b := range backups {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: fmt.Sprint("backup", i+1), Daemon: true, Main: func(h host.Host, _ int) { h.Logf("%v", b(h)) }})
	}
	w, err = sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); end != sim.Finished || failed != nil {
		t.Fatalf("%v: %v %v", end, err, failed)
	}
	return w.Stats().Posts
}

// A force of consecutive records costs one Write with immediate and one Send for each backup, and nothing else: no
// superline is written (A13).
func TestForceCostsOneWriteAndOneSend(t *testing.T) {
	forces := func(n, records int) func(h host.Host) error {
		return func(h host.Host) error {
			l, err := arcadia.Open(h, config(h, "backup1", "backup2"))
			if err != nil {
				return err
			}
			for range n {
				var last *arcadia.Record
				for range records {
					if last, err = l.Reserve(8); err != nil {
						return err
					}
					if err := errors.Join(last.Copy(0, []byte("contents")), last.Complete()); err != nil {
						return err
					}
				}
				if err := last.Force(1); err != nil {
					return err
				}
			}
			return nil
		}
	}
	none := run(t, forces(0, 0), serve, serve)
	for n := 1; n <= 20; n++ { // more than a batch of receives
		if got := run(t, forces(n, 2), serve, serve) - none; got != uint64(n*2*2) {
			t.Errorf("%d forces post %d requests", n, got)
		}
	}
}

// A later primary finds the forced records, even without a copy of its own: it then reads those of the backups.
func TestRecordsAreRecovered(t *testing.T) {
	for _, order := range []arcadia.Order{arcadia.FlushAfter, arcadia.FlushBefore, arcadia.FlushParallel} {
		run(t, func(h host.Host) error {
			cfg := config(h, "backup1", "backup2")
			cfg.Order = order
			return errors.Join(appendTo(h, cfg, ""), appendTo(h, cfg, "1:a 2:b "), appendTo(h, cfg, "1:a 2:b 3:a 4:b "))
		}, serve, serve)
	}
	run(t, func(h host.Host) error {
		cfg := config(h, "backup1", "backup2")
		cfg.RemoteOnly, cfg.Quorum = true, 2
		return errors.Join(appendTo(h, cfg, ""), appendTo(h, cfg, "1:a 2:b "), appendTo(h, cfg, "1:a 2:b 3:a 4:b "))
	}, serve, serve)
}

// opened opens a log, and compares what it holds.
func opened(h host.Host, cfg arcadia.Config, want string) (*arcadia.Log, error) {
	l, err := arcadia.Open(h, cfg)
	if err != nil {
		return nil, err
	}
	got := ""
	err = l.Each(func(r *arcadia.Record, data []byte) error {
		got += fmt.Sprintf("%d:%s ", r.LSN(), data)
		return nil
	})
	if err == nil && got != want {
		err = fmt.Errorf("the log holds %q, want %q", got, want)
	}
	return l, err
}

// appendTo opens a log, compares what it holds, and appends two records.
func appendTo(h host.Host, cfg arcadia.Config, want string) error {
	l, err := opened(h, cfg, want)
	if err != nil {
		return err
	}
	for _, data := range []string{"a", "b"} {
		if _, err := l.Append([]byte(data)); err != nil {
			return err
		}
	}
	return l.Close()
}

// A backup with an invalid answer has failed. Without a quorum Open fails too, and its error wraps both reasons.
func TestNonsenseOfABackup(t *testing.T) {
	for name, c := range map[string]struct {
		backup func(h host.Host) error
		also   error
	}{
		"an answer without number": {answering(verbs.SendWR{Op: verbs.OpSend}, 1), arcadia.ErrNonsense},
		"two answers to one":       {answering(verbs.SendWR{Op: verbs.OpSendImm, Imm: 1}, 2), arcadia.ErrNonsense},
		"no answer":                {answering(verbs.SendWR{}, 0), verbs.ErrTimeout},
		"no greeting":              {greeting([]byte("hello")), arcadia.ErrNonsense},
		"a window of another size": {small, arcadia.ErrNonsense},
		"another size": {func(h host.Host) error {
			return arcadia.ServeBackup(h, arcadia.BackupConfig{Name: "log", Size: logSize + 8})
		}, nil},
	} {
		run(t, func(h host.Host) error {
			_, err := arcadia.Open(h, config(h, "backup1"))
			if !errors.Is(err, arcadia.ErrUnavailable) || c.also != nil && !errors.Is(err, c.also) {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}, c.backup)
	}
}

// A primary that names a range outside the copy, or sends another message, loses its connection. The backup serves the
// next primary.
func TestNonsenseOfAPrimary(t *testing.T) {
	for name, wr := range map[string]verbs.SendWR{
		"an immediate out of range": {Op: verbs.OpWriteImm, Imm: logSize / 8},
		"a range over the end":      {Op: verbs.OpWriteImm, Imm: logSize/8 - 1},
		"the largest immediate":     {Op: verbs.OpWriteImm, Imm: 1<<32 - 1},
		"a message":                 {Op: verbs.OpSend},
	} {
		run(t, func(h host.Host) error {
			g, err := lend.NewGroup(h)
			if err != nil {
				return err
			}
			g.Timeout = time.Second
			mem, err := g.Register(16)
			if err != nil {
				return err
			}
			said := []byte{7: 1, 14: logSize >> 8, 15: logSize & 0xff}
			c, err := g.Dial("backup1", "arcadia/log", said, 1, verbs.QPConfig{}, time.Second)
			if err != nil {
				return err
			}
			if wr.Op == verbs.OpWriteImm {
				wr.RemoteAddr, wr.RKey, wr.SGL = c.Windows[0].Addr, c.Windows[0].RKey, []verbs.SGE{mem.SGE(0, 16)}
			}
			if err := c.PostRecv(make([]verbs.RecvWR, 1)); err != nil {
				return err
			}
			_ = g.Do(c, wr)
			if _, err := g.Receive(c); err == nil {
				return fmt.Errorf("%s was answered", name)
			}
			if _, err := g.Dial("backup1", "arcadia/log", said, 1, verbs.QPConfig{}, time.Second); !errors.Is(err, lend.ErrRefused) {
				return fmt.Errorf("the same epoch again: %w", err)
			}
			said[7] = 2
			_, err = g.Dial("backup1", "arcadia/log", said, 1, verbs.QPConfig{}, time.Second)
			return err
		}, serve)
	}
}

// Invalid configurations are refused before anything is changed.
func TestReplicatedConfigs(t *testing.T) {
	for name, change := range map[string]func(*arcadia.Config){
		"W > N":                    func(c *arcadia.Config) { c.Quorum = 4 },
		"W < 1":                    func(c *arcadia.Config) { c.Quorum = 0 },
		"N < 1":                    func(c *arcadia.Config) { c.Backups, c.RemoteOnly = nil, true },
		"a backup twice":           func(c *arcadia.Config) { c.Backups[1] = c.Backups[0] },
		"a backup without name":    func(c *arcadia.Config) { c.Backups[1] = "" },
		"too large":                func(c *arcadia.Config) { c.Size = arcadia.MaxReplicatedSize + 8 },
		"an order":                 func(c *arcadia.Config) { c.Order = 3 },
		"an order of no flush":     func(c *arcadia.Config) { c.Order, c.RemoteOnly, c.Quorum = arcadia.FlushBefore, true, 2 },
		"a negative timeout":       func(c *arcadia.Config) { c.Timeout = -1 },
		"no service":               func(c *arcadia.Config) { c.Coord = nil },
		"a quorum without backups": func(c *arcadia.Config) { c.Backups = nil },
		"its own backup":           func(c *arcadia.Config) { c.Backups[1] = "app" },
		"too small":                func(c *arcadia.Config) { c.Size = 128 },
	} {
		run(t, func(h host.Host) error {
			cfg := config(h, "backup1", "backup2")
			change(&cfg)
			if _, err := arcadia.Open(h, cfg); !errors.Is(err, arcadia.ErrConfig) {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}, serve, serve)
	}
	run(t, func(h host.Host) error { // the quorum and the members cannot change
		if err := appendTo(h, config(h, "backup1", "backup2"), ""); err != nil {
			return err
		}
		for _, cfg := range []arcadia.Config{config(h, "backup1"), func() arcadia.Config { c := config(h, "backup1", "backup2"); c.Quorum = 2; return c }()} {
			if _, err := arcadia.Open(h, cfg); !errors.Is(err, arcadia.ErrConfig) {
				return fmt.Errorf("other members: %w", err)
			}
		}
		return nil
	}, serve, serve)
}
