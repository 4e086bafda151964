package apps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// Mode is a way to store the data of an application.
type Mode int

// The modes.
const (
	Strong Mode = iota
	Weak
	NCL
	modes
)

func (m Mode) String() string { return [...]string{"strong", "weak", "ncl"}[m] }

// Row is one workload of an application, in the three modes.
type Row struct {
	App     string `json:"app"`
	What    string `json:"what"` // the size of a write, or the workload
	Backend string `json:"backend"`
	Ops     int    `json:"ops"` // of a round
	Rounds  int    `json:"rounds"`
	Records int    `json:"records,omitempty"` // at the beginning
	Seed    uint64 `json:"seed"`
	// The times of an operation in microseconds. NCL has none in the simulator.
	Strong *Times `json:"strong"`
	Weak   *Times `json:"weak"`
	NCL    *Times `json:"ncl"`
	// Ratios of these times, by rounds.
	StrongByNCL  *bench.Ratio `json:"strong_by_ncl"`
	NCLByWeak    *bench.Ratio `json:"ncl_by_weak"`
	StrongByWeak *bench.Ratio `json:"strong_by_weak"`
}

// Times are the times of the rounds.
type Times struct {
	Median float64   `json:"median_us"`
	Rounds []float64 `json:"rounds_us"`
}

// Run measures, and calls emit for each row.
func Run(ctx context.Context, cfg Config, emit func(Row) error) error {
	cfg, err := cfg.complete()
	if err != nil {
		return err
	}
	return bench.WithNCL(ctx, cfg.Config, func(app bench.NCLApp) (err error) {
		dir, err := os.MkdirTemp(cfg.Dir, "verbatim-bench-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		r := &runner{ctx: ctx, cfg: cfg, dir: dir, app: app, emit: emit}
		for _, name := range cfg.Apps {
			what := r.ycsb
			if name == Writes {
				what = r.writes
			}
			if err := what(name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

type runner struct {
	ctx  context.Context
	cfg  Config
	dir  string
	app  bench.NCLApp
	emit func(Row) error
}

// region is the region size of a new file on the peers: the log of either database fits.
const region = 8 << 20

// folder makes a folder for an application in a mode, and a file system in it if its
// log goes to the peers.
func (r *runner) folder(app string, m Mode) (string, *splitfs.FS, error) {
	dir := filepath.Join(r.dir, app+"-"+m.String())
	if err := os.Mkdir(dir, 0o700); err != nil || m != NCL {
		return dir, nil, err
	}
	d, err := splitfs.OpenOSDir(dir)
	if err != nil {
		return "", nil, err
	}
	fsys, err := splitfs.New(splitfs.Config{Dir: d, Store: &store{r.app}, Patterns: splitfs.Presets["pebble"], Region: region})
	return dir, fsys, err
}

// subject makes a round of some operations, and returns their duration.
type subject func(ops int) (time.Duration, error)

// contest alternates the modes, and emits the row.
func (r *runner) contest(row Row, subjects [modes]subject) error {
	row.Backend, row.Ops, row.Rounds, row.Seed = r.cfg.Backend, r.cfg.Ops, r.cfg.Rounds, r.cfg.Seed
	r.cfg.progress("%s, %s", row.App, row.What)
	var times [modes]Times
	for i := -1; i < row.Rounds; i++ { // the first round does not count
		for k := range modes {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			m := (k + Mode(i) + modes) % modes
			took, err := subjects[m](row.Ops)
			if err != nil {
				return fmt.Errorf("%s, %v: %w", row.What, m, err)
			}
			if i >= 0 {
				times[m].Rounds = append(times[m].Rounds, float64(took)/1e3/float64(row.Ops))
			}
		}
	}
	for m := range modes {
		times[m].Median = bench.Median(times[m].Rounds)
	}
	row.fill(&times)
	return r.emit(row)
}

func (row *Row) fill(times *[modes]Times) {
	ratio := func(a, b Mode) *bench.Ratio {
		x := bench.RatioOf(times[a].Rounds, times[b].Rounds)
		return &x
	}
	row.Strong, row.Weak, row.StrongByWeak = &times[Strong], &times[Weak], ratio(Strong, Weak)
	if row.Backend != bench.Sim {
		row.NCL, row.StrongByNCL, row.NCLByWeak = &times[NCL], ratio(Strong, NCL), ratio(NCL, Weak)
	}
}

// database is one of the applications, with records for YCSB.
type database interface {
	load(first, end int, seed uint64) error
	do(op ycsb.Op, g *ycsb.Generator) error
	// scan calls f for up to n records from a key on, and returns their number.
	scan(from []byte, n int, f func(key, value []byte)) (int, error)
	close() error
}

// ycsb runs all workloads on the application called name.
func (r *runner) ycsb(name string) error {
	return r.with(name, func(dbs [modes]database) (err error) {
		records := r.cfg.Records
		for _, w := range r.cfg.Workloads {
			if records, err = r.workload(name, w, records, dbs); err != nil {
				return err
			}
		}
		return nil
	})
}

// open opens a database in its own folder.
func (r *runner) open(open func(string, Mode, *splitfs.FS) (database, error), name string, m Mode) (database, error) {
	dir, fsys, err := r.folder(name, m)
	if err != nil {
		return nil, err
	}
	return open(dir, m, fsys)
}

// with calls f with the three databases of an application, with their records.
func (r *runner) with(name string, f func([modes]database) error) (err error) {
	open := openPebble
	if name == SQLite {
		open = openSQLite
	}
	var dbs [modes]database
	for m := range modes {
		db, e := r.open(open, name, m)
		if e != nil {
			return fmt.Errorf("%v: %w", m, e)
		}
		defer func() { err = errors.Join(err, db.close()) }()
		dbs[m] = db
		r.cfg.progress("%s, %v: %d records", name, m, r.cfg.Records)
		const batch = 1000
		for i := 0; i < r.cfg.Records; i += batch {
			if err := db.load(i, min(i+batch, r.cfg.Records), r.cfg.Seed); err != nil {
				return fmt.Errorf("%v: %w", m, err)
			}
		}
	}
	return f(dbs)
}

// workload runs one workload on databases with the given number of records, and returns
// their number of records afterwards.
func (r *runner) workload(app, name string, records int, dbs [modes]database) (int, error) {
	w, _ := ycsb.ByName(name)
	var subjects [modes]subject
	var generators [modes]*ycsb.Generator
	for m := range modes {
		g := w.Generator(records, r.cfg.Seed)
		generators[m] = g
		subjects[m] = func(ops int) (time.Duration, error) {
			began := time.Now()
			for range ops {
				op := g.Next()
				if err := dbs[m].do(op, g); err != nil {
					return 0, fmt.Errorf("%v of record %d: %w", op.Kind, op.Record, err)
				}
			}
			return time.Since(began), nil
		}
	}
	err := r.contest(Row{App: app, What: name, Records: records}, subjects)
	return generators[Strong].Records(), err
}

const sizeUnit = " B"

// sizeName formats a size for a row.
func sizeName(n int) string { return strconv.Itoa(n) + sizeUnit }
