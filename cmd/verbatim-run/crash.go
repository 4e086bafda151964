package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/splitfs/sqlite/sqlitecheck"
)

// newCrash returns the command that crashes programs in the simulator.
func newCrash() *cobra.Command {
	c := &cobra.Command{
		Use:   "crash",
		Short: "Crash a real program at many points of a workload",
		Args:  cli.NoCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCrashSQLite(), newCrashPebble())
	return c
}

// newCrashSQLite returns the command that crashes SQLite.
func newCrashSQLite() *cobra.Command {
	var cfg sqlitecheck.Config
	c := &cobra.Command{
		Use:   "sqlite",
		Short: "Crash SQLite with its log on NCL or Arcadia",
		Long: `Sqlite runs SQLite in the simulator, with its write-ahead log on log peers (or, with
--log arcadia, in persistent memory) and its database in a directory that loses unsynced
data. It repeats one workload of SQL transactions, and crashes the application at another
step each time. In some of the runs it also crashes the recovery, or crashes a peer (NCL),
or makes the power fail, which loses the content of the caches (Arcadia). Another process
then opens the database: PRAGMA integrity_check must report ok, and every committed
transaction must be present as a whole, and nothing else except possibly the transaction in
progress.

The data in flight at a crash and the data that the directory loses are drawn at random:
the test samples, and a clean result proves nothing.

Exit status: 0 nothing is lost, 1 something is lost, 2 bad usage, 3 --max-time expired.`,
		Example: "  verbatim-run crash sqlite\n  verbatim-run crash sqlite --transactions 1000 --points 0 --seed 7\n  verbatim-run crash sqlite --at 1234\n  verbatim-run crash sqlite --log arcadia",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runCrashSQLite(c, cfg) },
	}
	fl := c.Flags()
	fl.IntVar(&cfg.Transactions, "transactions", 200, "number of transactions")
	fl.IntVar(&cfg.Points, "points", 1100, "number of crash points to try, evenly spread; 0: all")
	fl.IntVar(&cfg.At, "at", 0, "try only the crash at this `step`, from a report")
	fl.Uint64Var(&cfg.Seed, "seed", 0, "seed of the random draws")
	fl.StringVar(&cfg.Log, "log", sqlitecheck.NCL, "place of SQLite's write-ahead log: ncl (log peers) or arcadia (persistent memory)")
	fl.StringVar(&cfg.Profile, "profile", "strong", "profile of the cards: a name (see 'verbatim list profiles') or a file")
	fl.IntVar(&cfg.Workers, "workers", 0, "parallel runs; 0: one for each core")
	fl.DurationVar(&cfg.MaxTime, "max-time", 0, "stop after this time; 0: no limit")
	fl.SortFlags = false
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"profile": cli.CompleteProfile})
	return c
}

func runCrashSQLite(c *cobra.Command, cfg sqlitecheck.Config) error {
	p, err := faults.FindProfile(cfg.Profile)
	if err != nil {
		return err
	}
	cfg.Profile = p.Name
	line := cli.NewSpinner(c.ErrOrStderr())
	cfg.Progress = func(done, of int) { line.Show(fmt.Sprintf("%d of %d crash points", done, of)) }
	r, err := sqlitecheck.Check(cfg)
	line.Clear()
	if err != nil {
		return err
	}
	return reportCrashes(c.OutOrStdout(), cfg, r)
}

// others describes the runs with other failures.
func others(cfg sqlitecheck.Config, r *sqlitecheck.Report) string {
	if cfg.Log == sqlitecheck.Arcadia {
		return fmt.Sprintf("%d with a power failure", r.Power)
	}
	return fmt.Sprintf("%d with a crashed peer", r.Peers)
}

// reportCrashes prints the result, and the command that reproduces a failure.
func reportCrashes(w io.Writer, cfg sqlitecheck.Config, r *sqlitecheck.Report) error {
	fmt.Fprintf(w, "sqlite: %d transactions have %d crash points; %d were tried, %d with a second crash, %s\n",
		cfg.Transactions, r.Points, r.Tried, r.Twice, others(cfg, r))
	fmt.Fprintf(w, "        profile %s, seed %d, %d events, %v\n", cfg.Profile, cfg.Seed, r.Events, r.Elapsed.Round(100*time.Millisecond))
	switch {
	case r.Err != nil:
		fmt.Fprintf(w, "VIOLATED: %v\n", r.Err)
		if r.Failed > 0 {
			fmt.Fprintf(w, "again: verbatim-run crash sqlite --log %s --transactions %d --seed %d --profile %s --at %d\n",
				cfg.Log, cfg.Transactions, cfg.Seed, cfg.Profile, r.Failed)
		}
		return cli.Status(cli.Violated)
	case r.RanOut:
		fmt.Fprintln(w, "RAN OUT: --max-time expired; nothing was lost so far")
		return cli.Status(cli.RanOut)
	}
	fmt.Fprintln(w, "CLEAN: the database is intact after each, with every committed transaction")
	return nil
}
