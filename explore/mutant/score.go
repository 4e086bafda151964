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

// ScoreOptions select the mutants to generate, and the budget of each.
type ScoreOptions struct {
	// Generate makes the mutants. It is required: generate.Generate, or [ByCommand] in a program
	// that should not link the Go type checker.
	Generate Generator
	Protocol string
	Folders  []string // of its packages, from the root of the source tree
	Kit      []string // of packages that it shares with others: the functions that it uses have mutants too
	Except   []string // files of these packages that are not part of it, such as its scenarios
	Dir      string   // the source tree; empty: the one around the working directory
	Names    []string // only mutants with these IDs; empty: all
	// Sample, if it is not 0, is the number of mutants to draw with Seed. ChangedSince, if it is
	// not empty, selects the mutants of lines that differ from a git reference. With both, all of
	// these are judged.
	Sample       int
	Seed         uint64
	ChangedSince string
	// Most, if it is not 0, limits the number of mutants. Those of Names and the sample come first; the
	// rest are drawn with Seed from those of changed lines.
	Most int
	// Part, if Parts is not 0, is the part of the selected mutants to judge, from 1 to Parts, so that several machines
	// can share the work.
	Part, Parts int
	Workers     int // mutants at a time; 0: one for each core
	// Budgets are in runs, so that a result is the same on a busy machine.
	RandomRuns uint64 // at random, all scenarios together; 0: [DefaultRandomRuns]
	SearchRuns uint64 // of exhaustive searches, all scenarios together; 0: [DefaultSearchRuns]
	// MaxTime limits a search, and the tests of a package; 0: [DefaultScoreTime]. See [Judged.TimedOut].
	MaxTime time.Duration
	File    string // keeps results, and resumes from them; empty: none
	Kept    string // a folder for the result of the control run, so that it is made once for a program; empty: none
	// Done, if set, is called after each mutant, in their order.
	Done func(Judged)

	limit time.Duration // how much longer than its time a program may take; 0: slack
}

// The default budget of a mutant.
const (
	DefaultRandomRuns = 8000
	DefaultSearchRuns = 100000
	DefaultScoreTime  = 2 * time.Minute
)

// Results for a generated mutant.
const (
	ByScenario = "scenario"   // a search caught it
	ByTest     = "test"       // a unit test caught it, but no search did
	Equivalent = "equivalent" // it is marked by hand as equivalent
	Survives   = "survives"
)

// How a mutant was detected.
const (
	HowViolated = "violated"
	HowFailed   = "failed"        // a test
	HowEndless  = "endless"       // an endless run of finite steps
	HowHangs    = "hangs"         // the program does not exit in time
	HowMemory   = "memory"        // the program uses too much memory
	HowCrashes  = "crashes"       // the program crashes, unlike the unmodified one
	HowDiffers  = "not repeating" // the same choices lead to a different run
)

// Judged is a mutant and its result.
type Judged struct {
	schema.Mutant
	Result    string   `json:"result"`
	How       string   `json:"how"`
	Scenario  string   `json:"scenario"` // that caught it
	Strategy  string   `json:"strategy"`
	Class     string   `json:"class"`
	Test      string   `json:"test"`
	Reason    string   `json:"reason"`    // the message of the failure, or why it is equivalent
	Reached   []string `json:"reached"`   // the scenarios that reach it
	Exhausted []string `json:"exhausted"` // of these, those that were exhausted
	// TimedOut are those in which [ScoreOptions.MaxTime] expired before the runs were made: the
	// result may differ on a faster machine.
	TimedOut []string `json:"timed_out"`
	Seconds  float64  `json:"seconds"`
	// Processor is the processor time in seconds: unlike Seconds it depends little on what else
	// the machine did.
	Processor float64 `json:"processor_seconds"`
}

// Score counts mutants by result.
type Score struct {
	Mutants    int     `json:"mutants"`
	Scenario   int     `json:"by_scenario"`
	Test       int     `json:"by_test"`
	Equivalent int     `json:"equivalent"`
	Survive    int     `json:"survive"`
	TimedOut   int     `json:"timed_out"` // those with a search that a time limit stopped
	Caught     float64 `json:"caught"`    // percent of those not equivalent
	Scenarios  float64 `json:"scenarios"` // percent of those not equivalent, by scenarios alone
	Median     float64 `json:"median_seconds"`
	Processor  float64 `json:"processor_seconds"` // all together
}

// NewScore counts results.
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

// RunScore generates mutants and judges them: each by random runs of the scenarios that reach it,
// then by exhaustive searches of these within the budget, and if they do not catch it, by the unit
// tests. Its error is about the options or the unmodified code, and wraps [ErrControl] if a
// scenario or a test fails on that.
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

// newJudge generates the mutants, and selects those that the options ask for.
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

// folders returns the folders whose packages have mutants.
func (o *ScoreOptions) folders() []string { return slices.Concat(o.Folders, o.Kit) }

// fill fills in the defaults.
func (o *ScoreOptions) fill() {
	o.Workers = cmp.Or(o.Workers, runtime.NumCPU())
	o.RandomRuns, o.SearchRuns = cmp.Or(o.RandomRuns, DefaultRandomRuns), cmp.Or(o.SearchRuns, DefaultSearchRuns)
	o.MaxTime = cmp.Or(o.MaxTime, DefaultScoreTime)
}

// all judges mutants, several at a time, and reports them in order.
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
			x.Mutant = m // its line may have changed
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

// build builds the command and the tests of the packages with all mutants in them, and makes the
// control run without a mutant.
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
