package bench

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// The measures of a row.
const (
	// HalfRoundTrip is half the time until a Write or a Send has been answered by another.
	HalfRoundTrip = "half-round-trip"
	// Completion is the time from before the post to after the poll of the completion.
	Completion = "post-to-completion"
	// Rate is the number of requests completed in a second.
	Rate = "rate"
	// Recorded is the time of one call of ncl.File.Record.
	Recorded = "record"
)

// Row is one measurement.
type Row struct {
	Bench   string `json:"bench"`
	Backend string `json:"backend"`
	Op      string `json:"op"`
	Measure string `json:"measure"`
	Size    int    `json:"size"`
	Depth   int    `json:"depth"`
	Batch   int    `json:"batch,omitempty"` // requests in a call, for a rate
	Iters   int    `json:"iters"`
	Rounds  int    `json:"rounds"`
	Reap    string `json:"reap"` // poll or wait
	Inline  bool   `json:"inline"`
	MTU     int    `json:"mtu"`
	// Latency is nil for rates, and in the simulator, where time is not real.
	Latency *Latency `json:"latency_us"`
	// OpsPerSecond is the number of operations that this side completed in a second of
	// real time; in the simulator, the speed of simulation.
	OpsPerSecond   float64 `json:"ops_per_second"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// Allocs are the allocations of this process while the loops ran. The runtime makes
	// a few now and then; if an operation allocated, every round would have allocations.
	Allocs      uint64      `json:"allocs"`
	CleanRounds int         `json:"rounds_without_allocs"`
	AllocsPerOp float64     `json:"allocs_per_op"`
	Perftest    *Comparison `json:"perftest"`
	// Missing is the reason why a requested comparison is missing.
	Missing string `json:"missing,omitempty"`
}

// Latency is in microseconds.
type Latency struct {
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// Comparison compares our rounds with rounds of perftest: latencies in microseconds, or
// rates in requests per second.
type Comparison struct {
	Tool    string `json:"tool"`
	Version string `json:"version"`
	// Median is the median of the medians, or of the rates, that perftest printed. Min is
	// the least latency of all.
	Median float64 `json:"median"`
	Min    float64 `json:"min,omitempty"`
	// Ratio is the median of the ratios, ours by theirs, of neighbouring rounds; with the
	// probability Confidence it is in [Low, High]. With too few rounds there is no such
	// interval: then all three are 0.
	Ratio      float64 `json:"ratio"`
	Low        float64 `json:"ratio_low"`
	High       float64 `json:"ratio_high"`
	Confidence float64 `json:"ratio_confidence"`
	// Ours and Theirs are the medians, or the rates, of the rounds.
	Ours   []float64 `json:"rounds_ours"`
	Theirs []float64 `json:"rounds_theirs"`
}

// tally sums up rounds.
type tally struct {
	hist    *hdrhistogram.Histogram // of ticks
	ops     int
	ticks   uint64 // of all loops
	seconds float64
	allocs  uint64
	clean   int // rounds without allocations
}

func newTally() *tally { return &tally{hist: newHistogram()} }

// newHistogram covers up to some minutes of ticks, with three digits.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 1<<40, 3) }

// add adds a round, and returns the median of its latencies in ticks, if it has some.
func (t *tally) add(r *round) (float64, error) {
	h := newHistogram()
	for _, v := range r.lat {
		if err := h.RecordValue(int64(max(v, 1))); err != nil {
			return 0, err
		}
	}
	t.hist.Merge(h)
	t.ops += r.ops
	t.ticks += r.ticks
	t.seconds += r.seconds
	t.allocs += r.allocs
	if r.allocs == 0 {
		t.clean++
	}
	return float64(h.ValueAtQuantile(50)), nil
}

// perMicrosecond returns the rate of ticks over all rounds together, because a clock may be
// coarse.
func (t *tally) perMicrosecond() float64 { return float64(t.ticks) / t.seconds / 1e6 }

// fill writes the results into x.
func (t *tally) fill(x *Row) {
	x.OpsPerSecond = float64(t.ops) / t.seconds
	x.BytesPerSecond = x.OpsPerSecond * float64(x.Size)
	x.Allocs, x.CleanRounds = t.allocs, t.clean
	x.AllocsPerOp = float64(t.allocs) / float64(t.ops)
	if x.Backend == Sim || t.hist.TotalCount() == 0 {
		return
	}
	us := func(v float64) float64 { return v / t.perMicrosecond() }
	at := func(q float64) float64 { return us(float64(t.hist.ValueAtQuantile(q))) }
	x.Latency = &Latency{Min: us(float64(t.hist.Min())), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9),
		Max: us(float64(t.hist.Max())), Mean: us(t.hist.Mean())}
}
