package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// checkFlags are the flags of the command check.
type checkFlags struct {
	opt       explore.Options
	trace     string
	traceFile string
	out       string
	asJSON    bool
	page      checkPage
	deep      bool
	stop      bool // at the first violation
	audit     bool
	auditRuns int
	details   bool
	watch     bool

	strengthen string
	memory     cli.Size
}

// newCheck returns the command that checks scenarios.
func newCheck() *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use:   "check PROTOCOL[/SCENARIO]|PATTERN...",
		Short: "Check the scenarios of a protocol",
		Long: `Check searches the possible runs of a scenario for a violation of the protocol's
promise. For a violation it prints a timeline and writes a small file that replays it,
<scenario>.counterexample.json, to the directory of --out (by default the current one).

A pattern selects scenarios as a shell selects files: 'ncl/re*' (quoted), '*/twice', or
'*' for all protocols. With --stop-at-first the command stops at the first violation.

The strategy exhaustive tries everything within the stated bounds; only it can verify.
Random and pct sample: pct is better at bugs that need a few specific steps in order.
Mixed makes 2000 random runs, but at most a quarter of a limit, and then searches
exhaustively. Use it for code under development: shallow bugs show within a second,
where an exhaustive search may take minutes to reach them, and correct code is still
verified. The output names the strategy that decided.

--json prints one object per line for each scenario, with the keys scenario, profile,
faults, timers, warning (about time, or null), strategy, verdict, exhausted, runs,
sampled (the random runs before these, with mixed), states, choices, max_depth, seconds,
workers, counterexample (the file, or null), reason, sometimes, bounds, eager_log10,
remaining (null if unknown) and audit (null without --audit). It writes a counterexample
to a file only with --out.

--audit tests the search: at states of sampled runs, it takes the steps that a rule
skips. Steps that should commute are made in both orders, interchangeable hosts are
permuted, two states with one fingerprint are continued with the same choices, and runs
in which every placement is a step must find nothing new. The output states how often
each claim was tested, and the steps of the first failure. If a claim fails, there is no
verdict: the check could not decide.

--report also writes a page: the verdicts and their assumptions, the coverage of the
state space, the reached lines of the protocol, and the matrix, with a link to the run
of each cell that breaks. The pages of runs are in a folder beside it. To count lines,
the command rebuilds itself from the source tree in the current directory; without a
source tree the page says that line coverage is not available. The matrix takes many
minutes to compute: --matrix FILE reads the output of verbatim matrix --json. --mutants
FILE reads the results of generated mutants, and adds the score and the survivors beside
their lines.

A search that --resume continues has the result of the whole search. Only line coverage
starts at the resumption, and the page states that. A saved search continues only in the
same build of the program, because changed code could behave differently in states
already visited; with --report that build is the one made from the source tree.

Ctrl-C stops a search cleanly; a second one terminates the program at once.

If a step of a run hangs for longer than --step-timeout, for example in a loop that
calls nothing of host or verbs, the check of its scenario stops with the verdict unknown
and reports the line. The step cannot be interrupted: it continues until the program
exits.

--watch repeats the check whenever a file of the source tree in the current directory
changes, with a program built from it, until Ctrl-C.

Exit status: 0 verified (or clean, for random and pct), 1 violated, 2 bad usage or
input, or a file that cannot be written, 3 a limit or Ctrl-C stopped the check, or it
could not decide. If several apply, 2 takes precedence over 1, 1 over 3, and 3 over 0.`,
		Example: `  verbatim check ncl
  verbatim check ncl/three-writes --profile relaxed+CellBytes=1
  verbatim check ncl --faults 'crash(app)<=1, partition(app,peer*)<=1'
  verbatim check ncl/f2 --timers free
  verbatim check ncl/f2 --strategy pct --seed 7 --max-runs 100000
  verbatim check 'ncl/re*' --strategy mixed --stop-at-first
  verbatim check ncl/f2 --max-time 10m --save f2.search
  verbatim check ncl/f2 --resume f2.search --save f2.search
  verbatim check ncl --deep --max-time 30m
  verbatim check ncl --trace sqlite.strace --trace-file '*-wal'
  verbatim check ncl/twice --audit
  verbatim check ncl/three-writes --watch
  verbatim check ncl --json | jq .verdict
  verbatim check ncl --report report.html --matrix testdata/matrix/ncl.jsonl`,
		Args:              cli.Takes("protocols ("+cli.List(protocolNames())+") or scenarios", cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeScenarios,
		RunE:              func(c *cobra.Command, args []string) error { return runCheck(c, f, args) },
	}
	f.define(c)
	return c
}

func (f *checkFlags) define(c *cobra.Command) {
	o, fl := &f.opt, c.Flags()
	fl.StringVar(&o.Profile, "profile", "", "profile of the cards: a name (see 'verbatim list profiles') or a file (with a slash, or *.profile; see docs/profiles.md); default: the scenario's")
	fl.StringVar(&f.strengthen, "strengthen", "", "remedies to apply to the protocol's requests: inline, fence, flush-read, or several joined by +")
	fl.StringVar(&o.Faults, "faults", "", "fault budget (see 'verbatim list faults'), or none; default: the scenario's")
	fl.StringVar(&o.Timers, "timers", "", timersUsage)
	fl.StringVar(&o.Strategy, "strategy", "", "exhaustive, random, pct or mixed; default: the scenario's")
	fl.Uint64Var(&o.Seed, "seed", 0, "seed of the strategies random, pct and mixed")
	fl.Uint64Var(&o.MaxRuns, "max-runs", 0, "stop after this many runs; 0: no limit (random and pct: 10000)")
	fl.DurationVar(&o.MaxTime, "max-time", 0, "stop after this time, for each scenario; 0: no limit")
	fl.DurationVar(&o.StepTimeout, "step-timeout", explore.DefaultStepTimeout, "stop the check if one step takes longer")
	fl.IntVar(&o.Workers, "workers", 0, "parallel runs; 0: one for each core")
	fl.Var(&f.memory, "max-memory", "stop when the search needs more memory, such as 8GiB; default: no limit")
	fl.StringVar(&f.trace, "trace", "", "check the workload recorded in this strace `file`")
	fl.StringVar(&f.traceFile, "trace-file", "", "the log file in the trace: a `pattern` or the end of its name")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each scenario")
	fl.BoolVar(&f.stop, "stop-at-first", false, "stop at the first violated scenario")
	fl.BoolVar(&f.deep, "deep", false, "with a protocol or a pattern, also check the scenarios that take hours; best with --max-time")
	fl.StringVar(&f.out, "out", "", "`directory` for counterexamples")
	fl.StringVar(&f.page.file, "report", "", "write a report page to this `file`")
	fl.StringVar(&f.page.matrix, "matrix", "", "with --report: the `file` with the output of verbatim matrix --json, or none; default: compute the matrix")
	fl.StringVar(&f.page.scored, "mutants", "", "with --report: the `file` with the results of verbatim mutants --generate, for the score and the survivors")
	fl.StringVar(&o.Resume, "resume", "", "continue the search that --save left in this `file`")
	fl.StringVar(&o.Save, "save", "", "save the search in this `file` if a limit stops it")
	fl.BoolVar(&f.audit, "audit", false, "also test the rules by which the search skips steps, at sampled states")
	fl.IntVar(&f.auditRuns, "audit-runs", audit.DefaultRuns, "with --audit: the number of sampled runs; --seed selects them")
	fl.StringSliceVar(&o.Seek, "seek", nil, "continue past violations that are not of this `class`; report another only if there is none; repeatable")
	fl.BoolVar(&f.watch, "watch", false, "check again whenever the source changes, until Ctrl-C")
	fl.BoolVar(&f.details, "details", false, "describe each result in full")
	fl.BoolVar(&o.NoShrink, "no-shrink", false, "do not shrink a counterexample")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{
		"profile": cli.CompleteProfile, "faults": completeFaults, "timers": completeTimers, "strategy": completeStrategy,
	})
}

// runCheck checks the scenarios that the arguments name, one after the other.
func runCheck(c *cobra.Command, f *checkFlags, args []string) error {
	if c.Flags().Changed("faults") && strings.TrimSpace(f.opt.Faults) == "" {
		f.opt.Faults = "none"
	}
	if err := f.validate(); err != nil {
		return err
	}
	todo, err := f.scenarios(args)
	if err != nil {
		return err
	}
	if f.watch {
		return watch(c, args)
	}
	args = spelled(args, todo)
	if len(todo) > 1 && (f.opt.Save != "" || f.opt.Resume != "") {
		return fmt.Errorf("--save and --resume need a single scenario, not %d: name one of %s", len(todo),
			cli.List(namesOf(todo)))
	}
	if err := saveable(f.opt.Save); err != nil {
		return err
	}
	if err := f.unfit(todo); err != nil {
		return err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	// This may restart the command, and a pipe can be read only once, so nothing is read before.
	if err := f.page.begin(ctx, f, args, c.ErrOrStderr()); err != nil {
		return err
	}
	if f.trace != "" {
		if todo, err = f.traced(args[0], c.ErrOrStderr()); err != nil {
			return err
		}
	}
	if err := errors.Join(f.page.readMatrix(f, args), f.page.readMutants(ctx, args)); err != nil {
		return err
	}
	result := f.checkAll(ctx, todo, c.OutOrStdout(), c.ErrOrStderr())
	if err := f.page.write(ctx, c); err != nil {
		return err
	}
	return result.Err()
}

// saveable reports, before hours of search, whether the search can be saved in a file: the file must be writable, and
// must not hold anything but a saved search.
func saveable(file string) error {
	if file == "" {
		return nil
	}
	dir := filepath.Dir(file)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("--save %s: no such folder: %s", file, dir)
	}
	switch st, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("--save %s: %w", file, errors.Unwrap(err))
	case st.IsDir():
		return fmt.Errorf("--save %s: it is a folder: name a file in it", file)
	case st.Mode().IsRegular() && st.Size() > 0 && !explore.IsSaved(file):
		return fmt.Errorf("--save %s: not a saved search, and it would be overwritten: name another file", file)
	}
	return nil
}

// validate checks everything that can be checked before the first scenario.
func (f *checkFlags) validate() error {
	o := &f.opt
	if o.Profile != "" {
		p, err := faults.FindProfile(o.Profile)
		if err != nil {
			return err
		}
		o.Profile = p.Name // so a counterexample does not need the file
	}
	if _, err := faults.ParseBudget(o.Faults); err != nil {
		return err
	}
	if _, err := faults.ParseTimers(o.Timers); err != nil {
		return err
	}
	with, err := sim.ParseStrengthen(f.strengthen)
	if err != nil {
		return err
	}
	o.Strengthen = with
	all := []string{"", explore.Exhaustive, explore.Random, explore.PCT, explore.Mixed}
	switch {
	case !slices.Contains(all, o.Strategy):
		return fmt.Errorf("unknown strategy %q; known: %s%s", o.Strategy, cli.List(all[1:]), mistake.DidYouMean(o.Strategy, all[1:]))
	case o.StepTimeout <= 0:
		return fmt.Errorf("--step-timeout %v: it must be positive", o.StepTimeout)
	case f.audit && f.page.file != "":
		return errors.New("--audit and --report cannot be combined: run them one after the other")
	case f.audit && o.Strategy != "" && o.Strategy != explore.Exhaustive:
		return fmt.Errorf("--audit tests an exhaustive search; %s skips nothing by rule", o.Strategy)
	case !f.audit && f.auditRuns != audit.DefaultRuns:
		return errors.New("--audit-runs needs --audit")
	case f.auditRuns < 1:
		return fmt.Errorf("--audit-runs %d: it must be at least 1", f.auditRuns)
	case f.watch && (o.Save != "" || o.Resume != "" || f.page.file != ""):
		return errors.New("--watch starts each check from the beginning: omit --save, --resume and --report")
	case f.page.matrix != "" && f.page.file == "":
		return errors.New("--matrix needs --report")
	case f.page.scored != "" && f.page.file == "":
		return errors.New("--mutants needs --report")
	case f.deep && f.trace != "":
		return errors.New("--deep selects scenarios of a protocol, but --trace makes its own")
	case f.traceFile != "" && f.trace == "":
		return errors.New("--trace-file needs --trace")
	case o.Strategy == explore.Mixed && o.Resume != "":
		return errors.New("--resume continues an exhaustive search, but mixed begins with random runs: omit --strategy")
	case o.Strategy == explore.Random || o.Strategy == explore.PCT:
		if o.Save != "" || o.Resume != "" {
			return fmt.Errorf("--save and --resume need the strategy exhaustive; to continue %s, use another --seed", o.Strategy)
		}
	}
	if f.memory > 0 && (o.Strategy == explore.Random || o.Strategy == explore.PCT) {
		return fmt.Errorf("--max-memory limits what an exhaustive search keeps; %s keeps nothing", o.Strategy)
	}
	o.MaxMemory = uint64(f.memory)
	return CheckLimits(o.Workers, o.MaxTime)
}

// scenarios returns the scenarios that the arguments name; with --trace there are none yet.
func (f *checkFlags) scenarios(args []string) ([]*explore.Scenario, error) {
	if f.trace == "" {
		return find(args, f.deep)
	}
	if len(args) != 1 || strings.Contains(args[0], "/") {
		return nil, errors.New("--trace makes its own scenario: name one protocol and no scenario")
	}
	_, err := protocolOf(args[0])
	return nil, err
}

// traced reads the trace, and returns the scenario made from it.
func (f *checkFlags) traced(protocol string, stderr io.Writer) ([]*explore.Scenario, error) {
	p, err := protocolOf(protocol)
	if err != nil {
		return nil, err
	}
	s, t, err := fromTrace(p, f.trace, f.traceFile)
	if err != nil {
		return nil, err
	}
	for _, note := range t.Notes {
		remark(stderr, "%s: %s", f.trace, note)
	}
	return []*explore.Scenario{s}, nil
}

func namesOf(list []*explore.Scenario) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

// checkAll checks the scenarios and prints each result as soon as it is known.
func (f *checkFlags) checkAll(ctx context.Context, todo []*explore.Scenario, stdout, stderr io.Writer) cli.Status {
	total, violated := cli.OK, false
	for i, s := range todo {
		if ctx.Err() != nil {
			remark(stderr, "interrupted: not checked: %s", cli.List(namesOf(todo[i:])))
			return cli.Status(cli.Worse(total, cli.RanOut))
		}
		if f.stop && violated {
			remark(stderr, "stopped at the first violation: not checked: %s", cli.List(namesOf(todo[i:])))
			break
		}
		code, err := f.checkOne(ctx, s, stdout, stderr)
		if err != nil {
			remark(stderr, "%s: %v", s.Name, err)
			code = cli.Bad
		}
		total, violated = cli.Worse(total, code), violated || code == cli.Violated
	}
	return cli.Status(total)
}

// checkOne checks one scenario and prints the result.
func (f *checkFlags) checkOne(ctx context.Context, s *explore.Scenario, stdout, stderr io.Writer) (int, error) {
	opt := f.opt
	line := NewProgress(stderr)
	opt.Progress = line.Show
	opt.Stop = func() bool { return ctx.Err() != nil }
	f.page.clear()
	var r *explore.Result
	var x *audit.Report
	var unsaved error
	if f.audit {
		r, x, unsaved = f.audited(s, opt)
	} else {
		r, unsaved = explore.Check(s, opt)
	}
	line.Clear()
	if r == nil {
		return cli.Bad, unsaved
	}
	file, err := f.save(r)
	unsaved = errors.Join(unsaved, err, f.page.add(s, r, f.replayCommand(file))) // the result is reported even if the file was not written
	if f.asJSON {
		err = writeJSON(stdout, r, x, file)
	} else {
		err = f.report(stdout, &finding{s, r, x, file, unsaved == nil, ctx.Err() != nil})
	}
	return statusOf(r), errors.Join(unsaved, err)
}

// save writes the counterexample, if there is one, and returns the file's name.
func (f *checkFlags) save(r *explore.Result) (string, error) {
	if r.Counterexample == nil || f.asJSON && f.out == "" {
		return "", nil
	}
	file, err := r.Counterexample.SaveIn(f.out)
	if err != nil {
		return "", err
	}
	return file, nil
}

// statusOf returns the exit status for one result.
func statusOf(r *explore.Result) int {
	switch r.Verdict {
	case explore.Verified, explore.Clean:
		return cli.OK
	case explore.Violated:
		return cli.Violated
	default:
		return cli.RanOut
	}
}
