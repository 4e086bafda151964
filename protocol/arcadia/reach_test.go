package arcadia_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// known is the cluster's service if it knows a log with this quorum, created in epoch 1.
func known(t *testing.T, quorum byte, members ...string) sim.Service {
	t.Helper()
	entry := []byte{7: 1, 8: 1, 16: quorum}
	for _, m := range members {
		entry = wire.AppendString(entry, m)
	}
	s, err := scenario.SeededController(map[string][]byte{"arcadia/log": entry})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused requires an error, and that its text is whole.
func refused(err, want error, says string) error {
	if !errors.Is(err, want) || strings.Contains(err.Error(), "%!") || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("the error is %w, and should wrap %q and say %q", err, want, says)
	}
	return nil
}

// nowhere is a backup that does not serve.
func nowhere(host.Host) error { return nil }

// A recovery that finds the log, but can write the new epoch to fewer than W copies, fails: W copies would later not
// know that an earlier primary is fenced. The error says which backup failed.
func TestRecoveryNeedsAWriteQuorum(t *testing.T) {
	runIn(t, known(t, 2, "app", "backup1"), func(_ *sim.World, h host.Host) error {
		l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: logSize}) // this host's copy
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
		_, err = arcadia.Open(h, config(h, "backup1"))
		return refused(err, arcadia.ErrUnavailable, "1 of 2 copies have the new epoch; 2 are needed: backup backup1")
	}, nowhere)
}

// If all copies are within reach, but have lost their content, the error has no cause to add.
func TestErrorWithoutAFailedBackup(t *testing.T) {
	runIn(t, known(t, 1, "backup1"), func(_ *sim.World, h host.Host) error {
		cfg := config(h, "backup1")
		cfg.RemoteOnly, cfg.Quorum = true, 1
		_, err := arcadia.Open(h, cfg)
		return refused(err, arcadia.ErrCorrupt, "0 of 1 copies are undamaged; 1 are needed")
	}, serve)
}

// overtaken is a service at which another host's promise comes before each Set of this one.
type overtaken struct{ coord.Client }

func (o overtaken) Set(key string, value []byte, version uint64) (uint64, error) {
	later := bytes.Clone(value)
	later[7]++ // the epoch
	if _, err := o.Client.Set(key, later, coord.AnyVersion); err != nil {
		return 0, err
	}
	return o.Client.Set(key, value, version)
}

// A recovery that was overtaken while it wrote its epoch does not hold the log, although no backup says so.
func TestRecoveryThatWasOvertakenFails(t *testing.T) {
	run(t, func(h host.Host) error {
		cfg := config(h, "backup1")
		cfg.Coord = overtaken{cfg.Coord}
		_, err := arcadia.Open(h, cfg) // a new log: its only Set is that which confirms the epoch
		return refused(err, arcadia.ErrFenced, "")
	}, serve)
}

// The receives of both sides last, however many forces a primary makes.
func TestManyForces(t *testing.T) {
	run(t, func(h host.Host) error {
		l, err := arcadia.Open(h, config(h, "backup1"))
		if err != nil {
			return err
		}
		for range 200 {
			r, err := l.Append([]byte("1"))
			if err == nil {
				err = l.Cleanup(r)
			}
			if err != nil {
				return err
			}
		}
		if n := l.Copies(); n != 2 {
			return fmt.Errorf("%d of 2 copies are left", n)
		}
		return nil
	}, serve)
}

// A backup that takes too long has failed alone: those that have answered have not.
func TestOnlyTheLateBackupFails(t *testing.T) {
	const superlines = 2 // the requests of Open
	late := lending(logSize, func(request int) []verbs.SendWR {
		if request > superlines {
			return nil
		}
		return []verbs.SendWR{{Op: verbs.OpSendImm, Imm: uint32(request)}}
	})
	for _, backups := range [][]func(host.Host) error{{serve, late}, {late, serve}} {
		run(t, func(h host.Host) error {
			cfg := config(h, "backup1", "backup2")
			cfg.Quorum = 2
			l, err := arcadia.Open(h, cfg)
			if err != nil {
				return err
			}
			if n := l.Copies(); n != 3 {
				return fmt.Errorf("%d of 3 copies are left by Open", n)
			}
			if _, err := l.Append([]byte("1")); err != nil {
				return err
			}
			if n := l.Copies(); n != 2 {
				return fmt.Errorf("%d of 3 copies are left, want all but the late one", n)
			}
			return nil
		}, backups...)
	}
}

// A recovery that reads from a copy in which a record is marked as cleaned up does not invert the mark again. The
// copy that it repairs may later be the only one that counts.
func TestRepairKeepsTheMarkOfACleanedRecord(t *testing.T) {
	runIn(t, scenario.Controller(), func(w *sim.World, h host.Host) error {
		cfg := config(h, "backup1", "backup2", "backup3")
		cfg.RemoteOnly, cfg.Quorum = true, 2
		without := func(name string) error {
			for _, b := range cfg.Backups {
				w.Heal("app", b)
			}
			return w.Inject(faults.Cut, "app", name)
		}
		l, err := arcadia.Open(h, cfg)
		if err != nil {
			return err
		}
		var last *arcadia.Record
		for _, data := range []string{"a", "b"} {
			if last, err = l.Append([]byte(data)); err != nil {
				return err
			}
		}
		if err := errors.Join(without("backup1"), l.Cleanup(last), l.Close()); err != nil {
			return err
		}
		// The first recovery repairs backup1 from backup3. Of the copies that the second one reaches, only backup1 counts.
		for _, name := range []string{"backup2", "backup3"} {
			if err := without(name); err != nil {
				return err
			}
			if l, err = opened(h, cfg, "1:a "); err != nil {
				return fmt.Errorf("without %s: %w", name, err)
			}
			if err := l.Close(); err != nil {
				return err
			}
		}
		return nil
	}, serve, serve, serve)
}
