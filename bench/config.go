package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Errors; test for them with errors.Is.
var (
	// ErrConfig: a setting exceeds its limits.
	ErrConfig = errors.New("bench: bad configuration")
	// ErrPeer: the other side failed, or it stopped answering.
	ErrPeer = errors.New("bench: the peer failed")
	// ErrPerftest: perftest cannot be run, or its output cannot be parsed.
	ErrPerftest = errors.New("bench: perftest")
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
)

// Names of everything that can be chosen.
var (
	Backends = []string{Sim, RDMA}
	Ops      = []string{Write, Read, CAS}
)

// Limits.
const (
	MaxSize   = 8 << 20
	MaxDepth  = 4096
	MaxIters  = 10_000_000
	MaxRounds = 10_000
	MaxInline = 4096
)

// DefaultInline is what ib_write_lat asks for on the cards that it knows.
const DefaultInline = 220

// warmUp is the number of iterations before the first round.
const warmUp = 100

// Config configures a measurement. Zero fields take the defaults, except where stated.
type Config struct {
	// Backend is [Sim] or [RDMA]. Default Sim.
	Backend string
	// Ops are the operations. Default all. NCL ignores them.
	Ops []string
	// Sizes of messages in bytes, and Depths, the requests in flight. Default 128, and
	// 1. A compare-and-swap always has 8 bytes; NCL ignores Depths.
	Sizes, Depths []int
	// Iters is the number of iterations in a round, Rounds the number of rounds.
	// Default 1000 and 10; for NCL in the simulator 16 and 10.
	Iters, Rounds int
	// Inline is the longest payload to post inline; -1: none. Default [DefaultInline],
	// or less if the card takes less. NCL decides by itself.
	Inline int
	// Wait reaps completions with CQ.Wait, as protocols do, rather than by polling. The
	// simulator always waits.
	Wait bool
	// NoPerftest leaves the comparison out.
	NoPerftest bool
	// Pin ties the timed thread, and perftest, to a processor, as long as it polls.
	Pin bool
	// Progress is called with what is being measured. May be nil.
	Progress func(what string)

	// Device is the client's card, MTU that of the path, and Spin how long a wait
	// polls before it sleeps. The zero values are those of hw.Config.
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
	if len(c.Sizes) == 0 {
		c.Sizes = []int{128}
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
		return fmt.Errorf("%w: backend %q, and must be one of %v", ErrConfig, c.Backend, Backends)
	}
	for _, op := range c.Ops {
		if !slices.Contains(Ops, op) {
			return fmt.Errorf("%w: operation %q, and must be one of %v", ErrConfig, op, Ops)
		}
	}
	for _, n := range c.Sizes {
		if err := within("size", n, 1, MaxSize); err != nil {
			return err
		}
	}
	for _, n := range c.Depths {
		if err := within("depth", n, 1, MaxDepth); err != nil {
			return err
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
		return fmt.Errorf("%w: %s is %d, and must be %d to %d", ErrConfig, what, v, least, most)
	}
	return nil
}

// spec is a row to measure.
type spec struct {
	op      string
	measure string
	size    int
	depth   int
}

// specs are the rows of the bench of verbs, in order.
func (c *Config) specs() []spec {
	var out []spec
	for _, op := range c.Ops {
		sizes := c.Sizes
		if op == CAS {
			sizes = []int{8}
		}
		for _, size := range sizes {
			for _, depth := range c.Depths {
				if op == Write && depth == 1 && c.Backend == RDMA && !c.Wait {
					out = append(out, spec{op, HalfRoundTrip, size, depth})
				}
				out = append(out, spec{op, Completion, size, depth})
			}
		}
	}
	return out
}

// opcode is the operation of the request.
func (s spec) opcode() verbs.Opcode {
	switch s.op {
	case Read:
		return verbs.OpRead
	case CAS:
		return verbs.OpCompareSwap
	}
	return verbs.OpWrite
}
