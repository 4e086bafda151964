package sqlitecheck

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// ErrConfig is wrapped by every error of Config.
var ErrConfig = errors.New("sqlitecheck: bad configuration")

// Config configures a check.
type Config struct {
	Transactions int    // of the workload
	Seed         uint64 // of everything that is drawn
	Profile      string // the profile of the cards; "" is strong
	Log          string // NCL or Arcadia; "" is NCL
	// Points is the number of crash points to try, evenly spread; 0: all. At is the
	// only point to try, as a report names it; 0: none.
	Points, At int
	Workers    int           // 0: one for each core
	MaxTime    time.Duration // ends the check after this time; 0: never
	// Store, if set, wraps the store of the file system, to plant bugs.
	Store func(splitfs.Store) splitfs.Store
	// Progress, if set, is called with the number of finished points.
	Progress func(done, of int)
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	if c.Transactions < 1 || c.Transactions > 1_000_000 {
		return fmt.Errorf("%w: %d transactions; 1 to a million are possible", ErrConfig, c.Transactions)
	}
	if c.Points < 0 || c.At < 0 || c.Workers < 0 || c.MaxTime < 0 {
		return fmt.Errorf("%w: points, steps, workers and times must not be negative", ErrConfig)
	}
	if c.Log != NCL && c.Log != Arcadia {
		return fmt.Errorf("%w: log %q; want %s or %s", ErrConfig, c.Log, NCL, Arcadia)
	}
	return nil
}

// Report is the result of a check.
type Report struct {
	Points  int // crash points of the workload
	Tried   int // of them: runs in which the application crashed there
	Twice   int // runs with a second crash of the application
	Power   int // runs with a power failure
	Peers   int // runs with a crash of a peer
	Events  uint64
	Choices uint64 // drawn at random
	Elapsed time.Duration
	// RanOut: MaxTime expired before all points were tried.
	RanOut bool
	// Failed is the first point at which the promise is broken (0: the run without a
	// crash), and Err the violation. If Err is nil there was none.
	Failed int
	Err    error
}

// Check crashes SQLite. An error means that the configuration is invalid; a broken
// promise is in the report.
func Check(cfg Config) (*Report, error) {
	if cfg.Profile == "" {
		cfg.Profile = "strong"
	}
	if cfg.Log == "" {
		cfg.Log = NCL
	}
	if cfg.Workers == 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w, err := newWorld(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	defer w.w.Close()
	r, start := &Report{}, time.Now()
	p := newPlan(w.w, &cfg, 0, 0)
	r.Err = w.run(p)
	r.Points = len(p.points)
	if r.Err == nil {
		err = r.sweep(cfg, p.points, start)
	}
	r.Elapsed = time.Since(start)
	return r, err
}

// run makes one run. It returns a violation as an error.
func (w *world) run(p *plan) error {
	end, err := w.w.Run(p)
	if err == nil && end != sim.Finished {
		err = fmt.Errorf("the run ended early: %v", end)
	}
	return err
}

// choose selects the steps to try from the steps in which a crash is possible.
func choose(cfg Config, steps []int) ([]int, error) {
	if cfg.At > 0 {
		if !slices.Contains(steps, cfg.At) {
			return nil, fmt.Errorf("%w: step %d is not a crash point; use one from a report", ErrConfig, cfg.At)
		}
		return []int{cfg.At}, nil
	}
	n := cfg.Points
	if n == 0 || n > len(steps) {
		n = len(steps)
	}
	var list []int
	for i := range n {
		list = append(list, steps[i*len(steps)/n])
	}
	return list, nil
}

// sweep tries the crash points, each worker in a world of its own.
func (r *Report) sweep(cfg Config, steps []int, start time.Time) error {
	todo, err := choose(cfg, steps)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if r.Err != nil || next == len(todo) {
			return 0
		}
		if r.RanOut = cfg.MaxTime > 0 && time.Since(start) > cfg.MaxTime; r.RanOut {
			return 0
		}
		if cfg.Progress != nil {
			cfg.Progress(next, len(todo))
		}
		next++
		return todo[next-1]
	}
	worker := func() error {
		w, err := newWorld(cfg)
		if err != nil {
			return err
		}
		defer w.w.Close()
		for point := take(); point > 0; point = take() {
			p := newPlan(w.w, &cfg, point, steps[len(steps)-1])
			err := w.run(p)
			mu.Lock()
			r.note(point, p, err)
			mu.Unlock()
		}
		mu.Lock()
		r.Events += w.w.Stats().Steps
		r.Choices += w.w.Stats().Choices
		mu.Unlock()
		return nil
	}
	errs := make([]error, min(cfg.Workers, len(todo)))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = worker() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// note counts a run. Of several failures, it keeps the one at the first point.
func (r *Report) note(point int, p *plan, err error) {
	if p.struck > 0 { // the workload may end earlier if a peer crashes before
		r.Tried++
	}
	if p.struck > 1 {
		r.Twice++
	}
	if p.peer < 0 {
		r.Peers++
	}
	if p.power[0] && p.struck > 0 || p.power[1] && p.struck > 1 {
		r.Power++
	}
	if err != nil && (r.Err == nil || point < r.Failed) {
		r.Err, r.Failed = err, point
	}
}
