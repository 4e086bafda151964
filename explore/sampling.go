package explore

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// sampler resolves choices at random: uniformly, or by priorities as PCT does
// (Burckhardt et al., ASPLOS 2010), which finds a bug of depth d among n actors
// and k steps with probability at least 1/(n k^(d-1)).
type sampler struct {
	rng   *rand.Rand
	pct   bool
	prio  map[sim.Actor]uint64
	drops []int // steps at which the running actor's priority falls
	step  int
	// choices and steps are what it decided.
	choices choiceTally
	steps   stepTally
}

const (
	pctDepth = 3
	pctSteps = 200
)

func newSampler(strategy string, seed, run uint64) *sampler {
	s := &sampler{rng: rand.New(rand.NewPCG(seed, run)), steps: stepTally{}}
	if strategy == PCT {
		s.pct = true
		s.prio = map[sim.Actor]uint64{}
		for range pctDepth {
			s.drops = append(s.drops, s.rng.IntN(pctSteps))
		}
	}
	return s
}

// Pick implements sim.Policy.
func (s *sampler) Pick(evs []sim.Event) int {
	i := s.pick(evs)
	s.steps[evs[i].Actor.Kind()]++
	return i
}

func (s *sampler) pick(evs []sim.Event) int {
	s.step++
	if !s.pct {
		return s.weighted(evs)
	}
	best := 0
	for i := range evs {
		if s.priority(&evs[i]) > s.priority(&evs[best]) {
			best = i
		}
	}
	for i, d := range s.drops {
		if d == s.step {
			s.prio[evs[best].Actor] = uint64(i)
		}
	}
	return best
}

// priority gives faults a place among the lower priorities: they should strike
// somewhere in a run rather than at its beginning.
func (s *sampler) priority(e *sim.Event) uint64 {
	p, ok := s.prio[e.Actor]
	if !ok {
		p = s.rng.Uint64() | 1<<32
		if e.Fault {
			p >>= uint(s.rng.IntN(4))
		}
		s.prio[e.Actor] = p
	}
	if e.Fault && s.rng.IntN(16) != 0 {
		return 0
	}
	return p
}

// weighted picks any event; a fault is one in sixteen as likely as the rest.
func (s *sampler) weighted(evs []sim.Event) int {
	total := 0
	for i := range evs {
		total += weight(&evs[i])
	}
	x := s.rng.IntN(total)
	for i := range evs {
		if x -= weight(&evs[i]); x < 0 {
			return i
		}
	}
	return 0
}

func weight(e *sim.Event) int {
	if e.Fault {
		return 1
	}
	return 16
}

// Choose implements sim.Policy.
func (s *sampler) Choose(k sim.ChoiceKind, n int) int {
	s.choices[k]++
	return s.rng.IntN(n)
}

// checkSampling makes runs that are numbered, each with a generator of its own,
// so that the same seed makes the same runs whatever the number of workers.
func checkSampling(s *Scenario, cases []*Case, opt Options, r *Result, start time.Time) {
	var mu sync.Mutex
	var next uint64
	depth := 0
	var lengths []uint64
	choices, steps := choiceTally{}, stepTally{}
	stopped := false // by Stop
	lim := limits{runs: opt.MaxRuns, stop: func() bool { stopped = stopped || opt.Stop(); return stopped }}
	if opt.MaxTime > 0 {
		lim.end = start.Add(opt.MaxTime)
	}
	badRun, bad := ^uint64(0), error(nil)
	otherRun, other := ^uint64(0), error(nil) // of a class that is not sought
	worker := func(c *Case) {
		for {
			mu.Lock()
			if bad != nil || lim.hit(next) {
				mu.Unlock()
				return
			}
			run := next
			next++
			mu.Unlock()
			p := newSampler(opt.Strategy, opt.Seed, run)
			end, err := c.run(p)
			c.endRunIf(end == sim.Finished)
			mu.Lock()
			depth = max(depth, c.w.Steps())
			lengths = countAt(lengths, c.w.Steps())
			choices.add(&p.choices)
			for name, n := range p.steps { //lint:ordered sums do not depend on the order
				steps[name] += n
			}
			switch {
			case err == nil:
			case seeks(opt.Seek, err) && run < badRun:
				badRun, bad = run, err
			case !seeks(opt.Seek, err) && run < otherRun:
				otherRun, other = run, err
			}
			mu.Unlock()
		}
	}
	done := cases[0].dog.watchProgress(opt.Progress, func() Progress {
		mu.Lock()
		defer mu.Unlock()
		return Progress{Scenario: r.Scenario, Runs: next, Remaining: float64(opt.MaxRuns) - float64(next),
			Elapsed: time.Since(start)}
	})
	var wg sync.WaitGroup
	var came atomic.Int64
	for _, c := range cases {
		wg.Go(func() { worker(c); came.Add(1) })
	}
	wg.Wait()
	done()
	if bad == nil {
		badRun, bad = otherRun, other
	}
	sum := totals{}
	sum.add(cases)
	r.collect(s, &sum)
	r.Runs, r.Choices, r.MaxDepth, r.Verdict = next, choices.total(), depth, Clean
	r.Space = Space{ByDepth: lengths, Choices: choices.tallies(), Steps: steps.tallies()}
	switch {
	case came.Load() < int64(len(cases)):
		r.Verdict, r.Reason = Unknown, ErrExited
	case bad != nil:
		r.violated(cases[0], opt, bad, newSampler(opt.Strategy, opt.Seed, badRun))
	case stopped || next == 0:
		r.Verdict = RanOut // it was stopped before it had made the runs that were asked for, or any
		r.Remaining = -1   // unknown: a limit in time says nothing about runs
		if opt.MaxRuns > 0 {
			r.Remaining = float64(opt.MaxRuns - next)
		}
	}
}
