package apps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// tiny is a run that takes a second or two.
func tiny(t *testing.T) Config {
	return Config{Dir: t.TempDir(), Sizes: []int{128, 8192}, Records: 200, Ops: 20, Rounds: 2, Seed: 1}
}

func run(t *testing.T, cfg Config) (rows []Row) {
	t.Helper()
	err := Run(t.Context(), cfg, func(r Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Everything runs in the three modes, with the peers in the simulator, and leaves
// nothing behind.
func TestRun(t *testing.T) {
	cfg := tiny(t)
	rows := run(t, cfg)
	var got []string
	for i := range rows {
		r := &rows[i]
		got = append(got, r.App+" "+r.What)
		if r.Strong.Median <= 0 || len(r.Weak.Rounds) != cfg.Rounds || r.StrongByWeak.Median <= 0 {
			t.Errorf("%s %s: strong %v, weak %v, ratio %v", r.App, r.What, r.Strong, r.Weak, r.StrongByWeak)
		}
		if r.NCL != nil || r.NCLByWeak != nil || r.StrongByNCL != nil {
			t.Errorf("%s %s: NCL has times in the simulator: %v", r.App, r.What, r.NCL)
		}
	}
	want := []string{"writes 128 B", "writes 8192 B"}
	for _, app := range []string{Pebble, SQLite} {
		for _, w := range ycsb.Names() {
			want = append(want, app+" "+w)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	left, err := os.ReadDir(cfg.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left in the directory (%v)", left, err)
	}
}

// After the same operations the three databases have the same records, those that were
// inserted among them, and the log of one of them was on the peers.
func TestSameRecords(t *testing.T) {
	for _, app := range []string{Pebble, SQLite} {
		t.Run(app, func(t *testing.T) {
			cfg, err := tiny(t).complete()
			if err != nil {
				t.Fatal(err)
			}
			err = bench.WithNCL(t.Context(), cfg.Config, func(n bench.NCLApp) error {
				r := &runner{ctx: t.Context(), cfg: cfg, dir: cfg.Dir, app: n, emit: func(Row) error { return nil }}
				return r.with(app, func(dbs [modes]database) error {
					records := cfg.Records
					for _, w := range []string{"A", "D", "F"} {
						if records, err = r.workload(app, w, records, dbs); err != nil {
							return err
						}
					}
					onPeers(t, cfg.Dir, app)
					return same(t, dbs, records)
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The modes differ only in durability.
func TestModes(t *testing.T) {
	cfg := tiny(t)
	err := bench.WithNCL(t.Context(), cfg.Config, func(n bench.NCLApp) error {
		r := &runner{ctx: t.Context(), cfg: cfg, dir: cfg.Dir, app: n}
		for m := range modes {
			syncs := m != Weak
			pebble, err := r.open(openPebble, Pebble, m)
			if err != nil {
				return err
			}
			if got := pebble.(*pebbleDB).sync.Sync; got != syncs {
				t.Errorf("%v: Pebble syncs: %v", m, got)
			}
			if err := pebble.close(); err != nil { // one file system at a time has files on the peers
				return err
			}
			sqlite, err := r.open(openSQLite, SQLite, m)
			if err != nil {
				return err
			}
			if got := pragma(t, sqlite.(*sqliteDB).db, "synchronous"); got != map[bool]string{true: "2", false: "0"}[syncs] {
				t.Errorf("%v: SQLite's synchronous is %s", m, got)
			}
			if got := pragma(t, sqlite.(*sqliteDB).db, "journal_mode"); got != "wal" {
				t.Errorf("%v: SQLite's journal is %s", m, got)
			}
			if err := sqlite.close(); err != nil {
				return err
			}
			dir, fsys, err := r.folder(Writes, m)
			if err != nil {
				return err
			}
			f, err := openLog(dir, m, fsys)
			if err != nil {
				return err
			}
			switch f := f.(type) {
			case *splitLog:
				if m != NCL || !f.f.NCL() {
					t.Errorf("%v: the log is on the peers: %v", m, f.f.NCL())
				}
			case *plainLog:
				counting := &counted{}
				if err := (&plainLog{counting, f.sync}).append([]byte("x")); err != nil || (counting.syncs == 1) != syncs || m == NCL {
					t.Errorf("%v: %d syncs of a write (%v)", m, counting.syncs, err)
				}
			}
			if err := f.remove(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counted counts its syncs.
type counted struct {
	os.File
	syncs int
}

func (*counted) Write(p []byte) (int, error) { return len(p), nil }

func (c *counted) Sync() error {
	c.syncs++
	return nil
}

func pragma(t *testing.T, db *sqlite3.Conn, name string) string {
	t.Helper()
	s, _, err := db.Prepare("PRAGMA " + name)
	if err != nil || !s.Step() {
		t.Fatal(err)
	}
	got := s.ColumnText(0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

// onPeers checks that the log of the application is there.
func onPeers(t *testing.T, dir, app string) {
	t.Helper()
	log := map[string]string{Pebble: "/db/*.log", SQLite: "/ycsb.db-wal"}[app]
	files, err := filepath.Glob(filepath.Join(dir, app+"-ncl", log))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no log: %v", err)
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(b), "verbatim-splitfs-1 ") {
			t.Errorf("%s is not on the peers: %.40q (%v)", name, b, err)
		}
	}
}

func same(t *testing.T, dbs [modes]database, records int) error {
	var all [modes]string
	for m := range modes {
		var b strings.Builder
		n, err := dbs[m].scan(nil, 1<<20, func(k, v []byte) { fmt.Fprintf(&b, "%s %x\n", k, v) })
		if err != nil {
			return err
		}
		if n != records || records <= 200 {
			t.Errorf("%v: %d records, want %d, which are more than at the beginning", m, n, records)
		}
		all[m] = b.String()
	}
	if all[Strong] != all[Weak] || all[Strong] != all[NCL] {
		t.Error("the databases differ")
	}
	return nil
}

func TestConfig(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"application \"redis\"": func(c *Config) { c.Apps = []string{"redis"} },
		"workload \"G\"":        func(c *Config) { c.Workloads = []string{"G"} },
		"size is 0":             func(c *Config) { c.Sizes = []int{0} },
		"records is -1":         func(c *Config) { c.Records = -1 },
		"operations is 1000001": func(c *Config) { c.Ops = MaxOps + 1 },
		"rounds is 1001":        func(c *Config) { c.Rounds = MaxRounds + 1 },
		"not a directory":       func(c *Config) { c.Dir = "/nowhere" },
	} {
		cfg := tiny(t)
		change(&cfg)
		if err := Run(t.Context(), cfg, nil); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	cfg := tiny(t)
	cfg.Backend = "rmda"
	if err := Run(t.Context(), cfg, nil); !errors.Is(err, bench.ErrConfig) {
		t.Errorf("got %v", err)
	}
}

// A cancelled run stops, and cleans up.
func TestCancel(t *testing.T) {
	cfg := tiny(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, cfg, func(Row) error {
		cancel()
		return nil
	})
	left, _ := os.ReadDir(cfg.Dir)
	if !errors.Is(err, context.Canceled) || len(left) > 0 {
		t.Errorf("got %v, and %v are left", err, left)
	}
}

// Ratios are the ratios of neighbouring rounds, not of the medians.
func TestRatios(t *testing.T) {
	row := Row{Backend: bench.RDMA}
	row.fill(&[modes]Times{{Rounds: []float64{40, 80, 120}}, {Rounds: []float64{1, 2, 3}}, {Rounds: []float64{10, 10, 60}}})
	if row.StrongByNCL.Median != 4 || row.NCLByWeak.Median != 10 || row.StrongByWeak.Median != 40 {
		t.Errorf("strong by ncl %v, ncl by weak %v, strong by weak %v", row.StrongByNCL, row.NCLByWeak, row.StrongByWeak)
	}
}

// noStore is a store that cannot create files.
type noStore struct{}

var errNoStore = errors.New("no peer today")

func (noStore) Create(string, int) (splitfs.Object, error) { return nil, errNoStore }

func (noStore) Recover(string) (splitfs.Object, error) { return nil, errNoStore }

// If a database cannot be opened, its file system is released.
func TestOpenFails(t *testing.T) {
	for name, open := range map[string]func(string, Mode, *splitfs.FS) (database, error){Pebble: openPebble, SQLite: openSQLite} {
		dir := t.TempDir()
		d, err := splitfs.OpenOSDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		fsys, err := splitfs.New(splitfs.Config{Dir: d, Store: noStore{}, Patterns: []string{"*.log", "*-wal"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(dir, NCL, fsys); err == nil {
			t.Fatalf("%s opens without a store", name)
		}
		if _, err := fsys.Stat("x"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s leaves its file system open: %v", name, err)
		}
	}
}
