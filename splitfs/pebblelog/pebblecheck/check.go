package pebblecheck

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog"
)

// Ways to have a log on Arcadia.
const (
	File   = "file"   // pebblefs on splitfs/recordstore
	Record = "record" // pebblelog
)

// ErrConfig is wrapped by every error of Config.
var ErrConfig = errors.New("pebblecheck: bad configuration")

// Config says what to check.
type Config struct {
	Way       string // File or Record; "" is Record
	Points    int    // how many crashes
	Writers   int    // 0: 2
	Frequency int    // which records are forced; 0: 1. With File it is 1.
	Seed      uint64 // of what is written, and of what a crash loses
	// Progress, if set, is told how many crashes are done.
	Progress func(done int)
}

// Validate fills the defaults in, and checks c. Its error wraps [ErrConfig].
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
		return fmt.Errorf("%w: way %q; there are %s and %s", ErrConfig, c.Way, File, Record)
	case c.Points < 1 || c.Points > 1_000_000 || c.Writers < 1 || c.Writers > 64 || c.Frequency < 1:
		return fmt.Errorf("%w: points, writers (up to 64) and frequencies count from 1", ErrConfig)
	case c.Way == File && c.Frequency > 1:
		return fmt.Errorf("%w: Pebble forces each batch to a file; a frequency is for way %s", ErrConfig, Record)
	}
	return nil
}

// Report is what a check found.
type Report struct {
	Crashes int // that were tried
	Power   int // of them: power failures
	Batches int // that were applied
	// MostLost is how many batches were missing at most that Apply had returned for: with frequency F and T
	// writers never more than F*T.
	MostLost int
	// Behind counts the recoveries in which tables had batches that the log had lost, Replayed those in which the log had
	// batches that tables had not, and Tables those in which tables had any. Pebble by itself does not say.
	Behind, Replayed, Tables int
	Elapsed                  time.Duration
	Err                      error // what was lost; nil: nothing
}

// Check crashes Pebble. The error is about the configuration or the machine; what was lost is in the report.
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
	mu  sync.Mutex // of all below
	r   Report
	rng *rand.Rand
	// begun counts the crashes that have begun: every second one is a power failure.
	begun int
}

// crash begins a crash, and reports whether power fails.
func (c *check) crash() (power bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	return c.begun%2 == 0
}

// draw is a number below n.
func (c *check) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

// over reports whether no more crashes are to be tried.
func (c *check) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.Crashes >= c.cfg.Points || c.r.Err != nil
}

// note counts what a recovery has found.
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
