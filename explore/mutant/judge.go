package mutant

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// judge runs generated mutants. Its programs contain all of them.
type judge struct {
	ctx       context.Context
	opt       ScoreOptions
	root, tmp string
	set       *schema.Set
	same      map[string]string // equivalent mutants, and why
	todo      []schema.Mutant
	program   string
	inTest    *inTest // the program is a Go test; nil: it is the command
	tests     []testProgram
	scenarios []reach // those of fewer runs first

	mu    sync.Mutex
	file  *os.File
	err   error
	spent map[int]time.Duration // processor time by mutant
}

// testProgram is the tests of a package, built.
type testProgram struct {
	folder, path string
	args         []string
	reach        reach
}

// reach lists the mutants that a scenario or a test reaches, and the number of runs in which the
// scenario is searched without a mutant.
type reach struct {
	Name    string `json:"name"`
	Numbers []int  `json:"numbers"`
	Runs    uint64 `json:"runs"`
}

// judged returns the result for a mutant.
func (j *judge) judged(m schema.Mutant) Judged {
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
	j.mu.Lock()
	x.Processor = j.spent[m.Number].Seconds()
	j.mu.Unlock()
	return x
}

// least is the least number of runs that a search gets: below it, it hardly begins.
const least = 100

// searched searches the scenarios that reach the mutant: first at random, since a few runs catch
// most mutants, then exhaustively. Smaller scenarios leave their unused runs to the others.
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

// runs returns the budget of a strategy for all scenarios together.
func (j *judge) runs(strategy string) uint64 {
	if strategy == explore.Random {
		return j.opt.RandomRuns
	}
	return j.opt.SearchRuns
}

var failing = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// tested runs the unit tests that reach the mutant.
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

// test runs the tests of a package with an active mutant.
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

// afterFailure returns the output of a test after the line in which it failed.
func afterFailure(out string) string {
	at := failing.FindAllStringIndex(out, -1)
	_, rest, _ := strings.Cut(out[at[len(at)-1][0]:], "\n")
	return rest
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// line is x in one line of JSON.
func line(x any) ([]byte, error) {
	text, err := json.Marshal(x)
	return append(text, '\n'), err
}
