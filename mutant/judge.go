package mutant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/mutant/generate"
)

// judge runs generated mutants, all of which are in its programs.
type judge struct {
	ctx       context.Context
	opt       ScoreOptions
	root, tmp string
	set       *generate.Set
	same      map[string]string // equivalent mutants, and why
	todo      []generate.Mutant
	program   string
	inTest    *inTest // the program is a Go test; nil: it is the command
	tests     []testProgram
	scenarios []reach // those of fewer runs first

	mu   sync.Mutex
	file *os.File
	err  error
}

// testProgram is the tests of a package, built.
type testProgram struct {
	folder, path string
	args         []string
	reach        reach
}

// reach is which mutants a scenario or a test comes to the places of, and in how many runs a
// scenario is searched without a mutant.
type reach struct {
	Name    string `json:"name"`
	Numbers []int  `json:"numbers"`
	Runs    uint64 `json:"runs"`
}

const (
	maxMemory   = 2 << 30
	stepTimeout = 5 * time.Second
	// slack is what a program may take beyond its time before it counts as hanging. It is
	// far more than a search needs to end.
	slack = 20 * time.Second
)

// outcome is how a program ended.
type outcome struct {
	out, said string
	code      int
	how       string // why it counts as caught without a look at what it printed, or empty
}

// launch says how to start a program.
type launch struct {
	number int    // of the mutant that is on; 0: none
	notes  string // the file for the places that it comes to; empty: none
	dir    string
	name   string
	args   []string
	env    []string // besides
}

// start runs a program, which must end soon after its time.
func (j *judge) start(l launch) outcome {
	ctx, cancel := context.WithTimeout(j.ctx, j.opt.MaxTime+cmp.Or(j.opt.limit, slack))
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, l.name, l.args...)
	c.Dir, c.Stdout, c.Stderr = l.dir, &stdout, &stderr
	c.Env = append(os.Environ(), "GOMAXPROCS=1", fmt.Sprintf("%s=%d", generate.Selects, l.number), fmt.Sprintf("%s=%d", generate.Memory, maxMemory),
		generate.Notes+"="+l.notes)
	c.Env = append(c.Env, l.env...)
	c.WaitDelay = time.Second
	err := c.Run()
	x := outcome{out: stdout.String(), said: strings.TrimSpace(stderr.String()), code: exitCode(err)}
	switch {
	case ctx.Err() != nil:
		x.how = HowHangs
	case x.code == generate.TooMuch:
		x.how = HowMemory
	}
	return x
}

// found is what `verbatim check --json` printed, and the class of its counterexample. One that
// could not decide has one too: of a run that does not end.
type found struct {
	Search
	Counterexample string
	Exhausted      bool
	class          string
	late           bool // the time was over before the runs were made
}

// search checks a scenario with a mutant on.
func (j *judge) search(number int, scenario, strategy string, runs uint64, notes string) (x *found, o outcome) {
	o = again(func() outcome {
		x, o = j.searchOnce(number, scenario, strategy, runs, notes)
		return o
	})
	return x, o
}

// again makes sure that a program hangs or crashes because of the mutant, and not because the
// machine was busy or somebody ended it: it must do so twice.
func again(run func() outcome) outcome {
	o := run()
	if o.how == HowHangs || o.how == HowCrashes {
		return run()
	}
	return o
}

// question is what a program is asked about a scenario.
type question struct {
	Scenario, Strategy string
	Runs               uint64
	MaxTime            time.Duration
	Out                string // the folder for the answer
}

// args ask the command.
func (q *question) args() []string {
	return []string{"check", q.Scenario, "--json", "--out", q.Out, "--no-shrink", "--workers", "1", "--seed", "1", "--strategy", q.Strategy,
		"--max-runs", strconv.FormatUint(q.Runs, 10), "--max-time", q.MaxTime.String(), "--step-timeout", stepTimeout.String()}
}

func (j *judge) searchOnce(number int, scenario, strategy string, runs uint64, notes string) (*found, outcome) {
	dir, err := os.MkdirTemp(j.tmp, "out")
	if err != nil {
		return nil, outcome{how: HowCrashes, said: err.Error()}
	}
	defer os.RemoveAll(dir)
	q := question{Scenario: scenario, Strategy: strategy, Runs: runs, MaxTime: j.opt.MaxTime, Out: dir}
	l := launch{number: number, notes: notes, dir: dir, name: j.program, args: q.args()}
	if j.inTest != nil {
		l = j.inTest.launch(l, &q)
	}
	o := j.start(l)
	if j.inTest != nil {
		o.out = q.answer()
	}
	if o.how != "" {
		return nil, o
	}
	x := &found{}
	if err := json.Unmarshal([]byte(o.out), x); err != nil || x.Verdict == "" { // a panic outside of a run, or an error of the scenario
		o.how, o.said = HowCrashes, cmp.Or(o.said, o.out, "it printed nothing")
		return nil, o
	}
	if x.Counterexample != "" {
		ce, err := explore.Load(filepath.Join(dir, filepath.Base(x.Counterexample)))
		if err != nil {
			return nil, outcome{how: HowCrashes, said: err.Error()}
		}
		x.class = ce.Class
	}
	switch {
	case x.Verdict == explore.Violated:
		o.how = HowViolated
	case x.Verdict != explore.Unknown:
	case x.class != "":
		o.how = HowEndless
	case strings.Contains(x.Reason, explore.ErrHang.Error()):
		o.how = HowHangs
	case strings.Contains(x.Reason, explore.ErrNotDeterministic.Error()):
		o.how = HowDiffers
	}
	o.said = x.Reason
	x.late = o.how == "" && !x.Exhausted && x.Runs < runs
	return x, o
}

// judged is what becomes of a mutant.
func (j *judge) judged(m generate.Mutant) Judged {
	start := time.Now()
	x := Judged{Mutant: m, Result: Survives, Reached: []string{}, Exhausted: []string{}, TimedOut: []string{}}
	for _, s := range j.scenarios {
		if _, ok := slices.BinarySearch(s.Numbers, m.Number); ok {
			x.Reached = append(x.Reached, s.Name)
		}
	}
	if !j.searched(&x) {
		j.tested(&x)
	}
	x.Seconds = time.Since(start).Seconds()
	return x
}

// least is the least number of runs that a search gets: below it, it hardly begins.
const least = 100

// searched looks for the mutant in the scenarios that come to it: at random in all of them,
// since most mutants show in a few runs, and then to the end in each, in which the smaller
// ones leave their runs to the others.
func (j *judge) searched(x *Judged) bool {
	for _, strategy := range []string{explore.Random, explore.Exhaustive} {
		left := j.runs(strategy)
		for i, scenario := range x.Reached {
			if slices.Contains(x.Exhausted, scenario) {
				continue
			}
			s, o := j.search(x.Number, scenario, strategy, max(left/uint64(len(x.Reached)-i), least), "")
			if o.how != "" {
				x.Result, x.How, x.Scenario, x.Strategy, x.Class, x.Reason = ByScenario, o.how, scenario, strategy, "", firstLine(o.said)
				if s != nil {
					x.Class = s.class
				}
				return true
			}
			if s.Exhausted {
				x.Exhausted = append(x.Exhausted, scenario)
			}
			if s.late && !slices.Contains(x.TimedOut, scenario) {
				x.TimedOut = append(x.TimedOut, scenario)
			}
			left -= min(left, s.Runs)
		}
	}
	return false
}

// runs are those that a strategy has for all scenarios together.
func (j *judge) runs(strategy string) uint64 {
	if strategy == explore.Random {
		return j.opt.RandomRuns
	}
	return j.opt.SearchRuns
}

var failing = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// tested runs the unit tests that come to the mutant.
func (j *judge) tested(x *Judged) {
	for _, t := range j.tests {
		if _, ok := slices.BinarySearch(t.reach.Numbers, x.Number); !ok {
			continue
		}
		o := again(func() outcome { return j.test(&t, x.Number, "") })
		if o.how == "" {
			continue
		}
		x.Result, x.How, x.Reason = ByTest, o.how, firstLine(o.said)
		if found := failing.FindAllStringSubmatch(o.out, -1); len(found) > 0 {
			x.Test = found[len(found)-1][1]
		}
		return
	}
}

// test runs the tests of a package with a mutant on.
func (j *judge) test(t *testProgram, number int, notes string) outcome {
	o := j.start(launch{number: number, notes: notes, dir: t.folder, name: t.path, args: append([]string{"-test.failfast", "-test.timeout=" + j.opt.MaxTime.String()}, t.args...)})
	switch {
	case o.how != "" || o.code == 0:
	case strings.Contains(o.out+o.said, "panic: test timed out"):
		o.how = HowHangs
	case failing.MatchString(o.out):
		o.how, o.said = HowFailed, afterFailure(o.out)
	default:
		o.how = HowCrashes
	}
	return o
}

// afterFailure is what a test said below the line that it failed in.
func afterFailure(out string) string {
	at := failing.FindAllStringIndex(out, -1)
	_, rest, _ := strings.Cut(out[at[len(at)-1][0]:], "\n")
	return rest
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// names are those of the scenarios.
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

// control finds out which places each scenario and the tests come to, and in how many
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
	// By runs and not by time, which would be another order on a busy machine.
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

// controlled searches a scenario as it is for each mutant, and says in how many runs, and
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

// noted runs something without a mutant, and reads which places it came to.
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

// line is x in one line of JSON.
func line(x any) ([]byte, error) {
	text, err := json.Marshal(x)
	return append(text, '\n'), err
}
