package explore

import (
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/sample"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// sampler makes a run at random.
type sampler struct {
	sim.Policy
	tally tally // of its decisions
}

func newSampler(strategy string, seed, run uint64) *sampler {
	s := &sampler{sample.Random(seed, run), tally{Steps: map[string]uint64{}}}
	if strategy == PCT {
		s.Policy = sample.PCT(seed, run)
	}
	return s
}

// Pick implements sim.Policy.
func (s *sampler) Pick(evs []sim.Event) int {
	i := s.Policy.Pick(evs)
	s.tally.Steps[evs[i].Actor.Kind()]++
	return i
}

// Choose implements sim.Policy.
func (s *sampler) Choose(k sim.ChoiceKind, n int) int {
	s.tally.Choices[k]++
	return s.Policy.Choose(k, n)
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
