package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// rows collects what a bench emits.
func rows(t *testing.T, bench func(context.Context, Config, func(Row) error) error, cfg Config) []Row {
	t.Helper()
	var out []Row
	if err := bench(t.Context(), cfg, func(r Row) error { out = append(out, r); return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if _, err := json.Marshal(out[i]); err != nil {
			t.Errorf("%+v: %v", out[i], err)
		}
	}
	return out
}

// The loops, with few iterations, where time is not real.
func TestVerbsInSimulator(t *testing.T) {
	cfg := Config{Sizes: []int{8, 300}, Depths: []int{1, 5}, Iters: 1000, Rounds: 2}
	var got []string
	for _, r := range rows(t, Verbs, cfg) {
		got = append(got, r.Op)
		if r.Latency != nil || r.Perftest != nil {
			t.Errorf("%+v: neither means anything in the simulator", r)
		}
		if r.OpsPerSecond <= 0 || r.BytesPerSecond != r.OpsPerSecond*float64(r.Size) {
			t.Errorf("%+v: no throughput", r)
		}
		most := 0.01 // the world grows a little
		if r.Op == Send {
			most = 4 // the simulator copies the list of each receive, on both sides
		}
		if r.AllocsPerOp > most+0.01 {
			t.Errorf("%s of %d bytes, depth %d: %d allocations", r.Op, r.Size, r.Depth, r.Allocs)
		}
		if want := (r.Op == Write || r.Op == Send) && r.Size == 8; r.Inline != want {
			t.Errorf("%s of %d bytes inline: %v", r.Op, r.Size, r.Inline)
		}
	}
	if want := "write write write write read read read read cas cas send send"; strings.Join(got, " ") != want {
		t.Errorf("rows %v, want %s", got, want)
	}
}

func TestNCLInSimulator(t *testing.T) {
	got := rows(t, NCL, Config{Sizes: []int{1, 300}, Iters: 20, Rounds: 2})
	if len(got) != 2 || got[1].Size != 300 || got[1].OpsPerSecond <= 0 || got[1].Latency != nil {
		t.Errorf("%+v", got)
	}
}

// A measurement stops when it is cancelled.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range []func(context.Context, Config, func(Row) error) error{Verbs, NCL} {
		if err := f(ctx, Config{}, func(Row) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestConfig(t *testing.T) {
	for want, c := range map[string]Config{
		"backend":      {Backend: "tcp"},
		"operation":    {Ops: []string{"flush"}},
		"measure":      {Measures: []string{"jitter"}},
		"batch is 0":   {Batches: []int{0}},
		"size is 0":    {Sizes: []int{0}},
		"8388609":      {Sizes: []int{MaxSize + 1}},
		"depth":        {Depths: []int{MaxDepth + 1}},
		"iterations":   {Iters: 4},
		"rounds":       {Rounds: -1},
		"inline":       {Inline: -2},
		"neither Peer": {Backend: RDMA},
	} {
		if err := c.Validate(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want one that says %q", c, err, want)
		}
	}
	if err := NCL(t.Context(), Config{Sizes: []int{nclFile + 1}}, nil); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

// What is measured, and which tool of perftest measures the same.
func TestSpecs(t *testing.T) {
	of := func(c Config) (got []string) {
		c.Backend, c.Sizes, c.Peers = RDMA, []int{64}, []string{"a:1"}
		c, err := c.complete()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.specs() {
			text := fmt.Sprintf("%s %s %d %s", s.op, s.measure, s.depth, s.tool())
			if s.measure == Rate {
				text += fmt.Sprint(" ", s.batch)
			}
			got = append(got, strings.TrimSpace(text))
		}
		return got
	}
	want := []string{"write half-round-trip 1 ib_write_lat", "write post-to-completion 1", "write rate 1 ib_write_bw 1",
		"write post-to-completion 4", "write rate 4 ib_write_bw 1", "write rate 4 ib_write_bw 4",
		"read post-to-completion 1 ib_read_lat", "read rate 1 ib_read_bw 1",
		"read post-to-completion 4", "read rate 4 ib_read_bw 1", "read rate 4 ib_read_bw 4",
		"cas post-to-completion 1 ib_atomic_lat", "cas post-to-completion 4", "send half-round-trip 1 ib_send_lat"}
	if d := cmp.Diff(want, of(Config{Depths: []int{1, 4}, Batches: []int{1, 4}})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"write rate 1 ib_write_bw 1"}, of(Config{Ops: []string{Write, CAS}, Measures: []string{Rates}})); d != "" {
		t.Error(d)
	}
}

// Perftest wants a number of iterations that its batches divide.
func TestWholeBatches(t *testing.T) {
	for _, x := range [][3]int{{1000, 1, 1000}, {1000, 16, 1008}, {64, 64, 64}, {5, 64, 64}} {
		if got := (spec{batch: x[1]}).iters(x[0]); got != x[2] {
			t.Errorf("%d iterations in batches of %d: %d, want %d", x[0], x[1], got, x[2])
		}
	}
}

func TestTally(t *testing.T) {
	total := newTally()
	for i := range 2 {
		r := newRound(1000)
		for j := range r.lat {
			r.lat[j] = uint64(1000 * (j + 1))
		}
		r.ticks, r.seconds, r.allocs = 5_000_000, 0.001, uint64(i)
		p50, err := total.add(r)
		if err != nil || math.Abs(p50-500_000) > 1000 {
			t.Error(p50, err)
		}
	}
	x := Row{Backend: RDMA, Size: 10}
	total.fill(&x)
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > want/500 { // a histogram has three digits
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("p50", x.Latency.P50, 100) // of 5000 ticks a microsecond
	near("p90", x.Latency.P90, 180)
	near("p99.9", x.Latency.P999, 200)
	near("max", x.Latency.Max, 200)
	near("ops", x.OpsPerSecond, 1e6)
	near("bytes", x.BytesPerSecond, 1e7)
	if x.Allocs != 1 || x.CleanRounds != 1 || x.AllocsPerOp != 1.0/2000 {
		t.Error(x.Allocs, x.AllocsPerOp)
	}
}

// The ratio is that of neighbouring rounds: a machine that gets slower does not affect
// it.
func TestCompare(t *testing.T) {
	v := rival{ask: request{Tool: readTool}, least: []float64{900}}
	for i := range 9 {
		slow := float64(uint(1) << i)
		v.ours = append(v.ours, 1200*slow)
		v.theirs = append(v.theirs, 1000*slow)
	}
	v.ours[0], v.theirs[8] = 9999, 1 // two rounds that something disturbed
	c := v.compare("4.5", 1000)
	if c.Ratio != 1.2 || c.Low != 1.2 || c.High < 1.2 || c.Confidence < 0.95 || len(c.Ours) != 9 {
		t.Errorf("%+v", c)
	}
	v.ask.Tool = writeRate // in requests per second, which no tick counts
	if c := v.compare("4.5", 1000); c.Ratio != 1.2 || c.Ours[1] != 2400 || c.Theirs[1] != 2000 {
		t.Errorf("%+v", c)
	}
	v.ours, v.theirs = v.ours[1:3], v.theirs[1:3]
	if c := v.compare("4.5", 1000); c.Ratio != 1.2 || c.Confidence != 0 {
		t.Errorf("two rounds have an interval: %+v", c)
	}
}

// Requests to the other side may come from anybody.
func TestPeerRefuses(t *testing.T) {
	for _, s := range []string{"", "{", `{"size":-1}`, `{"size":9000000}`, `{"iters":999999999}`, `{"mtu":5000}`, `{"inline":-1}`, `{"depth":9999}`, `{"batch":-1}`} {
		if _, err := decodeRequest([]byte(s)); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// Code that uses NCL in the simulator runs in its task, one call after another, and
// gets errors.
func TestWithNCL(t *testing.T) {
	data := []byte("some data")
	got := make([]byte, len(data))
	failed := errors.New("failed")
	err := WithNCL(t.Context(), Config{}, func(app NCLApp) error {
		var err error
		for i := range 3 {
			e := app.Do(func(h host.Host, cfg ncl.Config) {
				var f *ncl.File
				if f, err = ncl.Create(h, cfg, fmt.Sprint("wal", i), 1024); err != nil {
					return
				}
				if err = f.Record(0, data); err == nil {
					_, err = f.ReadAt(got, 0)
				}
				f.Close()
			})
			if e = errors.Join(e, err); e != nil {
				return e
			}
		}
		return failed
	})
	if !errors.Is(err, failed) || string(got) != string(data) {
		t.Errorf("got %q and %v", got, err)
	}
	if err := WithNCL(t.Context(), Config{Backend: "rmda"}, nil); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
