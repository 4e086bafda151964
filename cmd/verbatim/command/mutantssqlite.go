package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
)

// sqliteMutant is the line of --json for one mutant of --sqlite.
type sqliteMutant struct {
	Mutant  string  `json:"mutant"`
	Title   string  `json:"title"`
	Result  string  `json:"result"`
	Caught  bool    `json:"caught"`
	Points  string  `json:"points"`
	Lost    *string `json:"lost"`
	Seconds float64 `json:"seconds"`
	Error   *string `json:"error"`
}

// runSQLiteMutants crashes SQLite with its log on mutants of NCL.
func runSQLiteMutants(c *cobra.Command, f *mutantFlags) error {
	if err := CheckLimits(f.opt.Workers, f.opt.MaxTime); err != nil {
		return err
	}
	if f.opt.Protocol != "ncl" || f.opt.Out != "" || f.opt.Timers != "" {
		return fmt.Errorf("--sqlite is for ncl, and makes no searches: omit --out and --timers")
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	t := cli.NewTable(cli.Row{"mutant", "result", "points", "lost"}).Wrapped(26, 12, 9, 80)
	code, all, caught := cli.OK, 0, 0
	var printing error
	err := mutant.RunSQLite(ctx, f.opt, func(x mutant.Crash) {
		all++
		switch {
		case x.Err != nil:
			remark(stderr, "%v", x.Err)
			code = cli.Worse(code, cli.Bad)
		case x.Caught:
			caught++
		default:
			code = cli.Worse(code, cli.Violated)
		}
		t.AppendRow(cli.Row{x.Name, x.Verdict(), x.Tried, x.Said})
		if f.asJSON {
			failed := ""
			if x.Err != nil {
				failed = x.Err.Error()
			}
			printing = cli.Lines(stdout).Encode(sqliteMutant{x.Name, x.Title, x.Verdict(), x.Caught, x.Tried, cli.OrNull(x.Said), x.Seconds, cli.OrNull(failed)})
		}
	})
	switch {
	case err != nil:
		return err
	case printing != nil:
		return printing
	}
	if !f.asJSON {
		if err := t.Render(stdout); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\n%d of %d mutants are caught by the crash test of SQLite\n", caught, all)
	}
	return cli.Status(code).Err()
}
