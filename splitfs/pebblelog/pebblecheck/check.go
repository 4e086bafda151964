package pebblecheck

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog"
)

// Ways to keep Pebble's log on Arcadia.
const (
	File   = "file"   // pebblefs on splitfs/recordstore
	Record = "record" // pebblelog
)

// ErrConfig is wrapped by every error of Config.
var ErrConfig = errors.New("pebblecheck: bad configuration")

// Config describes a check.
type Config struct {
	Way       string // File or Record; "" is Record
	Points    int    // number of crashes
	Writers   int    // 0: 2
	Frequency int    // records whose LSN it divides are forced; 0: 1; always 1 with File
	Seed      uint64 // of the crashes and of the losses in power failures
	// Progress, if set, is called after each crash with the number so far.
	Progress func(done int)
}

// Validate fills in the defaults and checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	if c.Way == "" {
		c.Way = Record
	}
	if c.Writers == 0 {
		c.Writers = 2
	}
	if c.Frequency == 0 {
		c.Frequency = 1
	}
	switch {
	case c.Way != File && c.Way != Record:
		return fmt.Errorf("%w: way %q; want %s or %s", ErrConfig, c.Way, File, Record)
	case c.Points < 1 || c.Points > 1_000_000 || c.Writers < 1 || c.Writers > 64 || c.Frequency < 1:
		return fmt.Errorf("%w: points must be 1 to 1000000, writers 1 to 64, and the frequency at least 1", ErrConfig)
	case c.Way == File && c.Frequency > 1:
		return fmt.Errorf("%w: with its log in a file, Pebble forces each batch; a frequency above 1 needs way %s", ErrConfig, Record)
	}
	return nil
}

// Report is the result of a check.
type Report struct {
	Crashes int // crashes tried
	Power   int // of these, power failures
	Batches int // batches applied
	// MostLost is the largest number of acknowledged batches that a recovery lacked: at most F*T with frequency F
	// and T writers.
	MostLost int
	// Behind counts the recoveries in which the log had lost batches that were in tables, Replayed those that replayed
	// batches, and Tables those that found batches in tables. With File all three are 0: Pebble does not report them.
	Behind, Replayed, Tables int
	Elapsed                  time.Duration
	Err                      error // the loss; nil: there was none
}

// Check crashes Pebble. An error concerns the configuration or the machine; a loss is in the report.
func Check(cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	start := time.Now()
	c := &check{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 1))}
	for c.r.Crashes < cfg.Points && c.r.Err == nil {
		if err := c.life(); err != nil {
			return nil, err
		}
	}
	c.r.Elapsed = time.Since(start)
	return &c.r, nil
}

// check is shared by the writers.
type check struct {
	cfg Config
	mu  sync.Mutex // guards the fields below
	r   Report
	rng *rand.Rand
	// begun counts the crashes that have begun: every second crash is a power failure.
	begun int
}

// crash begins a crash, and reports whether power fails.
func (c *check) crash() (power bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	return c.begun%2 == 0
}

// draw returns a random number below n.
func (c *check) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

// over reports whether the check is finished.
func (c *check) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.Crashes >= c.cfg.Points || c.r.Err != nil
}

// note counts the result of a recovery.
func (c *check) note(x pebblelog.Recovery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.Tables > x.Log {
		c.r.Behind++
	}
	if x.Replayed > 0 {
		c.r.Replayed++
	}
	if x.Tables > 0 {
		c.r.Tables++
	}
}
