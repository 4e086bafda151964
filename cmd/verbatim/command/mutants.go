package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/faults"
)

// mutantFlags are the flags of the command mutants.
type mutantFlags struct {
	opt            mutant.Options
	score          mutant.ScoreOptions
	asJSON, sqlite bool
	generate       bool
	// The required score of the generated mutants, in percent.
	atLeast, byScenarios float64
	part                 string // --part
}

// newMutants returns the command that checks protocols with deliberate bugs.
func newMutants() *cobra.Command {
	f := &mutantFlags{}
	c := &cobra.Command{
		Use:   "mutants PROTOCOL",
		Short: "Check that every mutant (a deliberate bug) is caught",
		Long: `Mutants checks a protocol repeatedly, each time with one deliberate bug, and reports
which bugs were caught, by what and how fast. The bugs are the patches in
testdata/mutants/PROTOCOL. The command needs the go command, and must run in the source
tree; it does not change the source.

First the unchanged code must be verified in all scenarios. For each mutant the
scenarios are then sampled briefly, searched briefly, sampled longer, and searched
exhaustively (deep ones only if the mutant names them); the scenario that a mutant names
goes through all four before the others begin. A violation catches the mutant if its
class is one that the mutant names. Searches continue past violations of other classes;
if they find no other, the mutant was caught for another reason, which does not count.

--sqlite runs the mutants of ncl with 'verbatim-run crash sqlite' instead: SQLite, with
its log on the mutant, must lose a committed transaction. Without --name only the
mutants are run that its workload can reach.

The mutants of the simulator are called litmus: each breaks one rule of the semantics,
and a litmus test that names the rule must then have a wrong verdict.

The mutants of the checker are called explore: each breaks a rule by which a search
skips steps, and must be caught by the yardstick that it names: the outcomes of a small
program, the audit of one, or a Go test.

--generate makes the bugs by machine: it applies every operator of a list everywhere in
the protocol's code, in one build. Each mutant gets random runs of the scenarios that
reach it, then an exhaustive search of these, the quicker ones first, and then the unit
tests. The output lists the surviving mutants with their lines, and a score: how many
were caught by scenarios, how many by unit tests, and how many are marked as equivalent
in testdata/mutants/PROTOCOL/equivalent, with the reason. --name accepts the names that
it prints, --workers sets how many mutants run at a time, and a run with a --results
file resumes where it stopped.

In the table, events are the rows of the counterexample's timeline, and runs those of
the search that caught the mutant. More than ` + strconv.Itoa(mutant.MaxEvents) + ` events are too many for a person to
follow; --max-events sets another limit, for scenarios of many hosts and lives. --json
prints one object per line for each mutant.

Exit status: 0 all are caught or equivalent, 1 one survives, is caught for another
reason, or its counterexample is too long, 2 bad usage or input, a patch that does not
apply, or unchanged code that is not verified.`,
		Example:           "  verbatim mutants ncl\n  verbatim mutants litmus\n  verbatim mutants explore\n  verbatim mutants ncl --name ack-at-f --out .\n  verbatim mutants ncl --sqlite --name no-catch-up\n  verbatim mutants ncl --generate --sample 60 --seed 1 --changed-since main\n  verbatim mutants ncl --generate --results ncl.mutants --json",
		Args:              cli.Takes("one protocol, or "+mutant.Litmus+", or "+mutant.Explore, cobra.ExactArgs(1)),
		ValidArgsFunction: completeProtocols,
		RunE:              func(c *cobra.Command, args []string) error { return runAnyMutants(c, f, args[0]) },
	}
	o, fl := &f.opt, c.Flags()
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	fl.StringVar(&o.Out, "out", "", "`directory` for counterexamples and the pages that show them")
	fl.StringSliceVar(&o.Names, "name", nil, "only the mutant with this `name`; repeatable")
	fl.IntVar(&o.Workers, "workers", 0, "parallel runs; 0: one for each core")
	fl.DurationVar(&o.MaxTime, "max-time", 0, "stop a search after this time; 0: no limit, and with --generate 2m")
	fl.IntVar(&o.MaxEvents, "max-events", mutant.MaxEvents, "a counterexample with more events is too long")
	fl.StringVar(&o.Timers, "timers", "", timersUsage)
	fl.BoolVar(&f.sqlite, "sqlite", false, "run the mutants under SQLite, with 'verbatim-run crash sqlite'")
	fl.BoolVar(&o.NoControl, "no-control", false, "skip the check of the unchanged code")
	f.defineScore(fl)
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"name": completeMutants, "timers": completeTimers})
	return c
}

// runAnyMutants runs the mutants of a protocol, the simulator or the checker.
func runAnyMutants(c *cobra.Command, f *mutantFlags, of string) error {
	if of == mutant.Litmus || of == mutant.Explore {
		if f.generate {
			return fmt.Errorf("--generate is for protocols: the mutants of %s are patches that name what must catch them", of)
		}
		if err := onlyGenerated(c); err != nil {
			return err
		}
	}
	switch of {
	case mutant.Litmus:
		return runRuleMutants(c, f)
	case mutant.Explore:
		return runCheckerMutants(c, f)
	}
	if f.opt.MaxEvents < 1 {
		return fmt.Errorf("--max-events %d: it must be at least 1", f.opt.MaxEvents)
	}
	p, err := protocolOf(of)
	if err != nil {
		return err
	}
	f.opt.Protocol = p.Name
	if f.generate {
		return runScore(c, f, p)
	}
	if err := onlyGenerated(c); err != nil {
		return err
	}
	if f.sqlite {
		return runSQLiteMutants(c, f)
	}
	return runMutants(c, f)
}

// completeMutants completes the name of a mutant.
func completeMutants(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, protocol := range args {
		all, _ := mutant.List("", protocol) // an error completes nothing
		for _, m := range all {
			out = append(out, m.Name+"\t"+m.Title)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// runMutants runs the mutants and prints the results.
func runMutants(c *cobra.Command, f *mutantFlags) error {
	if err := CheckLimits(f.opt.Workers, f.opt.MaxTime); err != nil {
		return err
	}
	if _, err := faults.ParseTimers(f.opt.Timers); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	var printing error
	f.opt.Done = func(x mutant.Result) {
		if f.asJSON {
			if err := cli.Lines(stdout).Encode(newMutantResult(&x)); err != nil {
				printing = err
			}
		} else if cli.IsTerminal(stderr) {
			fmt.Fprintf(stderr, "%s: %s after %.0f s\n", x.Name, x.Verdict(), x.Seconds)
		}
	}
	f.opt.Note = func(text string) { remark(stderr, "%s", text) }
	f.opt.Kept = keptFolder()
	results, err := mutant.Run(ctx, f.opt)
	if !f.asJSON && len(results) > 0 {
		printing = mutantTable(stdout, results, f.opt.MaxEvents)
	}
	for i := range results {
		if results[i].Err != nil {
			remark(stderr, "%v", results[i].Err)
		}
	}
	switch {
	case err != nil:
		return err
	case printing != nil:
		return printing
	}
	return mutantStatus(results).Err()
}

// keptFolder returns the folder for control runs; it is empty if there is none.
func keptFolder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "verbatim")
}

// mutantStatus returns the exit status for results.
func mutantStatus(results []mutant.Result) cli.Status {
	code := cli.OK
	for i := range results {
		switch {
		case results[i].Err != nil:
			code = cli.Worse(code, cli.Bad)
		case !results[i].Caught, results[i].TooLong():
			code = cli.Worse(code, cli.Violated)
		}
	}
	return cli.Status(code)
}

// mutantTable prints the results as a table, and the number of mutants that were caught.
func mutantTable(w io.Writer, results []mutant.Result, maxEvents int) error {
	t := cli.NewTable(cli.Row{"mutant", "result", "scenario", "runs", "decisions", "events", "violation"}).Wrapped(26, 36, 20, 12, 9, 6, 30)
	var missed []string
	long := 0
	for i := range results {
		x := &results[i]
		row := cli.Row{x.Name, x.Verdict()}
		if !x.Caught {
			missed = append(missed, x.Name)
		}
		if x.Scenario != "" {
			_, scenario, _ := strings.Cut(x.Scenario, "/")
			row = append(row, scenario, x.Runs, x.Decisions, x.Events, x.Class)
		}
		if x.TooLong() {
			long++
		}
		t.AppendRow(row)
	}
	if err := t.Render(w); err != nil {
		return err
	}
	text := caughtOf("mutants", len(results), missed)
	if long > 0 {
		text += fmt.Sprintf("counterexamples that are too long (more than %d events): %d\n", maxEvents, long)
	}
	if timers := regimes(results); timers != "" {
		text += "timers, in all searches: " + timers + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// caughtOf returns the last line of a table of mutants. It names the missed ones, because the table is long.
func caughtOf(what string, all int, missed []string) string {
	text := fmt.Sprintf("\n%d of %d %s are caught\n", all-len(missed), all, what)
	if len(missed) > 0 {
		text += "not caught: " + strings.Join(missed, ", ") + "\n"
	}
	return text
}

// regimes returns the timer regimes of all searches, each once, in words.
func regimes(results []mutant.Result) string {
	var out []string
	for i := range results {
		for _, s := range results[i].Searches {
			if t, err := faults.ParseTimers(s.Timers); err == nil && !slices.Contains(out, t.String()+": "+t.Says()) {
				out = append(out, t.String()+": "+t.Says())
			}
		}
	}
	return strings.Join(out, "; ")
}

// mutantResult is the line of --json for one mutant.
type mutantResult struct {
	Mutant         string          `json:"mutant"`
	Title          string          `json:"title"`
	Paper          string          `json:"paper"`
	Finding        *string         `json:"finding"`
	Result         string          `json:"result"`
	Caught         bool            `json:"caught"`
	Scenario       *string         `json:"scenario"`
	Strategy       *string         `json:"strategy"`
	Class          *string         `json:"class"`
	Wanted         *string         `json:"wanted"`
	Runs           uint64          `json:"runs"`
	Found          int             `json:"found"`
	Decisions      int             `json:"decisions"`
	Events         int             `json:"events"`
	TooLong        bool            `json:"too_long"`
	Seconds        float64         `json:"seconds"`
	Counterexample *string         `json:"counterexample"`
	Searches       []mutant.Search `json:"searches"`
	Error          *string         `json:"error"`
}

func newMutantResult(x *mutant.Result) mutantResult {
	out := mutantResult{Mutant: x.Name, Title: x.Title, Paper: x.Paper, Finding: cli.OrNull(x.Finding), Result: x.Verdict(),
		Caught: x.Caught, Scenario: cli.OrNull(x.Scenario), Strategy: cli.OrNull(x.Strategy), Class: cli.OrNull(x.Class), Wanted: cli.OrNull(x.Wanted), Runs: x.Runs,
		Found: x.Found, Decisions: x.Decisions, Events: x.Events, TooLong: x.TooLong(), Seconds: x.Seconds,
		Searches: append([]mutant.Search{}, x.Searches...)}
	if x.File != "" {
		out.Counterexample = cli.OrNull(filepath.ToSlash(x.File))
	}
	if x.Err != nil {
		out.Error = cli.OrNull(x.Err.Error())
	}
	return out
}
