package explore

import (
	"cmp"
	"fmt"
	"slices"
)

// Mixed is the strategy for code under development: some random runs, and then an
// exhaustive search. Random runs find a frequent mistake in a second, whereas an
// exhaustive search, which varies the end of a run first, may not reach its beginning
// in minutes; but only an exhaustive search reaches a verdict.
const Mixed = "mixed"

// mixedRuns are the random runs of [Mixed]. A limit leaves them at most a quarter of
// it.
const mixedRuns = 2000

// mixed checks s with both strategies. The result is that of the decisive one, which it
// names.
func mixed(s *Scenario, opt Options) (*Result, error) {
	if opt.Resume != "" {
		return nil, fmt.Errorf("%w: %s begins with random runs, but only an exhaustive search can be resumed: choose that strategy", ErrOptions, Mixed)
	}
	first, rest := opt, opt
	first.Strategy, first.Save, first.MaxRuns, first.MaxTime = Random, "", mixedRuns, opt.MaxTime/4
	if opt.MaxRuns > 0 {
		first.MaxRuns = max(min(mixedRuns, opt.MaxRuns/4), 1)
	}
	r, err := Check(s, first)
	if err != nil || r.Verdict != Clean && !r.besides(opt.Seek) {
		return r, err
	}
	rest.Strategy = Exhaustive
	if opt.MaxRuns > 0 {
		rest.MaxRuns = max(opt.MaxRuns-r.Runs, 1)
	}
	if opt.MaxTime > 0 {
		rest.MaxTime = max(opt.MaxTime-r.Elapsed, 1)
	}
	x, err := Check(s, rest)
	switch {
	case x == nil:
		return nil, err
	case r.Verdict == Violated && x.Verdict != Violated && x.Verdict != Unknown:
		return r, err // of a class that is not sought, and neither search found one that is
	}
	x.after(r)
	return x, err
}

// besides: a violation was found that is not sought.
func (r *Result) besides(seek []string) bool {
	return r.Verdict == Violated && len(seek) > 0 && !slices.Contains(seek, r.Counterexample.Class)
}

// after adds the earlier samples.
func (r *Result) after(first *Result) {
	r.Sampled = first.Runs
	r.Elapsed += first.Elapsed
	for i := range r.Sometimes {
		r.Sometimes[i].Met = cmp.Or(r.Sometimes[i].Met, slices.Contains(first.Sometimes, Condition{r.Sometimes[i].Name, true}))
	}
}
