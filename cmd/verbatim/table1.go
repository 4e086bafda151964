package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/table1check"
)

// table1Flags are the flags of the command table1.
type table1Flags struct {
	opt    explore.Options
	out    string
	asJSON bool
}

// newTable1 returns the command that fills in table 1 of the Arcadia paper.
func newTable1() *cobra.Command {
	f := &table1Flags{}
	c := &cobra.Command{
		Use:   "table1",
		Short: "Find out which designs of a log survive which failures: table 1 of the Arcadia paper",
		Long: `Table1 fills in table 1 of the Arcadia paper, which its authors filled in by hand. For each
design of a log and each failure it searches all runs in which the application forces
records and the failure happens. A design survives (✓) if the search is exhausted and
every recovery has returned every forced record, and nothing that was never written. It is
broken (✗) if a recovery of some run has not, and the cell is unknown (?) if a limit
stopped the search. Below the table are the scenarios with the size of each search and,
with --out, the file of each run that breaks a design; without --out, verbatim check
SCENARIO shows the run.

--json prints one object per line for each cell, with the keys design, failure, mark,
published (in the paper; unknown for designs that are not in it), expected, scenario,
profile, faults, timers, bounds, runs, states, seconds, class (of the violation), reason
and counterexample (the file); keys that do not apply are empty.

Exit status: 0 every cell is as expected, 1 a cell is decided and is not as expected, 2
bad usage or input, 3 a limit or Ctrl-C left cells undecided. If several apply, 2 takes
precedence over 1, and 1 over 3.`,
		Example: "  verbatim table1\n  verbatim table1 --out found\n  verbatim table1 --json | jq -r '[.design, .failure, .mark] | @tsv'",
		Args:    cli.Takes("no arguments", cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return runTable1(c, f) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each cell")
	fl.StringVar(&f.opt.Profile, "profile", "", "profile of the hosts: a name (see 'verbatim list profiles') or a file; default: strong")
	fl.Uint64Var(&f.opt.MaxRuns, "max-runs", 0, "stop the search for a cell after this many runs; 0: no limit")
	fl.DurationVar(&f.opt.MaxTime, "max-time", 0, "stop the search for a cell after this time; 0: no limit")
	fl.IntVar(&f.opt.Workers, "workers", 0, "parallel runs; 0: one for each core")
	fl.StringVar(&f.out, "out", "", "`directory` for counterexamples")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"profile": cli.CompleteProfile})
	return c
}

// runTable1 fills in the table and prints it.
func runTable1(c *cobra.Command, f *table1Flags) error {
	if err := command.CheckLimits(f.opt.Workers, f.opt.MaxTime); err != nil {
		return err
	}
	if f.opt.Profile != "" {
		p, err := faults.FindProfile(f.opt.Profile)
		if err != nil {
			return err
		}
		f.opt.Profile = p.Name
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	line := command.NewProgress(c.ErrOrStderr())
	f.opt.Stop, f.opt.Progress = func() bool { return ctx.Err() != nil }, line.Show
	cells, err := table1check.Fill(table1check.Rows(), f.opt, f.out)
	line.Clear()
	if err != nil {
		return err
	}
	if err := f.print(c.OutOrStdout(), cells); err != nil {
		return err
	}
	return table1Status(cells).Err()
}

// table1Status returns the exit status for a table.
func table1Status(cells []table1check.Cell) cli.Status {
	code := cli.OK
	for i := range cells {
		switch {
		case cells[i].Unexpected():
			code = cli.Worse(code, cli.Violated)
		case cells[i].Mark == table1check.Unknown:
			code = cli.Worse(code, cli.RanOut)
		}
	}
	return cli.Status(code)
}

func (f *table1Flags) print(w io.Writer, cells []table1check.Cell) error {
	if f.asJSON {
		for i := range cells {
			if err := cli.Lines(w).Encode(&cells[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := table1Grid(w, cells); err != nil {
		return err
	}
	return table1Searches(w, cells)
}

var table1Signs = map[table1check.Mark]string{table1check.Survives: "✓", table1check.Broken: "✗", table1check.Unknown: "?"}

// table1Grid prints a row for each design and a column for each failure.
func table1Grid(w io.Writer, cells []table1check.Cell) error {
	head, failures := cli.Row{"design"}, table1check.Failures()
	for _, f := range failures {
		head = append(head, f)
	}
	t := cli.NewTable(head)
	for len(cells) > 0 {
		row, design := cli.Row{cells[0].Design}, cells[0].Design
		marks := map[string]string{}
		for len(cells) > 0 && cells[0].Design == design {
			c := &cells[0]
			marks[c.Failure] = table1Signs[c.Mark] + " " + string(c.Mark)
			if c.Contradicts() {
				marks[c.Failure] += " (published: " + table1Signs[c.Published] + ")"
			}
			cells = cells[1:]
		}
		for _, f := range failures {
			row = append(row, marks[f])
		}
		t.AppendRow(row)
	}
	return t.Render(w)
}

// table1Searches prints the search behind each cell, and the command that shows the run that breaks a design.
func table1Searches(w io.Writer, cells []table1check.Cell) error {
	t := cli.NewTable(cli.Row{"scenario", "", "states", "faults", "bounds", "violation"}).Wrapped(30, 1, 8, 28, 26, 26).Right(3)
	for i := range cells {
		c := &cells[i]
		t.AppendRow(cli.Row{c.Scenario, table1Signs[c.Mark], number.Commas(c.States), c.Faults, c.Bounds, c.Class})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := t.Render(w); err != nil {
		return err
	}
	text := "\n✓ the search was exhausted; ✗ a violation stopped it, and verbatim check SCENARIO shows the run\n"
	for i := range cells {
		c := &cells[i]
		switch {
		case c.Mark == table1check.Unknown:
			text += c.Scenario + " is not decided: " + c.Reason + "\n"
		case c.Unexpected():
			text += c.Scenario + " is " + table1Signs[c.Mark] + " and should be " + table1Signs[c.Expected] + "\n"
		}
		if c.Counterexample != "" {
			text += command.ReplayCommand(c.Counterexample) + "\n"
		}
	}
	if len(cells) > 0 {
		text += "profile: " + cells[0].Profile + "; timers: " + cells[0].Timers + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
