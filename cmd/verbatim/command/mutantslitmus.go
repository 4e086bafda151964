package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
)

// ruleResult is the line of `verbatim mutants litmus --json` for one mutant.
type ruleResult struct {
	Mutant    string   `json:"mutant"`
	Title     string   `json:"title"`
	Rule      string   `json:"rule"`
	Result    string   `json:"result"`
	Caught    bool     `json:"caught"`
	Tests     []string `json:"tests"`
	Wanted    *string  `json:"wanted"`
	Test      *string  `json:"test"`
	Profile   *string  `json:"profile"`
	Condition *string  `json:"condition"`
	Expected  *string  `json:"expected"`
	Got       *string  `json:"got"`
	Wrong     int      `json:"wrong"`
	Seconds   float64  `json:"seconds"`
	Error     *string  `json:"error"`
}

func newRuleResult(x *mutant.RuleResult) ruleResult {
	out := ruleResult{Mutant: x.Name, Title: x.Title, Rule: x.Rule, Result: x.Verdict(), Caught: x.Caught,
		Tests: append([]string{}, x.Tests...), Wanted: cli.OrNull(x.Wanted), Test: cli.OrNull(x.Test), Profile: cli.OrNull(x.Profile), Condition: cli.OrNull(x.Condition),
		Expected: cli.OrNull(x.Expected), Got: cli.OrNull(x.Got), Wrong: x.Wrong, Seconds: x.Seconds}
	if x.Err != nil {
		out.Error = cli.OrNull(x.Err.Error())
	}
	return out
}

// runRuleMutants runs the mutants of the simulator and prints the test that caught each.
func runRuleMutants(c *cobra.Command, f *mutantFlags) error {
	for _, name := range []string{"out", "workers", "max-time", "sqlite", "timers"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s is for the mutants of a protocol: those of the simulator are caught by litmus tests, not by searches", name)
		}
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	var printing error
	results, err := mutant.RunLitmus(ctx, f.opt, func(x mutant.RuleResult) {
		if f.asJSON {
			if err := cli.Lines(stdout).Encode(newRuleResult(&x)); err != nil {
				printing = err
			}
		} else if cli.IsTerminal(stderr) {
			fmt.Fprintf(stderr, "%s: %s after %.0f s\n", x.Name, x.Verdict(), x.Seconds)
		}
	})
	if !f.asJSON && len(results) > 0 {
		printing = ruleTable(stdout, results)
	}
	code := cli.OK
	for i := range results {
		switch x := &results[i]; {
		case x.Err != nil:
			remark(stderr, "%v", x.Err)
			code = cli.Worse(code, cli.Bad)
		case !x.Caught:
			code = cli.Worse(code, cli.Violated)
		}
	}
	switch {
	case err != nil:
		return err
	case printing != nil:
		return printing
	}
	return cli.Status(code).Err()
}

// ruleTable prints the results as a table.
func ruleTable(w io.Writer, results []mutant.RuleResult) error {
	t := cli.NewTable(cli.Row{"mutant", "result", "test", "profile", "outcome", "expected", "got"}).Wrapped(34, 12, 34, 18, 40, 8, 6)
	var missed []string
	for i := range results {
		x := &results[i]
		row := cli.Row{x.Name, x.Verdict()}
		if x.Caught {
			row = append(row, x.Test, x.Profile, x.Condition, x.Expected, x.Got)
		} else {
			missed = append(missed, x.Name)
		}
		t.AppendRow(row)
	}
	if err := t.Render(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, caughtOf("mutants of the simulator", len(results), missed))
	return err
}
