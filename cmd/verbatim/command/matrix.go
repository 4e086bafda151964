package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/faults"
)

// matrixFlags are the flags of the command matrix.
type matrixFlags struct {
	opt              matrix.Options
	asJSON, markdown bool
}

// newMatrix returns the command that fills the table of assumptions.
func newMatrix() *cobra.Command {
	f := &matrixFlags{}
	c := &cobra.Command{
		Use:   "matrix [PROTOCOL]...",
		Short: "Find out which promises of the card a protocol depends on",
		Long: `Matrix checks the scenarios of each protocol that can depend on the card, under every
named profile and under the profile strong with every single knob weakened. A cell of
the table is holds (every search behind it was exhausted), breaks (with a scenario and,
with --out, the file of a counterexample), or not decided, with the reason. A protocol
that holds under a profile holds under all stronger ones, and one that breaks also
breaks under all weaker ones, so most cells follow from searches of other cells, and
name them. For a cell that breaks, the table names a remedy that leaves the protocol
unchanged: every payload inline (inline), every request fenced (fence), every Write
followed by a Read whose completion is waited for (flush-read), placement in order
(in-order), or two of these.

--max-runs limits the search of one scenario for one cell or remedy. A cell whose
messages tear into more pieces gets a fiftieth of it, since none of its searches
finishes. --max-time limits a cell with all its scenarios. --json prints one object per
line for each cell, with the keys protocol, assumption, profile, verdict, exhausted,
scenario, derived_from, reason, counterexample, mend, seconds, limited, timers and
warning (about time); keys that do not apply are empty.

Exit status: 0 the table is complete, whatever the cells say, 2 bad usage or input, 3 a
limit or Ctrl-C left cells undecided.`,
		Example:           "  verbatim matrix ncl\n  verbatim matrix ncl --out found --json | jq -r '[.assumption, .verdict] | @tsv'",
		ValidArgsFunction: completeProtocols,
		RunE:              func(c *cobra.Command, args []string) error { return runMatrix(c, f, args) },
	}
	o, fl := &f.opt, c.Flags()
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each cell")
	fl.BoolVar(&f.markdown, "markdown", false, "print the table as Markdown, as in docs/matrix.md")
	fl.StringVar(&o.Timers, "timers", "", timersUsage)
	fl.DurationVar(&o.MaxTime, "max-time", 0, "stop the search for a cell after this time; 0: no limit")
	fl.Uint64Var(&o.MaxRuns, "max-runs", 0, "stop the search of a scenario after this many runs; 0: 1000000")
	fl.IntVar(&o.Workers, "workers", 0, "parallel runs; 0: one for each core")
	fl.StringVar(&o.Out, "out", "", "`directory` for counterexamples")
	c.MarkFlagsMutuallyExclusive("json", "markdown")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"timers": completeTimers})
	return c
}

// runMatrix fills the table and prints it.
func runMatrix(c *cobra.Command, f *matrixFlags, args []string) error {
	o := &f.opt
	if err := CheckLimits(f.opt.Workers, f.opt.MaxTime); err != nil {
		return err
	}
	if _, err := faults.ParseTimers(o.Timers); err != nil {
		return err
	}
	if len(args) == 0 {
		args = protocolNames()
	}
	var todo []matrix.Protocol
	for _, name := range args {
		p, err := protocolOf(name)
		if err != nil {
			return err
		}
		if p.Name != name {
			return fmt.Errorf("matrix needs a protocol, not one of its scenarios: %s, not %s", p.Name, name)
		}
		todo = append(todo, matrix.Protocol{Name: p.Name, Scenarios: p.matrixScenarios()})
	}
	if o.Out != "" {
		if err := os.MkdirAll(o.Out, 0o755); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	o.Stop = func() bool { return ctx.Err() != nil }
	line := cli.NewSpinner(c.ErrOrStderr())
	o.Progress = line.Show
	code := cli.OK
	for _, p := range todo {
		cells, err := matrix.Fill(p, *o)
		line.Clear()
		if err != nil {
			return err
		}
		if err := f.print(c.OutOrStdout(), cells); err != nil {
			return err
		}
		for i := range cells {
			if cells[i].Limited {
				code = cli.RanOut
			}
		}
	}
	return cli.Status(code).Err()
}

func (f *matrixFlags) print(w io.Writer, cells []matrix.Cell) error {
	switch {
	case f.markdown:
		return matrix.Markdown(w, cells)
	case f.asJSON:
		for i := range cells {
			if err := cli.Lines(w).Encode(&cells[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := cli.NewTable(cli.Row{"protocol", "assumption", "verdict", "why", "remedy"}).Wrapped(10, 24, 11, 48, 30).Separated()
	for i := range cells {
		x := &cells[i]
		t.AppendRow(cli.Row{x.Protocol, x.Assumption, string(x.Verdict), x.Why(), x.Mend})
	}
	if err := t.Render(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", matrix.Legend(cells))
	return err
}
