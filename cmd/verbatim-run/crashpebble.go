package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblelog/pebblecheck"
)

// newCrashPebble is the command that crashes Pebble.
func newCrashPebble() *cobra.Command {
	var cfg pebblecheck.Config
	c := &cobra.Command{
		Use:   "pebble",
		Short: "Crash Pebble with its log on Arcadia",
		Long: `Pebble runs Pebble with its log in persistent memory, on Arcadia: with --way record in place
of its own log, with --way file as a file of a split file system. While writers are at work it
copies the memory and the directory as a failure of the process or the power leaves them, and
opens the copy: every batch that was forced must be there, of each writer the first batches,
whole, and with --frequency F and --writers T at most F*T of those that were acknowledged may be
missing. The copy is then used, and crashes again.

Pebble has goroutines, which this does not control: a clean result proves nothing, and a failure
may not come again with the same seed.

Exit status: 0 nothing is lost, 1 something is lost, 2 bad usage.`,
		Example: "  verbatim-run crash pebble\n  verbatim-run crash pebble --way file --points 500\n  verbatim-run crash pebble --writers 4 --frequency 16",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runCrashPebble(c, cfg) },
	}
	fl := c.Flags()
	fl.StringVar(&cfg.Way, "way", pebblecheck.Record, "how Pebble has its log on Arcadia: record or file")
	fl.IntVar(&cfg.Points, "points", 1100, "number of crashes to try")
	fl.IntVar(&cfg.Writers, "writers", 2, "number of writers at a time")
	fl.IntVar(&cfg.Frequency, "frequency", 1, "force the records whose LSN it divides")
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
	fmt.Fprintf(w, "pebble: %d crashes, %d of them with a power failure, and each once more after the recovery; %d batches, %v\n", r.Crashes, r.Power, r.Batches, r.Elapsed.Round(100*time.Millisecond))
	fmt.Fprintf(w, "        at most %d acknowledged batches are missing; of the recoveries %d replayed records, %d found tables, %d found tables ahead of the log\n",
		r.MostLost, r.Replayed, r.Tables, r.Behind)
	if r.Err != nil {
		fmt.Fprintf(w, "VIOLATED: %v\n", r.Err)
		return cli.Status(cli.Violated)
	}
	fmt.Fprintln(w, "CLEAN: the database holds what was forced after each, and whole batches")
	return nil
}
