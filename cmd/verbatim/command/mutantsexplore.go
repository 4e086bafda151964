package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
)

// checkerResult is the line of `verbatim mutants explore --json` for one mutant.
type checkerResult struct {
	Mutant    string   `json:"mutant"`
	Title     string   `json:"title"`
	Rule      string   `json:"rule"`
	Result    string   `json:"result"`
	Caught    bool     `json:"caught"`
	Yardstick string   `json:"yardstick"`
	On        string   `json:"on"`
	Class     *string  `json:"class"`
	Found     []string `json:"found"`
	What      *string  `json:"what"`
	Seconds   float64  `json:"seconds"`
	Error     *string  `json:"error"`
}

func newCheckerResult(x *mutant.CheckerResult) checkerResult {
	out := checkerResult{Mutant: x.Name, Title: x.Title, Rule: x.Rule, Result: x.Verdict(), Caught: x.Caught, Yardstick: x.Yardstick, On: x.On,
		Class: cli.OrNull(x.Class), Found: append([]string{}, x.Found...), What: cli.OrNull(x.What), Seconds: x.Seconds}
	if x.Err != nil {
		out.Error = cli.OrNull(x.Err.Error())
	}
	return out
}

// runCheckerMutants runs the mutants of the checker and prints the yardstick that caught each.
func runCheckerMutants(c *cobra.Command, f *mutantFlags) error {
	for _, name := range []string{"out", "workers", "max-time", "sqlite", "timers"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s is for the mutants of a protocol: those of the checker are caught by yardsticks, not by searches", name)
		}
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	var printing error
	results, err := mutant.RunExplore(ctx, f.opt, func(x mutant.CheckerResult) {
		if f.asJSON {
			if err := cli.Lines(stdout).Encode(newCheckerResult(&x)); err != nil {
				printing = err
			}
		} else if cli.IsTerminal(stderr) {
			fmt.Fprintf(stderr, "%s: %s after %.0f s\n", x.Name, x.Verdict(), x.Seconds)
		}
	})
	if !f.asJSON && len(results) > 0 {
		printing = checkerTable(stdout, results)
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
	return checkerStatus(results).Err()
}

// checkerStatus returns the exit status for results.
func checkerStatus(results []mutant.CheckerResult) cli.Status {
	code := cli.OK
	for i := range results {
		switch {
		case results[i].Err != nil:
			code = cli.Worse(code, cli.Bad)
		case !results[i].Caught:
			code = cli.Worse(code, cli.Violated)
		}
	}
	return cli.Status(code)
}

// checkerTable prints the results as a table.
func checkerTable(w io.Writer, results []mutant.CheckerResult) error {
	t := cli.NewTable(cli.Row{"mutant", "rule", "result", "caught by", "on"}).Wrapped(26, 18, 14, 50, 56)
	var missed []string
	for i := range results {
		x := &results[i]
		by := x.Yardstick
		switch {
		case x.Caught:
			by = strings.TrimSuffix(by+": "+x.Class, ": ")
		case len(x.Found) > 0:
			by += ": " + strings.Join(x.Found, ", ")
		}
		if !x.Caught {
			missed = append(missed, x.Name)
		}
		t.AppendRow(cli.Row{x.Name, x.Rule, x.Verdict(), by, x.On})
	}
	if err := t.Render(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, caughtOf("mutants of the checker", len(results), missed))
	return err
}
