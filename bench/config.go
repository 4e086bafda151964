package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/bench/perftest"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors; test for them with errors.Is.
var (
	// ErrConfig: a setting exceeds its limits.
	ErrConfig = errors.New("bench: bad configuration")
	// ErrPeer: the other side failed, or it stopped answering.
	ErrPeer = errors.New("bench: the peer failed")
	// ErrPerftest: perftest cannot be run, or its output cannot be parsed.
	ErrPerftest = perftest.Err
)

// The backends.
const (
	Sim  = "sim"
	RDMA = "rdma"
)

// The operations of the bench of verbs.
const (
	Write = "write"
	Read  = "read"
	CAS   = "cas"
	Send  = "send"
)

// The measures of an operation.
const (
	Latencies = "latency"
	Rates     = "rate"
)

// Names of everything that can be chosen.
var (
	Backends = []string{Sim, RDMA}
	Ops      = []string{Write, Read, CAS, Send}
	Measures = []string{Latencies, Rates}
)

// Limits.
const (
	MaxSize   = perftest.MaxSize
	MaxDepth  = 4096
	MaxIters  = perftest.MaxIters
	MaxRounds = 10_000
	MaxInline = 4096
)

// DefaultInline is the inline size that ib_write_lat requests on the cards that it knows.
const DefaultInline = 220

// warmUp is the number of iterations before the first round.
const warmUp = 100

// Config configures a measurement. Zero fields take the defaults, except where stated.
type Config struct {
	// Backend is [Sim] or [RDMA]. Default Sim.
	Backend string
	// Ops are the operations, and Measures their measures. Default all. NCL ignores
	// them, and the simulator has no separate measure for rates.
	Ops, Measures []string
	// Sizes of messages in bytes, and Depths, the requests in flight. Default 128, and
	// 1. A compare-and-swap always has 8 bytes; NCL ignores Depths.
	Sizes, Depths []int
	// Batches are the numbers of requests in a call when rates are measured; the last
	// request of a call is signaled. Default 1. A depth below the batch has no row.
	Batches []int
	// Iters is the number of iterations in a round, Rounds the number of rounds.
	// Default 1000 and 10; for NCL in the simulator 16 and 10.
	Iters, Rounds int
	// Inline is the longest payload to post inline; -1: none. Default [DefaultInline],
	// or less if the limit of the card is less. NCL chooses its own limit.
	Inline int
	// Wait reaps completions with CQ.Wait, as protocols do, rather than by polling. The
	// simulator always waits.
	Wait bool
	// NoPerftest omits the comparison.
	NoPerftest bool
	// Pin ties the timed thread, and perftest, to a processor, as long as it polls.
	Pin bool
	// Progress, if not nil, is called with a description of each measurement.
	Progress func(what string)

	// Device is the client's card, MTU the MTU of the path, and Spin how long a wait
	// polls before it sleeps. Zero values have the meaning of hw.Config.
	Device string
	MTU    int
	Spin   time.Duration
	// Peers are the addresses of the other sides, host:port: one for verbs, 2F+1 for
	// NCL. If there are none, StartPeer starts them here.
	Peers []string
	// StartPeer starts the other side called name. stop stops it. RDMA needs it unless
	// there are Peers.
	StartPeer func(ctx context.Context, name string) (addr string, stop func() error, err error)
}

// complete returns c with its defaults filled in, if it is valid.
func (c Config) complete() (Config, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	c.Backend = cmp.Or(c.Backend, Sim)
	if len(c.Ops) == 0 {
		c.Ops = Ops
	}
	if len(c.Measures) == 0 {
		c.Measures = Measures
	}
	if len(c.Sizes) == 0 {
		c.Sizes = []int{128}
	}
	if len(c.Batches) == 0 {
		c.Batches = []int{1}
	}
	if len(c.Depths) == 0 {
		c.Depths = []int{1}
	}
	orDefault(&c.Iters, 1000)
	orDefault(&c.Rounds, 10)
	orDefault(&c.Inline, DefaultInline)
	c.Inline = max(c.Inline, 0)
	c.Wait = c.Wait || c.Backend == Sim
	return c, nil
}

func (c *Config) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

// Validate checks c. Its error wraps [ErrConfig] and names the field.
func (c *Config) Validate() error {
	if c.Backend != "" && !slices.Contains(Backends, c.Backend) {
		return fmt.Errorf("%w: unknown backend %q; want one of %v", ErrConfig, c.Backend, Backends)
	}
	for _, op := range c.Ops {
		if !slices.Contains(Ops, op) {
			return fmt.Errorf("%w: unknown operation %q; want one of %v", ErrConfig, op, Ops)
		}
	}
	for _, m := range c.Measures {
		if !slices.Contains(Measures, m) {
			return fmt.Errorf("%w: unknown measure %q; want one of %v", ErrConfig, m, Measures)
		}
	}
	for _, f := range []struct {
		name   string
		values []int
		most   int
	}{{"size", c.Sizes, MaxSize}, {"depth", c.Depths, MaxDepth}, {"batch", c.Batches, MaxDepth}} {
		for _, n := range f.values {
			if err := within(f.name, n, 1, f.most); err != nil {
				return err
			}
		}
	}
	// The minimum number of iterations is perftest's.
	if c.Iters != 0 {
		if err := within("iterations", c.Iters, 5, MaxIters); err != nil {
			return err
		}
	}
	if err := within("rounds", c.Rounds, 0, MaxRounds); err != nil {
		return err
	}
	if err := within("inline", c.Inline, -1, MaxInline); err != nil {
		return err
	}
	if c.Backend == RDMA && len(c.Peers) == 0 && c.StartPeer == nil {
		return fmt.Errorf("%w: neither Peers nor StartPeer", ErrConfig)
	}
	return nil
}

func within(what string, v, least, most int) error {
	if v < least || v > most {
		return fmt.Errorf("%w: %s is %d; it must be %d to %d", ErrConfig, what, v, least, most)
	}
	return nil
}

// spec is a row to measure.
type spec struct {
	op      string
	measure string
	size    int
	depth   int
	batch   int // requests in a call
}

// specs returns the rows of the bench of verbs, in order.
func (c *Config) specs() []spec {
	var out []spec
	for _, op := range c.Ops {
		sizes := c.Sizes
		if op == CAS {
			sizes = []int{8}
		}
		for _, size := range sizes {
			if op == Send {
				out = append(out, spec{op, HalfRoundTrip, size, 1, 1})
				continue
			}
			for _, depth := range c.Depths {
				out = append(out, c.measures(spec{op, Completion, size, depth, 1})...)
			}
		}
	}
	return slices.DeleteFunc(out, func(s spec) bool { return c.Backend == RDMA && !slices.Contains(c.Measures, s.kind()) })
}

// measures returns the rows of an operation, a size and a depth.
func (c *Config) measures(s spec) (out []spec) {
	if c.Backend != RDMA { // rows of the simulator report the rate of simulation
		return []spec{s}
	}
	if s.op == Write && s.depth == 1 && !c.Wait {
		ping := s
		ping.measure = HalfRoundTrip
		out = append(out, ping)
	}
	out = append(out, s)
	for _, batch := range c.Batches {
		if batch <= s.depth && s.op != CAS {
			out = append(out, spec{s.op, Rate, s.size, s.depth, batch})
		}
	}
	return out
}

func (s spec) String() string {
	text := fmt.Sprintf("%s of %d bytes, depth %d, %s", s.op, s.size, s.depth, s.measure)
	if s.batch > 1 {
		text += fmt.Sprintf(", %d in a call", s.batch)
	}
	return text
}

// iters is n, or the next number that its batches divide.
func (s spec) iters(n int) int { return (n + s.batch - 1) / s.batch * s.batch }

// kind is one of [Measures].
func (s spec) kind() string {
	if s.measure == Rate {
		return Rates
	}
	return Latencies
}

// opcode returns the operation of the request.
func (s spec) opcode() verbs.Opcode {
	switch s.op {
	case Read:
		return verbs.OpRead
	case CAS:
		return verbs.OpCompareSwap
	case Send:
		return verbs.OpSend
	}
	return verbs.OpWrite
}
