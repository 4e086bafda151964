package arcadia_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A recovery writes nothing but superlines to copies that have all records: what counts is left alone (4.2).
func TestRecoveryWritesOnlyWhatIsMissing(t *testing.T) {
	opens := func(records int) func(h host.Host) error {
		return func(h host.Host) error {
			for life := range 2 {
				l, err := arcadia.Open(h, config(h, "backup1", "backup2"))
				if err != nil {
					return err
				}
				for n := 0; life == 0 && n < records; n++ {
					if _, err := l.Append([]byte("contents")); err != nil {
						return err
					}
				}
				if err := l.Close(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	none := run(t, opens(0), serve, serve)
	for _, n := range []int{1, 2, 3} {
		if got, want := run(t, opens(n), serve, serve)-none, uint64(2*2*n); got != want { // the forces
			t.Errorf("with %d records there are %d requests more, want %d", n, got, want)
		}
	}
}

// connected connects to two backups and uses the replicas.
func connected(t *testing.T, use func(h host.Host, r *arcadia.Replicas) error) uint64 {
	t.Helper()
	return run(t, func(h host.Host) error {
		r, err := arcadia.Connect(h, config(h, "backup1", "backup2"), 1)
		if err != nil {
			return err
		}
		return errors.Join(use(h, r), r.Close())
	}, serve, serve)
}

// A Force of nothing costs nothing, wherever it is, and one of a part of a word is one of the word.
func TestForceOfNothing(t *testing.T) {
	for off := range 9 {
		if n := connected(t, func(_ host.Host, r *arcadia.Replicas) error { return r.Force(off, 0) }); n != 0 {
			t.Errorf("at %d it posts %d requests", off, n)
		}
		if n := connected(t, func(_ host.Host, r *arcadia.Replicas) error { return r.Force(off, 1) }); n != 4 {
			t.Errorf("of a byte at %d it posts %d requests", off, n)
		}
	}
}

// A Force returns with the last answer, and does not wait for the timeout of a request that nobody has made.
func TestForceDoesNotWaitForMore(t *testing.T) {
	connected(t, func(h host.Host, r *arcadia.Replicas) error {
		for range 40 {
			if err := r.Force(0, 8); err != nil {
				return err
			}
		}
		if now := h.Now(); now >= arcadia.DefaultTimeout || r.Alive() != 3 {
			return fmt.Errorf("after %v, %d of 3 copies are left", now, r.Alive())
		}
		return nil
	})
}

// Fetch takes any range of a copy, and no other.
func TestFetchKeepsToTheCopy(t *testing.T) {
	connected(t, func(_ host.Host, r *arcadia.Replicas) error {
		for _, x := range [][2]int{{0, logSize}, {logSize - 8, 8}, {logSize, 0}, {0, 0}, {0, 8}} {
			if err := r.Fetch("backup1", x[0], x[1]); err != nil {
				return err
			}
		}
		for _, x := range [][2]int{{-1, 8}, {-8, 8}, {0, -1}, {8, -8}, {0, logSize + 1}, {logSize, 8}, {logSize + 8, 0}} {
			if err := r.Fetch("backup2", x[0], x[1]); !errors.Is(err, arcadia.ErrTooLarge) {
				return fmt.Errorf("%d bytes at %d: %w", x[1], x[0], err)
			}
		}
		if err := r.Force(0, 8); err != nil {
			return err
		}
		if err := r.Fetch("backup3", 0, 8); !errors.Is(err, arcadia.ErrConfig) {
			return fmt.Errorf("of nobody: %w", err)
		}
		return nil
	})
}

// Connect refuses a configuration that Open refuses, and one without backups.
func TestConnectRefuses(t *testing.T) {
	run(t, func(h host.Host) error {
		for what, change := range map[string]func(c *arcadia.Config){ //lint:ordered each is checked
			"quorum 0":     func(c *arcadia.Config) { c.Quorum = 0 },
			"no backups":   func(c *arcadia.Config) { *c = arcadia.Config{Name: c.Name, Size: c.Size} },
			"itself":       func(c *arcadia.Config) { c.Backups = []string{"app"} },
			"no name":      func(c *arcadia.Config) { c.Name = "" },
			"a short wait": func(c *arcadia.Config) { c.Timeout = -time.Second },
		} {
			c := config(h, "backup1")
			change(&c)
			if r, err := arcadia.Connect(h, c, 1); !errors.Is(err, arcadia.ErrConfig) || r != nil {
				return fmt.Errorf("%s: %v, %w", what, r, err)
			}
		}
		return nil
	}, serve)
}

// An entry of the cluster's service that is not one is an error, and so is a greeting with a byte too many or too few.
func TestNonsenseOfOthers(t *testing.T) {
	for _, entry := range []string{"", "nonsense", string(make([]byte, 17))} {
		s, err := scenario.SeededController(map[string][]byte{"arcadia/log": []byte(entry)})
		if err != nil {
			t.Fatal(err)
		}
		runIn(t, s, func(_ *sim.World, h host.Host) error {
			l, err := arcadia.Open(h, config(h, "backup1"))
			if l != nil || !errors.Is(err, arcadia.ErrCorrupt) {
				return fmt.Errorf("%q: %v, %w", entry, l, err)
			}
			return nil
		}, serve)
	}
	run(t, func(h host.Host) error {
		g, err := lend.NewGroup(h)
		if err != nil {
			return err
		}
		whole := binary.BigEndian.AppendUint64([]byte{7: 1}, logSize)
		for n, said := range [][]byte{whole[:15], append(whole[:16:16], 0), whole} {
			c, err := g.Dial("backup1", "arcadia/log", said, 1, verbs.QPConfig{}, time.Second)
			if (err == nil) != (n == 2) {
				return fmt.Errorf("greeting %q: %w", said, err)
			}
			if err == nil {
				err = g.Drop(c)
			} else {
				err = nil
			}
			if err != nil {
				return err
			}
		}
		return g.Close()
	}, serve)
}

// A copy with an epoch that nobody was promised is not recovered: the service has lost its entry, or serves another log.
func TestCopyOfALaterEpoch(t *testing.T) {
	for opens := 1; opens <= 3; opens++ { // the service promises epoch 2
		runIn(t, known(t, 1, "app", "backup1"), func(_ *sim.World, h host.Host) error {
			for range opens {
				l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: logSize})
				if err != nil {
					return err
				}
				if err := l.Close(); err != nil {
					return err
				}
			}
			cfg := config(h, "backup1")
			cfg.Quorum = 1
			_, err := arcadia.Open(h, cfg)
			if errors.Is(err, arcadia.ErrFenced) != (opens >= 2) {
				return fmt.Errorf("a copy has epoch %d: %w", opens, err)
			}
			return nil
		}, serve)
	}
}

// A Force that begins in the middle of a word takes all of its bytes to the backups.
func TestForceOfAPartOfAWord(t *testing.T) {
	connected(t, func(_ host.Host, r *arcadia.Replicas) error {
		for off := range 17 {
			data := []byte{byte(off) + 1, byte(off) + 2}
			r.Store(off, data)
			if err := r.Force(off, 2); err != nil {
				return err
			}
			r.Store(off, []byte{0, 0})
			if err := r.Fetch("backup1", 0, 32); err != nil {
				return err
			}
			got := make([]byte, 2)
			if err := r.Load(off, got); err != nil || string(got) != string(data) {
				return fmt.Errorf("at %d the backup has %v, not %v: %w", off, got, data, err)
			}
		}
		return nil
	})
}
