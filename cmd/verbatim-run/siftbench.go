package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// siftBench is the command bench of Sift.
type siftBench struct {
	siftClientFlags
	clients, keys, size, gets int
	duration                  time.Duration
	seed                      uint64
	asJSON                    bool
}

// newSiftBench is the command that measures a store.
func newSiftBench() *cobra.Command {
	f := &siftBench{}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure puts and gets of a running store",
		Long: `Bench lets clients put and get random keys of a store that runs, one operation at a time each, and prints
how many were done in a second, and how long they took. It overwrites the keys bench-0 and up. The first
second does not count.

--json prints one object per kind of operation, with the keys op, ops, unknown, ops_per_second, p50_us, p99_us and
max_us.`,
		Example: "  verbatim-run sift bench --clients 8 --duration 10s --cpu cpu1=10.0.0.4:7031 --cpu cpu2=10.0.0.5:7031",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return siftEnded(hinted(f.run(c)), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.clients, "clients", 4, "clients")
	fl.IntVar(&f.keys, "spread", 1000, "number of different keys")
	fl.IntVar(&f.size, "size", 100, "`bytes` of a value")
	fl.IntVar(&f.gets, "gets", 50, "percentage of gets; the others are puts")
	fl.DurationVar(&f.duration, "duration", 5*time.Second, "how long to measure")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the keys that are drawn")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	f.define(c)
	return c
}

// measured are the operations of one kind.
type measured struct {
	ops, unknown int
	took         *hdrhistogram.Histogram // nanoseconds
}

func newMeasured() measured { return measured{took: hdrhistogram.New(1, int64(time.Hour), 3)} }

func (m *measured) add(o *measured) {
	m.ops += o.ops
	m.unknown += o.unknown
	m.took.Merge(o.took)
}

// siftRow is a line of --json.
type siftRow struct {
	Op      string  `json:"op"`
	Ops     int     `json:"ops"`
	Unknown int     `json:"unknown"`
	Rate    float64 `json:"ops_per_second"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	Max     float64 `json:"max_us"`
}

func (f *siftBench) check() error {
	switch {
	case f.clients < 1 || f.clients > 1000 || f.keys < 1:
		return fmt.Errorf("--clients %d, --spread %d: 1 to 1000 clients, and at least a key", f.clients, f.keys)
	case len(f.key(f.keys-1)) > f.store.cfg.Key:
		return fmt.Errorf("--spread %d: keys such as %s have %d bytes: at most --key %d", f.keys, f.key(f.keys-1), len(f.key(f.keys-1)), f.store.cfg.Key)
	case f.gets < 0 || f.gets > 100:
		return fmt.Errorf("--gets %d: a percentage", f.gets)
	case f.size < 0 || f.size > f.store.cfg.Value:
		return fmt.Errorf("--size %d: 0 to --value %d", f.size, f.store.cfg.Value)
	case f.duration <= 0:
		return fmt.Errorf("--duration %v: it must be positive", f.duration)
	}
	return nil
}

// key is the i-th key.
func (f *siftBench) key(i int) []byte { return fmt.Appendf(nil, "bench-%d", i) }

func (f *siftBench) run(c *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	h, cfg, err := f.open(c.ErrOrStderr())
	if err != nil {
		return err
	}
	sums := [2]measured{newMeasured(), newMeasured()} // puts, gets
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	for i := range f.clients {
		s, err := kv.NewClient(h, cfg)
		if err != nil {
			return err
		}
		all.Go(func() {
			mine, err := f.load(s, rand.New(rand.NewPCG(f.seed, uint64(i))))
			err = errors.Join(err, s.Close())
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			for op := range mine {
				sums[op].add(&mine[op])
			}
		})
	}
	if all.Wait(); failed != nil {
		return failed
	}
	return f.print(c, &sums)
}

// warm is the time at the beginning in which operations do not count.
const warm = time.Second

// load is one client.
func (f *siftBench) load(s *kv.Client, r *rand.Rand) (out [2]measured, err error) {
	out = [2]measured{newMeasured(), newMeasured()}
	began, value := time.Now(), make([]byte, f.size)
	for {
		op, key := 0, f.key(r.IntN(f.keys))
		if r.IntN(100) < f.gets {
			op = 1
		}
		at := time.Now()
		if at.Sub(began) > warm+f.duration {
			return out, nil
		}
		if op == 1 {
			_, _, err = s.Get(key)
		} else {
			err = s.Put(key, value)
		}
		if unknown := errors.Is(err, kv.ErrUnknown); err != nil && !unknown {
			return out, err
		} else if at.Sub(began) < warm {
			continue
		} else if unknown {
			out[op].unknown++
		}
		out[op].ops++
		if err := out[op].took.RecordValue(int64(time.Since(at))); err != nil {
			return out, err
		}
	}
}

func (f *siftBench) print(c *cobra.Command, sums *[2]measured) error {
	out := c.OutOrStdout()
	lines := cli.Lines(out)
	for op, m := range sums {
		us := func(quantile float64) float64 { return float64(m.took.ValueAtQuantile(quantile)) / 1e3 }
		row := siftRow{Op: [2]string{"put", "get"}[op], Ops: m.ops, Unknown: m.unknown, Rate: float64(m.ops) / f.duration.Seconds(), P50: us(50), P99: us(99), Max: us(100)}
		var err error
		if f.asJSON {
			err = lines.Encode(row)
		} else {
			_, err = fmt.Fprintf(out, "%s: %d operations, %.0f per second, median %.0f µs, 99th percentile %.0f µs, longest %.0f µs, outcome unknown of %d\n",
				row.Op, row.Ops, row.Rate, row.P50, row.P99, row.Max, row.Unknown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
