package mutant

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/verbatim-rdma/verbatim/explore"
)

// names are the names of the scenarios.
func (j *judge) names() ([]string, error) {
	if j.inTest != nil {
		return j.inTest.names, nil
	}
	out, err := command(j.ctx, j.tmp, j.program, "list", "scenarios", "--json")
	if err != nil {
		return nil, err
	}
	names, deep, err := scenarios(out, j.opt.Protocol)
	return slices.DeleteFunc(names, func(n string) bool { return deep[n] }), err
}

// control determines the mutants that each scenario and the tests reach, and the number of
// runs. Without a mutant none of them may fail.
func (j *judge) control() error {
	names, err := j.names()
	if err != nil {
		return err
	}
	found, failed := make([]*reach, len(names)), make([]error, len(names))
	slots := make(chan struct{}, j.opt.Workers)
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var runs uint64
			found[i], failed[i] = j.noted(name, func(notes string) (o outcome, failed string) {
				runs, o, failed = j.controlled(name, notes)
				return o, failed
			})
			if failed[i] == nil {
				found[i].Runs = runs
			}
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for _, r := range found {
		j.scenarios = append(j.scenarios, *r)
	}
	// By runs and not by time, which would give a different order on a busy machine.
	slices.SortStableFunc(j.scenarios, func(a, b reach) int { return cmp.Compare(a.Runs, b.Runs) })
	for i := range j.tests {
		t := &j.tests[i]
		r, err := j.noted(filepath.Base(t.folder), func(notes string) (outcome, string) {
			o := j.test(t, 0, notes)
			return o, o.how
		})
		if err != nil {
			return err
		}
		t.reach = *r
	}
	return nil
}

// controlled searches a scenario as it does for each mutant. It returns the number of runs, and
// whether that fails.
func (j *judge) controlled(name, notes string) (runs uint64, o outcome, failed string) {
	for _, strategy := range []string{explore.Random, explore.Exhaustive} {
		s, o := j.search(0, name, strategy, j.runs(strategy), notes)
		if o.how != "" || s.Verdict == explore.Unknown {
			return 0, o, cmp.Or(o.how, string(explore.Unknown))
		}
		runs = s.Runs
	}
	return runs, outcome{}, ""
}

// noted runs a program without a mutant, and reads which mutants it reached.
func (j *judge) noted(name string, run func(notes string) (outcome, string)) (*reach, error) {
	notes := filepath.Join(j.tmp, "notes-"+strings.ReplaceAll(name, "/", "-"))
	defer os.Remove(notes)
	if o, failed := run(notes); j.ctx.Err() != nil {
		return nil, j.ctx.Err()
	} else if failed != "" {
		return nil, fmt.Errorf("%w: %s: %s: %s", ErrControl, name, failed, firstLine(o.said+" "+o.out))
	}
	r := &reach{Name: name, Numbers: []int{}}
	text, err := os.ReadFile(notes)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, f := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("%w: it noted %q", ErrTool, f)
		}
		r.Numbers = append(r.Numbers, n)
	}
	slices.Sort(r.Numbers)
	r.Numbers = slices.Compact(r.Numbers)
	return r, nil
}
