package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrConfig is wrapped by errors about a configuration.
var ErrConfig = errors.New("stores: bad configuration")

// Config configures a measurement. Zero fields take the defaults.
type Config struct {
	Systems    []string // of [Systems]; the others are compared with the first; default: all
	Workloads  []string // of YCSB, except E: no store has scans; default: A, B, C
	F          int      // failures to tolerate; default 1
	Records    int      // default 1000
	Operations int      // of a round, of all clients together; default 2000
	Rounds     int      // default 10; from 6 on, ratios have intervals
	Clients    int      // at a time; default 4
	Seed       uint64
	// Open opens a device for a node. Nodes do not share one.
	Open func() (verbs.Device, error)
	// Logf receives the lines of the hosts. Nil: they are dropped.
	Logf func(format string, args ...any)
	// Done, if set, is called with each row as soon as it is measured.
	Done func(Row) error
}

// MaxOperations bounds the operations of all rounds: the stores keep all data in memory.
const MaxOperations = 10_000_000

// Complete sets defaults and checks c. Its error wraps [ErrConfig].
func (c *Config) Complete() error {
	for _, x := range []struct {
		field  *int
		usual  int
		most   int
		called string
	}{{&c.F, 1, 7, "failures"}, {&c.Records, 1000, 1_000_000, "records"}, {&c.Operations, 2000, 1_000_000, "operations"},
		{&c.Rounds, 10, 1000, "rounds"}, {&c.Clients, 4, 256, "clients"}} {
		if *x.field == 0 {
			*x.field = x.usual
		}
		if *x.field < 1 || *x.field > x.most {
			return fmt.Errorf("%w: %d %s: want 1 to %d", ErrConfig, *x.field, x.called, x.most)
		}
	}
	if c.Systems == nil {
		c.Systems = Systems
	}
	if c.Workloads == nil {
		c.Workloads = []string{"A", "B", "C"}
	}
	for i, s := range c.Systems {
		if !slices.Contains(Systems, s) || slices.Contains(c.Systems[:i], s) {
			return fmt.Errorf("%w: system %q: want some of %v, each once", ErrConfig, s, Systems)
		}
	}
	for _, w := range c.Workloads {
		if x, ok := ycsb.ByName(w); !ok || x.Shares[ycsb.Scan] > 0 {
			return fmt.Errorf("%w: workload %q: want some of A, B, C, D, F: no store can scan", ErrConfig, w)
		}
	}
	switch {
	case len(c.Systems) == 0 || len(c.Workloads) == 0:
		return fmt.Errorf("%w: no system or no workload", ErrConfig)
	case c.operations() > MaxOperations:
		return fmt.Errorf("%w: %d operations in all rounds: at most %d", ErrConfig, c.operations(), MaxOperations)
	case c.Open == nil:
		return fmt.Errorf("%w: Open is nil", ErrConfig)
	}
	return nil
}

// Row has the results of one system in all rounds of a workload.
type Row struct {
	Workload string `json:"workload"`
	System   string `json:"system"`
	// Rates has the operations per second of each round, and Rate is their median.
	Rates []float64 `json:"rates"`
	Rate  float64   `json:"rate"`
	P50   float64   `json:"p50_us"` // of an operation, in microseconds
	P99   float64   `json:"p99_us"`
	// Ratio compares the rates with those of the first system in the same round.
	Ratio bench.Ratio `json:"ratio"`
}

// Run starts all systems, loads the records, and measures.
func Run(ctx context.Context, c Config) (rows []Row, err error) {
	if err := c.Complete(); err != nil {
		return nil, err
	}
	var all []*measured
	defer func() {
		for _, m := range all {
			err = errors.Join(err, m.all.close())
		}
	}()
	for _, name := range c.Systems {
		s, err := c.start(name)
		if err != nil {
			return nil, err
		}
		m := &measured{system: s, c: &c}
		all = append(all, m)
		if err := m.load(); err != nil {
			return nil, fmt.Errorf("load %s: %w", name, err)
		}
	}
	for _, w := range c.Workloads {
		out, err := c.workload(ctx, w, all)
		if err != nil {
			return rows, err
		}
		rows = append(rows, out...)
	}
	return rows, nil
}

// workload runs the rounds of a workload.
func (c *Config) workload(ctx context.Context, name string, all []*measured) ([]Row, error) {
	for _, m := range all {
		m.rates, m.took = nil, hdrhistogram.New(1, int64(time.Hour), 3)
	}
	for round := range c.Rounds {
		for i := range all {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m := all[(i+round)%len(all)]
			if err := m.round(name, uint64(round)); err != nil {
				return nil, fmt.Errorf("workload %s on %s, round %d: %w", name, m.name, round+1, err)
			}
		}
	}
	var out []Row
	for _, m := range all {
		us := func(quantile float64) float64 { return float64(m.took.ValueAtQuantile(quantile)) / 1e3 }
		row := Row{Workload: name, System: m.name, Rates: m.rates, Rate: bench.Median(m.rates), P50: us(50), P99: us(99), Ratio: bench.RatioOf(m.rates, all[0].rates)}
		out = append(out, row)
		if c.Done != nil {
			if err := c.Done(row); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// measured is a system with its measurements.
type measured struct {
	*system
	c       *Config
	clients []client
	rates   []float64
	took    *hdrhistogram.Histogram
}

// load connects the clients, and stores the records.
func (m *measured) load() error {
	for range m.c.Clients {
		x, err := m.dial()
		if err != nil {
			return err
		}
		m.clients = append(m.clients, x)
	}
	return m.together(func(i int, x client) error {
		key, value := make([]byte, ycsb.KeySize), make([]byte, ycsb.ValueSize)
		for r := i; r < m.c.Records; r += m.c.Clients {
			if err := x.Put(ycsb.Key(key, r), ycsb.Loaded(value, r, m.c.Seed)); err != nil {
				return err
			}
		}
		return nil
	})
}

// together calls f for all clients at once.
func (m *measured) together(f func(i int, x client) error) error {
	errs := make([]error, len(m.clients))
	var all sync.WaitGroup
	for i, x := range m.clients {
		all.Go(func() { errs[i] = f(i, x) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// round executes the operations of a round, which are the same for each system.
func (m *measured) round(workload string, round uint64) error {
	w, _ := ycsb.ByName(workload) // exists: Complete has checked the name
	took := make([]*hdrhistogram.Histogram, len(m.clients))
	began := time.Now()
	err := m.together(func(i int, x client) error {
		took[i] = hdrhistogram.New(1, int64(time.Hour), 3)
		g := w.Generator(m.c.Records, m.c.Seed+round*uint64(len(m.clients))+uint64(i))
		n := m.c.Operations / len(m.clients)
		if i < m.c.Operations%len(m.clients) {
			n++
		}
		return operate(x, g, n, took[i])
	})
	if err != nil {
		return err
	}
	m.rates = append(m.rates, float64(m.c.Operations)/time.Since(began).Seconds())
	for _, h := range took {
		m.took.Merge(h)
	}
	return nil
}

// operate executes n operations.
func operate(x client, g *ycsb.Generator, n int, took *hdrhistogram.Histogram) error {
	key, value := make([]byte, ycsb.KeySize), make([]byte, ycsb.ValueSize)
	for range n {
		op, began := g.Next(), time.Now()
		if op.Kind == ycsb.Read || op.Kind == ycsb.ReadModifyWrite {
			if found, err := x.Get(ycsb.Key(key, op.Record)); err != nil {
				return err
			} else if !found {
				return fmt.Errorf("%w: record %d", ErrLost, op.Record)
			}
		}
		if op.Kind != ycsb.Read {
			if err := x.Put(ycsb.Key(key, op.Record), g.Value(value)); err != nil {
				return err
			}
		}
		if err := took.RecordValue(int64(time.Since(began))); err != nil {
			return err
		}
	}
	return nil
}

// ErrLost is wrapped by the error about a stored record that is missing.
var ErrLost = errors.New("stores: a record is missing")
