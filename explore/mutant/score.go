package mutant

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// A Generator makes all mutants of the packages in folders dirs of the source tree root, and of
// the functions that they use from the packages in folders kit.
type Generator func(ctx context.Context, root string, dirs []string, kit ...string) (*schema.Set, error)

// ScoreOptions say which mutants to generate, and what may be spent on each.
type ScoreOptions struct {
	// Generate makes the mutants. It is required: generate.Generate, or [ByCommand] in a program
	// that should not link the Go type checker.
	Generate Generator
	Protocol string
	Folders  []string // of its packages, from the root of the source tree
	Kit      []string // of packages that it shares with others: what it uses of them has mutants too
	Except   []string // files of these packages that are no part of it, such as its scenarios
	Dir      string   // the source tree; empty: the one around the working directory
	Names    []string // only mutants with these IDs; empty: all
	// Sample, if it is not 0, is how many of the mutants to take, drawn with Seed. ChangedSince,
	// if it is not empty, takes those of lines that differ from a git reference; with both it
	// is these and the sample.
	Sample       int
	Seed         uint64
	ChangedSince string
	// Most, if it is not 0, is how many of the chosen mutants to take: those of Names and the sample, and of
	// changed lines as many as there is room for, drawn with Seed.
	Most    int
	Workers int // mutants at a time; 0: one for each core
	// Budgets are in runs, so that a result is the same on a busy machine.
	RandomRuns uint64 // at random, all scenarios together; 0: [DefaultRandomRuns]
	SearchRuns uint64 // of exhaustive searches, all scenarios together; 0: [DefaultSearchRuns]
	// MaxTime limits a search, and the tests of a package; 0: [DefaultScoreTime]. See [Judged.TimedOut].
	MaxTime time.Duration
	File    string // where results are kept, and found again; empty: nowhere
	Kept    string // a folder for what the control run found, so that it is made once for a program; empty: nowhere
	// Done, if set, is called after each mutant, in their order.
	Done func(Judged)

	limit time.Duration // what a program may take beyond its time; 0: slack
}

// The budget of a mutant, if [ScoreOptions] do not say another.
const (
	DefaultRandomRuns = 8000
	DefaultSearchRuns = 100000
	DefaultScoreTime  = 2 * time.Minute
)

// What became of a generated mutant.
const (
	ByScenario = "scenario"   // a search caught it
	ByTest     = "test"       // a unit test caught it, and no search did
	Equivalent = "equivalent" // it is marked by hand as making no difference
	Survives   = "survives"
)

// How a mutant showed.
const (
	HowViolated = "violated"
	HowFailed   = "failed"        // a test
	HowEndless  = "endless"       // a run that does not end, though its steps do
	HowHangs    = "hangs"         // it does not come back in time
	HowMemory   = "memory"        // it takes too much
	HowCrashes  = "crashes"       // the program ends, which the source's does not
	HowDiffers  = "not repeating" // the same choices lead to another run
)

// Judged is a mutant and what became of it.
type Judged struct {
	schema.Mutant
	Result    string   `json:"result"`
	How       string   `json:"how"`
	Scenario  string   `json:"scenario"` // that caught it
	Strategy  string   `json:"strategy"`
	Class     string   `json:"class"`
	Test      string   `json:"test"`
	Reason    string   `json:"reason"`    // what was said, or why it is equivalent
	Reached   []string `json:"reached"`   // the scenarios that come to its place
	Exhausted []string `json:"exhausted"` // of these, those that were searched to the end
	// TimedOut are those in which [ScoreOptions.MaxTime] came before the runs were made: the
	// result may be another on a quicker machine.
	TimedOut []string `json:"timed_out"`
	Seconds  float64  `json:"seconds"`
	// Processor is how many seconds of a processor it took: unlike Seconds it depends little on what else
	// the machine did.
	Processor float64 `json:"processor_seconds"`
}

// Score counts mutants by what became of them.
type Score struct {
	Mutants    int     `json:"mutants"`
	Scenario   int     `json:"by_scenario"`
	Test       int     `json:"by_test"`
	Equivalent int     `json:"equivalent"`
	Survive    int     `json:"survive"`
	TimedOut   int     `json:"timed_out"` // those of which a search ended early
	Caught     float64 `json:"caught"`    // percent of those not equivalent
	Scenarios  float64 `json:"scenarios"` // percent of those not equivalent, by scenarios alone
	Median     float64 `json:"median_seconds"`
	Processor  float64 `json:"processor_seconds"` // all together
}

// NewScore counts.
func NewScore(all []Judged) Score {
	s := Score{Mutants: len(all)}
	var seconds []float64
	for _, x := range all {
		if len(x.TimedOut) > 0 {
			s.TimedOut++
		}
		s.Processor += x.Processor
		switch x.Result {
		case ByScenario:
			s.Scenario++
		case ByTest:
			s.Test++
		case Equivalent:
			s.Equivalent++
			continue
		default:
			s.Survive++
		}
		seconds = append(seconds, x.Seconds)
	}
	if n := len(seconds); n > 0 {
		slices.Sort(seconds)
		s.Median = seconds[n/2]
		s.Caught, s.Scenarios = 100*float64(s.Scenario+s.Test)/float64(n), 100*float64(s.Scenario)/float64(n)
	}
	return s
}

// RunScore generates mutants and judges them: each by random runs of the scenarios that come
// to its place, then by searching these to the end as long as the budget lasts, and if they
// do not catch it by the unit tests. Its error is about the options or about the code without
// a mutant, and wraps [ErrControl] if a scenario or a test fails on that.
func RunScore(ctx context.Context, opt ScoreOptions) ([]Judged, error) {
	j, err := newJudge(ctx, opt)
	if err != nil {
		return nil, err
	}
	return j.buildAndRun()
}

func (j *judge) buildAndRun() (_ []Judged, err error) {
	if len(j.todo) == 0 { // no line has changed
		return nil, nil
	}
	if j.tmp, err = os.MkdirTemp("", "verbatim-mutants-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(j.tmp)
	if err := j.build(); err != nil {
		return nil, err
	}
	return j.run()
}

// newJudge generates the mutants, and chooses those that are asked for.
func newJudge(ctx context.Context, opt ScoreOptions) (*judge, error) {
	opt.fill()
	root, err := findRoot(opt.Dir)
	if err != nil {
		return nil, err
	}
	return newJudgeAt(ctx, root, opt)
}

func newJudgeAt(ctx context.Context, root string, opt ScoreOptions) (j *judge, err error) {
	if opt.Generate == nil {
		return nil, fmt.Errorf("%w: ScoreOptions.Generate is nil; set it to generate.Generate of explore/mutant/generate", ErrUnknown)
	}
	j = &judge{ctx: ctx, opt: opt, root: root, spent: map[int]time.Duration{}}
	if j.set, err = opt.Generate(ctx, root, opt.Folders, opt.Kit...); err != nil {
		return nil, err
	}
	if j.same, err = equivalents(root, opt.Protocol, j.set); err != nil {
		return nil, err
	}
	j.todo, err = chosen(ctx, root, &opt, j.set)
	return j, err
}

// run judges the mutants with the programs that were built.
func (j *judge) run() ([]Judged, error) {
	kept, err := j.open()
	if err != nil {
		return nil, err
	}
	defer j.close()
	return j.all(kept)
}

// folders are those whose packages have mutants.
func (o *ScoreOptions) folders() []string { return slices.Concat(o.Folders, o.Kit) }

// fill fills in the defaults.
func (o *ScoreOptions) fill() {
	o.Workers = cmp.Or(o.Workers, runtime.NumCPU())
	o.RandomRuns, o.SearchRuns = cmp.Or(o.RandomRuns, DefaultRandomRuns), cmp.Or(o.SearchRuns, DefaultSearchRuns)
	o.MaxTime = cmp.Or(o.MaxTime, DefaultScoreTime)
}

// all judges mutants, some at a time, and reports them in their order.
func (j *judge) all(kept map[string]Judged) ([]Judged, error) {
	results := make([]chan Judged, len(j.todo))
	slots := make(chan struct{}, j.opt.Workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, m := range j.todo {
		results[i] = make(chan Judged, 1)
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			x, done := kept[m.ID]
			x.Mutant = m // the line may be another one
			if reason := j.same[m.ID]; reason != "" {
				was := x
				x, done = Judged{Mutant: m, Result: Equivalent, Reason: reason}, true
				if was.Result != Equivalent || was.Reason != reason {
					j.keep(&x)
				}
			} else if done && x.Result == Equivalent {
				done = false
			}
			if !done && j.ctx.Err() == nil {
				x = j.judged(m)
				j.keep(&x)
			}
			results[i] <- x
		})
	}
	var out []Judged
	for i := range j.todo {
		x := <-results[i]
		if j.ctx.Err() != nil {
			return out, j.ctx.Err()
		}
		if err := j.failed(); err != nil {
			return out, err
		}
		out = append(out, x)
		if j.opt.Done != nil {
			j.opt.Done(x)
		}
	}
	return out, nil
}

// build builds the command and the tests of the packages with all mutants in them, and finds
// out what the code does without one.
func (j *judge) build() error {
	j.program = filepath.Join(j.tmp, "verbatim")
	verb, args := "build", buildArgs(checking, j.program)
	if j.inTest != nil {
		verb, args = "test", j.inTest.build(j.program)
	}
	if err := goCommand(j.ctx, j.root, j.tmp, j.set.Files, verb, args...); err != nil {
		return err
	}
	for i, folder := range j.opt.folders() {
		tests, err := filepath.Glob(filepath.Join(j.root, folder, "*_test.go"))
		if err != nil {
			return err
		}
		if len(tests) == 0 {
			continue
		}
		t := testProgram{folder: filepath.Join(j.root, folder), path: filepath.Join(j.tmp, fmt.Sprintf("test%d", i))}
		if j.inTest != nil && t.folder == j.inTest.folder {
			t.args, t.path = []string{"-test.skip=" + j.inTest.pattern()}, j.program
			j.tests = append(j.tests, t)
			continue
		}
		if err := goCommand(j.ctx, j.root, j.tmp, j.set.Files, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", t.path, "./"+filepath.ToSlash(folder)); err != nil {
			return err
		}
		j.tests = append(j.tests, t)
	}
	return nil
}
