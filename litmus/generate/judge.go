package generate

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// Verdicts are the simulator's results for a program.
type Verdicts struct {
	Program  *Program
	Profiles []string
	// States are the final states that some profile allows, sorted.
	States []State
	// Reasons has, for each profile, the reason why its search does not count, or nil.
	Reasons []error
	// Runs and Explored are the runs and states of all searches.
	Runs, Explored uint64
}

// State is a final state, with the profiles that allow it.
type State struct {
	Text string // as a litmus test writes it: A.r1=0 B:x=1
	By   []bool // by profile
}

// Options configure the judging of programs.
type Options struct {
	Profiles []string // the named ones if empty
	Workers  int      // programs at a time; 0: one for each core
	Search   litmus.Options
}

// Judge collects the final states of programs under each profile, and yields the
// verdicts in the order of the programs. It stops early if the loop over it does. The
// error is about the options.
func Judge(programs []*Program, opt Options) (iter.Seq[*Verdicts], error) {
	profiles := make([]string, 0, len(opt.Profiles))
	for _, name := range opt.Profiles {
		p, err := faults.ProfileByName(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(profiles, p.Name) {
			profiles = append(profiles, p.Name)
		}
	}
	if len(profiles) == 0 {
		profiles = faults.ProfileNames()
	}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(*Verdicts) bool) {
		inOrder(len(programs), workers, func(i int) *Verdicts { return judge(programs[i], profiles, opt.Search) }, yield)
	}, nil
}

// inOrder calls f for 0 to n-1 on several goroutines and yields the results in this
// order. At most ahead results are computed in advance.
func inOrder[T any](n, workers int, f func(int) T, yield func(T) bool) {
	const ahead = 256
	slots := make([]chan T, ahead)
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	work, quit := make(chan int, ahead), make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(quit)
	for range min(workers, n) {
		wg.Go(func() {
			for i := range work {
				select {
				case <-quit:
					return
				default:
					slots[i%ahead] <- f(i)
				}
			}
		})
	}
	defer close(work)
	next := 0
	for i := range n {
		for ; next < n && next < i+ahead; next++ {
			work <- next
		}
		if !yield(<-slots[i%ahead]) {
			return
		}
	}
}

// judge runs one program under each profile.
func judge(p *Program, profiles []string, opt litmus.Options) *Verdicts {
	v := &Verdicts{Program: p, Profiles: profiles, Reasons: make([]error, len(profiles))}
	at := map[string]int{}
	test := p.Test()
	for i, name := range profiles {
		r, err := litmus.Run(test, name, opt)
		if err != nil {
			v.Reasons[i] = err
			continue
		}
		v.Reasons[i] = r.Reason
		v.Runs += r.Runs
		v.Explored += r.States
		for _, text := range r.Finals {
			k, ok := at[text]
			if !ok {
				k = len(v.States)
				at[text] = k
				v.States = append(v.States, State{Text: text, By: make([]bool, len(profiles))})
			}
			v.States[k].By[i] = true
		}
	}
	sort.Slice(v.States, func(i, j int) bool { return v.States[i].Text < v.States[j].Text })
	return v
}

// Err joins the reasons why searches do not count.
func (v *Verdicts) Err() error {
	var all []error
	for i, err := range v.Reasons {
		if err != nil {
			all = append(all, fmt.Errorf("%s under %s: %w", v.Program, v.Profiles[i], err))
		}
	}
	return errors.Join(all...)
}

// Group is the final states allowed by the same profiles.
type Group struct {
	By     []bool
	States []string
}

// Groups groups the final states by the profiles that allow them: first those allowed
// by all, then by fewer.
func (v *Verdicts) Groups() []Group {
	var out []Group
	for _, s := range v.States {
		i := slices.IndexFunc(out, func(g Group) bool { return slices.Equal(g.By, s.By) })
		if i < 0 {
			i = len(out)
			out = append(out, Group{By: s.By})
		}
		out[i].States = append(out[i].States, s.Text)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		if d := count(b.By) - count(a.By); d != 0 {
			return d
		}
		return slices.Index(b.By, true) - slices.Index(a.By, true)
	})
	return out
}

func count(by []bool) int {
	n := 0
	for _, y := range by {
		if y {
			n++
		}
	}
	return n
}

// Separates reports whether some profile allows a final state that another forbids.
func (v *Verdicts) Separates() bool {
	return slices.ContainsFunc(v.States, func(s State) bool { return slices.Contains(s.By, false) })
}

// Breach is a final state that a profile allows and a weaker one does not.
type Breach struct {
	Program          *Program
	Stronger, Weaker string
	State            string
}

// String describes the breach, and how to reproduce it.
func (b Breach) String() string {
	return fmt.Sprintf("%s: %s allows %s, and %s, which is weaker, does not; see it again with\n"+
		"  verbatim litmus generate --program %s --profile %s,%s", b.Program, b.Stronger, b.State, b.Weaker, b.Program, b.Stronger, b.Weaker)
}

// Broken lists the final states that a profile allows and a weaker one does not.
func (v *Verdicts) Broken() []Breach {
	var out []Breach
	for _, o := range order(v.Profiles) {
		if v.Reasons[o.strong] != nil || v.Reasons[o.weak] != nil {
			continue
		}
		for _, s := range v.States {
			if s.By[o.strong] && !s.By[o.weak] {
				out = append(out, Breach{v.Program, v.Profiles[o.strong], v.Profiles[o.weak], s.Text})
			}
		}
	}
	return out
}

// pair is two profiles; weak allows all that strong does.
type pair struct{ strong, weak int }

// order lists the pairs according to faults.WeakerOrEqual.
func order(profiles []string) []pair {
	var out []pair
	for i, a := range profiles {
		pa, _ := faults.ProfileByName(a)
		for j, b := range profiles {
			if pb, _ := faults.ProfileByName(b); i != j && faults.WeakerOrEqual(pa, pb) {
				out = append(out, pair{strong: j, weak: i})
			}
		}
	}
	return out
}
