package explore

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// sampler resolves choices at random: uniformly, or by priorities like PCT (Burckhardt
// et al., ASPLOS 2010), which finds a bug of depth d among n actors and k steps with
// probability at least 1/(n k^(d-1)).
type sampler struct {
	rng   *rand.Rand
	pct   bool
	prio  map[sim.Actor]uint64
	drops []int // steps at which the running actor's priority falls
	step  int
	tally tally // of its decisions
}

const (
	pctDepth = 3
	pctSteps = 200
)

func newSampler(strategy string, seed, run uint64) *sampler {
	s := &sampler{rng: rand.New(rand.NewPCG(seed, run)), tally: tally{Steps: map[string]uint64{}}}
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
	s.tally.Steps[evs[i].Actor.Kind()]++
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

// priority gives faults a place among the lower priorities, so that they strike
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

// weighted picks a random event; a fault is one sixteenth as likely as others.
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
	s.tally.Choices[k]++
	return s.rng.IntN(n)
}

// checkSampling makes numbered runs, each with its own generator, so that the same seed
// makes the same runs for any number of workers.
func checkSampling(cases []*Case, opt Options, r *Result, start time.Time) {
	var mu sync.Mutex
	var next uint64
	sum := tally{Steps: map[string]uint64{}}
	stopped := false // by Stop
	lim := opt.limits(start)
	lim.stop = func() bool { stopped = stopped || opt.Stop(); return stopped }
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
			p.tally.reach(c.w.Steps(), 1)
			sum.add(&p.tally)
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
	all := inParallel(cases, worker)
	done()
	if bad == nil {
		badRun, bad = otherRun, other
	}
	r.collect(cases, &totals{}, &sum)
	r.Runs, r.Verdict = next, Clean
	switch {
	case !all:
		r.Verdict, r.Reason = Unknown, ErrExited
	case bad != nil:
		r.violated(cases[0], opt, bad, newSampler(opt.Strategy, opt.Seed, badRun))
	case stopped || next == 0:
		r.Verdict = RanOut    // stopped before it had made all the runs requested
		r.Remaining = unknown // a limit in time says nothing about runs
		if opt.MaxRuns > 0 {
			r.Remaining = float64(opt.MaxRuns - next)
		}
	}
}
