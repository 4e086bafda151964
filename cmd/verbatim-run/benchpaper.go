package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/virtual"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

// newBenchPaper returns the command that prints the paper's numbers next to ours.
func newBenchPaper() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "paper",
		Short: "Repeat the measurements of SplitFT's paper in virtual time",
		Long: `Paper runs the code of NCL in the simulator, on a clock driven by a model of the paper's
cluster, and prints the results beside the paper's numbers: figure 8, figure 11a and
table 3. Below are the inputs of the model, with their sources.

docs/paper-numbers.md explains the numbers. They do not depend on this machine.

--json prints one object per line: first the inputs, then the numbers.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m := virtual.ConnectX4()
			figures, err := bench.Paper(c.Context(), m, func(what string) { fmt.Fprintf(c.ErrOrStderr(), "measuring %s\n", what) })
			if err != nil {
				return err
			}
			if asJSON {
				return paperJSON(c.OutOrStdout(), m.Inputs(), figures)
			}
			return paperTables(c.OutOrStdout(), m.Inputs(), figures)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func paperJSON(w io.Writer, inputs []virtual.Input, figures []bench.Figure) error {
	enc := cli.Lines(w)
	for i := range inputs {
		if err := enc.Encode(&inputs[i]); err != nil {
			return err
		}
	}
	for i := range figures {
		if err := enc.Encode(&figures[i]); err != nil {
			return err
		}
	}
	return nil
}

func paperTables(w io.Writer, inputs []virtual.Input, figures []bench.Figure) error {
	t := cli.NewTable(cli.Row{"in the paper", "what", "paper", "ours", "ratio", ""}).Right(3, 4, 5)
	for i := range figures {
		f := &figures[i]
		theirs, ratio, note := "", "", f.Note
		if f.Paper != 0 {
			theirs, ratio = paperNumber(f.Paper, f.Unit), fmt.Sprintf("%.2f", f.Ratio())
		}
		if f.Input {
			ratio, note = "", "input"
		}
		t.AppendRow(cli.Row{f.Of, f.What, theirs, paperNumber(f.Ours, f.Unit), ratio, note})
	}
	if err := t.Render(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = cli.NewTable(cli.Row{"the model was given", "", "from", ""})
	for _, x := range inputs {
		t.AppendRow(cli.Row{x.Name, x.Value, x.From, x.Source})
	}
	return t.Render(w)
}

// paperNumber has three digits or more.
func paperNumber(x float64, unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	if x >= 1000 {
		return fmt.Sprintf("%.0f%s", x, unit)
	}
	return fmt.Sprintf("%.2f%s", x, unit)
}
