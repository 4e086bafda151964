package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/logsoak"
)

// newArcadiaSoak returns the command that kills the processes of Arcadia.
func newArcadiaSoak() *cobra.Command {
	var cfg logsoak.Config
	c := &cobra.Command{
		Use:   "soak",
		Short: "Kill primaries and backups, and check that no forced record is lost",
		Long: `Soak runs a log with two backups over TCP, as processes on this machine. In each round it
kills the primary with SIGKILL while the primary writes, and sometimes a backup before that.
If no backup was killed, it sometimes deletes the primary's persistent memory. Then it
recovers the log, which must hold every forced record, in order, and no other data.

Exit status: 0 nothing is lost, 1 something is lost, 2 bad usage, or a process is stuck.`,
		Example: "  verbatim-run arcadia soak --rounds 100 --seed 7",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if cfg.Program, err = os.Executable(); err != nil {
				return err
			}
			if cfg.Dir, err = os.MkdirTemp("", "verbatim-soak"); err != nil {
				return err
			}
			cfg.Progress = func(line string) { fmt.Fprintln(c.OutOrStdout(), line) }
			r, err := logsoak.Run(untilSignal(c.Context()), cfg)
			if err != nil {
				return fmt.Errorf("%w; the logs of the processes are in %s", err, cfg.Dir)
			}
			if err := os.RemoveAll(cfg.Dir); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "soak: %d rounds, %d records acknowledged, %d backups killed, %d copies of the primary lost, at most %d acknowledged records missing\n",
				r.Rounds, r.Acked, r.Backups, r.Lost, r.Missing)
			if r.Err != nil {
				fmt.Fprintf(c.OutOrStdout(), "VIOLATED: %v\n", r.Err)
				return cli.Status(cli.Violated)
			}
			fmt.Fprintln(c.OutOrStdout(), "CLEAN: every recovery found all forced records")
			return nil
		},
	}
	fl := c.Flags()
	fl.IntVar(&cfg.Rounds, "rounds", 20, "number of kills of the primary")
	fl.IntVar(&cfg.Frequency, "frequency", 1, "force only the records whose LSN is a multiple of this; fewer acknowledged records than this may be missing")
	fl.Uint64Var(&cfg.Seed, "seed", 0, "seed of the random draws; the scheduling of the processes remains random")
	fl.DurationVar(&cfg.Patience, "patience", 30*time.Second, "time after which a process counts as stuck")
	fl.SortFlags = false
	return c
}
