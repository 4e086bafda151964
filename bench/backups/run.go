package backups

import (
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/verbatim-rdma/verbatim/protocol/sift/pool"
)

// Config is a deployment, with the number of simulations.
type Config struct {
	Groups, Backups int
	F               int           // 2F+1 memory nodes and a coordinator for each group
	Provision       time.Duration // from the order of a node to its arrival
	Repeats         int
	Seed            uint64
}

// Result is a point of figure 8.
type Result struct {
	Groups  int `json:"groups"`
	Backups int `json:"backups"`
	Repeats int `json:"repeats"`
	Faults  int `json:"faults"` // coordinators that failed, in all repeats
	Waits   int `json:"waits"`  // of these, groups that waited
	// Added is the mean over the repeats of the recovery time that the lack of backups adds to
	// a fault, in seconds; Low and High are its confidence interval of 95%.
	Added float64 `json:"added_seconds"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Longest is the longest wait, in seconds, and Clean the share of repeats without a wait.
	Longest float64 `json:"longest_seconds"`
	Clean   float64 `json:"clean"`
	// Unserved are groups that still waited at the end of the trace: no machine was left.
	Unserved int `json:"unserved"`
}

const (
	maxRepeats   = 100000
	maxProvision = 365 * day
	maxF         = 100
)

func (c *Config) validate(t *Trace) error {
	switch {
	case c.Groups < 1 || c.Groups > pool.MaxNodes || c.Backups < 0 || c.Backups > pool.MaxNodes:
		return fmt.Errorf("%w: %d groups and %d backups; want 1 to %d groups and at most %d backups", ErrConfig, c.Groups, c.Backups, pool.MaxNodes, pool.MaxNodes)
	case c.F < 1 || c.F > maxF:
		return fmt.Errorf("%w: F is %d; it must be 1 to %d", ErrConfig, c.F, maxF)
	case c.Provision <= 0 || c.Provision > maxProvision:
		return fmt.Errorf("%w: %v to provision a node; want more than 0, and at most %v", ErrConfig, c.Provision, maxProvision)
	case c.Repeats < 1 || c.Repeats > maxRepeats:
		return fmt.Errorf("%w: %d repeats; want 1 to %d", ErrConfig, c.Repeats, maxRepeats)
	}
	if need := c.Groups*(2*c.F+2) + c.Backups; need > t.Up {
		return fmt.Errorf("%w: %d groups of %d nodes and %d backups need %d machines, but %d are up at the beginning of the trace", ErrConfig, c.Groups, 2*c.F+2, c.Backups, need, t.Up)
	}
	return nil
}

// Run simulates a deployment on a trace. The error wraps [ErrConfig].
func Run(t *Trace, c Config) (Result, error) {
	if err := c.validate(t); err != nil {
		return Result{}, err
	}
	r := Result{Groups: c.Groups, Backups: c.Backups, Repeats: c.Repeats}
	var added []float64
	for i := range c.Repeats {
		s, err := newSimulation(t, &c, rand.New(rand.NewPCG(c.Seed, uint64(i)<<40|uint64(c.Groups))))
		if err == nil {
			err = s.run()
		}
		if err != nil {
			return Result{}, err
		}
		r.Faults += s.faults
		r.Waits += s.waits
		r.Unserved += s.unserved
		r.Longest = max(r.Longest, s.longest.Seconds())
		if s.waits == 0 {
			r.Clean += 1 / float64(c.Repeats)
		}
		added = append(added, s.waited.Seconds()/float64(max(1, s.faults)))
	}
	x := benchmath.AssumeNormal.Summary(benchmath.NewSample(added, &benchmath.DefaultThresholds), 0.95)
	r.Added, r.Low, r.High = x.Center, max(0, x.Lo), x.Hi
	if c.Repeats == 1 {
		r.Low, r.High = r.Added, r.Added // one repeat has no interval
	}
	return r, nil
}

// simulation is one repeat.
type simulation struct {
	trace *Trace
	cfg   *Config
	rng   *rand.Rand
	pool  *pool.Pool
	now   time.Duration

	on      []node    // by machine: its node
	idle    []int     // machines that are up and have no node
	at      []int     // by machine: its index in idle
	ordered []arrival // nodes that are being provisioned, the next one first
	since   map[int]time.Duration

	faults, waits, unserved int
	waited, longest         time.Duration
}

// node is the node of a machine: a CPU node of the pool by its number, or one of these.
type node int

const (
	nothing node = -1 - iota
	memory       // a memory node, of any group
	down         // the machine is not up
)

// arrival is a node that is being provisioned.
type arrival struct {
	at  time.Duration
	cpu bool
}

func newSimulation(t *Trace, c *Config, rng *rand.Rand) (*simulation, error) {
	p, err := pool.New(c.Groups, c.Backups)
	if err != nil {
		return nil, err
	}
	s := &simulation{trace: t, cfg: c, rng: rng, pool: p, on: make([]node, t.Machines), at: make([]int, t.Machines), since: map[int]time.Duration{}}
	for m := range s.on {
		s.on[m] = down
	}
	for m := range t.Up {
		s.free(m)
	}
	for n := range c.Groups + c.Backups {
		s.on[s.take()] = node(n)
	}
	for range c.Groups * (2*c.F + 1) {
		s.on[s.take()] = memory
	}
	return s, nil
}

// free marks a machine as up and without a node.
func (s *simulation) free(m int) {
	s.on[m], s.at[m] = nothing, len(s.idle)
	s.idle = append(s.idle, m)
}

// remove removes a machine from those without a node.
func (s *simulation) remove(m int) {
	last := s.idle[len(s.idle)-1]
	s.idle[s.at[m]], s.at[last] = last, s.at[m]
	s.idle = s.idle[:len(s.idle)-1]
}

// take takes one of the machines without a node, at random.
func (s *simulation) take() int {
	m := s.idle[s.rng.IntN(len(s.idle))]
	s.remove(m)
	return m
}

func (s *simulation) run() error {
	for _, e := range s.trace.Events {
		if err := s.step(e); err != nil {
			return err
		}
	}
	if n := len(s.ordered); n > 0 {
		s.arrive(s.ordered[n-1].at)
	}
	for _, g := range s.pool.Waiting() {
		s.unserved++
		s.wait(g, s.now)
	}
	return nil
}

// step is an event of the trace, after the nodes that arrive before it.
func (s *simulation) step(e Event) error {
	s.arrive(e.At)
	s.now = e.At
	if e.Up {
		s.free(e.Machine)
		return nil
	}
	return s.fail(e.Machine)
}

// arrive lets the nodes arrive that are due by until, as long as there are machines for
// them. A node without a machine arrives when a machine becomes free.
func (s *simulation) arrive(until time.Duration) {
	for len(s.ordered) > 0 && s.ordered[0].at <= until && len(s.idle) > 0 {
		a := s.ordered[0]
		s.ordered = s.ordered[1:]
		s.now = max(s.now, a.at)
		m := s.take()
		if !a.cpu {
			s.on[m] = memory
			continue
		}
		n, step := s.pool.Add()
		s.on[m] = node(n)
		if step.Given {
			s.wait(step.Group, s.now)
		}
	}
}

// wait records that a group has waited until a time.
func (s *simulation) wait(group int, until time.Duration) {
	d := until - s.since[group]
	delete(s.since, group)
	s.waits++
	s.waited += d
	s.longest = max(s.longest, d)
}

// fail lets a machine fail, and orders another node if it had one.
func (s *simulation) fail(m int) error {
	was := s.on[m]
	if was == nothing {
		s.remove(m)
	}
	s.on[m] = down
	if was == nothing || was == down {
		return nil
	}
	s.ordered = append(s.ordered, arrival{s.now + s.cfg.Provision, was != memory})
	if was == memory {
		return nil
	}
	group, leads := s.pool.Serves(int(was))
	step, err := s.pool.Lose(int(was))
	if err != nil || !leads {
		return err
	}
	s.faults++
	if !step.Given {
		s.since[group] = s.now
	}
	return nil
}
