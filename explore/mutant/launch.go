package mutant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

const (
	maxMemory   = 2 << 30
	stepTimeout = 5 * time.Second
	// slack is how much longer than its time a program may take before it counts as hanging. It is
	// far more than a search needs to stop.
	slack = 20 * time.Second
)

// outcome is the exit of a program.
type outcome struct {
	out, said string
	code      int
	how       string // why it counts as caught regardless of its output, or empty
}

// launch describes how to start a program.
type launch struct {
	number int    // of the active mutant; 0: none
	notes  string // the file for the mutants that it reaches; empty: none
	dir    string
	name   string
	args   []string
	env    []string // besides
}

// start runs a program, which must exit soon after its time limit.
func (j *judge) start(l launch) outcome {
	ctx, cancel := context.WithTimeout(j.ctx, j.opt.MaxTime+cmp.Or(j.opt.limit, slack))
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, l.name, l.args...)
	c.Dir, c.Stdout, c.Stderr = l.dir, &stdout, &stderr
	c.Env = append(os.Environ(), "GOMAXPROCS=1", fmt.Sprintf("%s=%d", schema.Selects, l.number), fmt.Sprintf("%s=%d", schema.Memory, maxMemory),
		schema.Notes+"="+l.notes)
	c.Env = append(c.Env, l.env...)
	c.WaitDelay = time.Second
	err := c.Run()
	if c.ProcessState != nil {
		j.mu.Lock()
		j.spent[l.number] += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		j.mu.Unlock()
	}
	x := outcome{out: stdout.String(), said: strings.TrimSpace(stderr.String()), code: exitCode(err)}
	switch {
	case ctx.Err() != nil:
		x.how = HowHangs
	case x.code == schema.TooMuch:
		x.how = HowMemory
	}
	return x
}

// found is the output of `verbatim check --json`, and the class of its counterexample. A check that
// could not decide has one too: of an endless run.
type found struct {
	Search
	Counterexample string
	Exhausted      bool
	class          string
	late           bool // the time expired before the runs were made
}

// search checks a scenario with an active mutant.
func (j *judge) search(number int, scenario, strategy string, runs uint64, notes string) (x *found, o outcome) {
	o = again(func() outcome {
		x, o = j.searchOnce(number, scenario, strategy, runs, notes)
		return o
	})
	return x, o
}

// again checks that a program hangs or crashes because of the mutant, and not because the
// machine was busy or the process was killed: it must fail twice.
func again(run func() outcome) outcome {
	o := run()
	if o.how == HowHangs || o.how == HowCrashes {
		return run()
	}
	return o
}

// question is the question to a program about a scenario.
type question struct {
	Scenario, Strategy string
	Runs               uint64
	MaxTime            time.Duration
	Out                string // the folder for the answer
}

// args returns the arguments of the command for the question.
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
