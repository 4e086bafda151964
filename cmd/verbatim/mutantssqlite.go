package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/mutant"
)

// sqliteMutant is what --json prints for one mutant of --sqlite.
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
	if err := checkLimits(f.opt.Workers, f.opt.MaxTime); err != nil {
		return err
	}
	if f.opt.Protocol != "ncl" || f.opt.Out != "" || f.opt.Timers != "" {
		return fmt.Errorf("--sqlite is for ncl, and makes no searches: leave out --out and --timers")
	}
	ctx, stop := interruptible(c)
	defer stop()
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	t := newTable(table.Row{"mutant", "result", "points", "lost"}, 26, 12, 9, 80)
	t.Style().Options.SeparateRows = false
	code, all, caught := exitOK, 0, 0
	var printing error
	err := mutant.RunSQLite(ctx, f.opt, func(x mutant.Crash) {
		all++
		switch {
		case x.Err != nil:
			fmt.Fprintf(stderr, "verbatim: %v\n", x.Err)
			code = worse(code, exitBad)
		case x.Caught:
			caught++
		default:
			code = worse(code, exitViolated)
		}
		t.AppendRow(table.Row{x.Name, x.Verdict(), x.Tried, x.Said})
		if f.asJSON {
			failed := ""
			if x.Err != nil {
				failed = x.Err.Error()
			}
			printing = lines(stdout).Encode(sqliteMutant{x.Name, x.Title, x.Verdict(), x.Caught, x.Tried, orNull(x.Said), x.Seconds, orNull(failed)})
		}
	})
	switch {
	case err != nil:
		return err
	case printing != nil:
		return printing
	}
	if !f.asJSON {
		if err := render(t, stdout, false); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\n%d of %d mutants are caught by the crash test of SQLite\n", caught, all)
	}
	return status(code).asError()
}
