package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog/pebblecheck"
)

// newCrashPebble returns the command that crashes Pebble.
func newCrashPebble() *cobra.Command {
	var cfg pebblecheck.Config
	c := &cobra.Command{
		Use:   "pebble",
		Short: "Crash Pebble with its log on Arcadia",
		Long: `Pebble runs Pebble with its log on Arcadia, in persistent memory: with --way record an Arcadia
log replaces Pebble's own log; with --way file Pebble's own log is a file in a split file
system. While writers run, it copies the memory and the directory, as a failure of the process
or the power would leave them, and opens a database on the copies. The database must hold every
forced batch and, of each writer, a prefix of the batches, each of them whole. With --frequency F
and --writers T at most F*T acknowledged batches may be missing. The command then writes to the
copy, and crashes it again.

The command does not control Pebble's goroutines: a clean result proves nothing, and the same
seed may not reproduce a failure.

Exit status: 0 nothing is lost, 1 something is lost, 2 bad usage.`,
		Example: "  verbatim-run crash pebble\n  verbatim-run crash pebble --way file --points 500\n  verbatim-run crash pebble --writers 4 --frequency 16",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runCrashPebble(c, cfg) },
	}
	fl := c.Flags()
	fl.StringVar(&cfg.Way, "way", pebblecheck.Record, "how Pebble keeps its log on Arcadia: record (an Arcadia log in place of its own) or file (its own log, in a file)")
	fl.IntVar(&cfg.Points, "points", 1100, "number of crashes to try")
	fl.IntVar(&cfg.Writers, "writers", 2, "number of concurrent writers")
	fl.IntVar(&cfg.Frequency, "frequency", 1, "force only the records whose LSN is a multiple of this")
	fl.Uint64Var(&cfg.Seed, "seed", 0, "seed of the random draws")
	fl.SortFlags = false
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"way": cobra.FixedCompletions([]string{pebblecheck.Record, pebblecheck.File}, cobra.ShellCompDirectiveNoFileComp)})
	return c
}

func runCrashPebble(c *cobra.Command, cfg pebblecheck.Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	line := cli.NewSpinner(c.ErrOrStderr())
	cfg.Progress = func(done int) { line.Show(fmt.Sprintf("%d of %d crashes", done, cfg.Points)) }
	r, err := pebblecheck.Check(cfg)
	line.Clear()
	if err != nil {
		return err
	}
	return reportPebble(c.OutOrStdout(), r)
}

// reportPebble prints the result.
func reportPebble(w io.Writer, r *pebblecheck.Report) error {
	fmt.Fprintf(w, "pebble: %d crashes, %d of them power failures, each with a second crash after the recovery; %d batches, %v\n", r.Crashes, r.Power, r.Batches, r.Elapsed.Round(100*time.Millisecond))
	fmt.Fprintf(w, "        at most %d acknowledged batches were missing; %d recoveries replayed records, %d found tables, %d found tables ahead of the log\n",
		r.MostLost, r.Replayed, r.Tables, r.Behind)
	if r.Err != nil {
		fmt.Fprintf(w, "VIOLATED: %v\n", r.Err)
		return cli.Status(cli.Violated)
	}
	fmt.Fprintln(w, "CLEAN: after each crash the database holds every forced batch, and only whole batches")
	return nil
}
