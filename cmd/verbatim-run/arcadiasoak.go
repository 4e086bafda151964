package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/logsoak"
)

// newArcadiaSoak is the command that kills the processes of Arcadia.
func newArcadiaSoak() *cobra.Command {
	var cfg logsoak.Config
	c := &cobra.Command{
		Use:   "soak",
		Short: "Kill primaries and backups, and look for what was forced",
		Long: `Soak runs a log with two backups, all processes of this machine, over TCP. In each round it
kills the primary with SIGKILL in the middle of its writes, and before that perhaps a
backup; sometimes the primary's persistent memory is lost with it. Then the log is recovered:
every forced record must be there, in order, and nothing that was not written.

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
				return fmt.Errorf("%w; what the processes said is in %s", err, cfg.Dir)
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
			fmt.Fprintln(c.OutOrStdout(), "CLEAN: every forced record was there after each")
			return nil
		},
	}
	fl := c.Flags()
	fl.IntVar(&cfg.Rounds, "rounds", 20, "how many times to kill the primary")
	fl.IntVar(&cfg.Frequency, "frequency", 1, "force the records whose LSN it divides; fewer acknowledged ones than that may be missing")
	fl.Uint64Var(&cfg.Seed, "seed", 0, "seed of what is random; the machine decides what the processes do meanwhile")
	fl.DurationVar(&cfg.Patience, "patience", 30*time.Second, "how long a process may take before it counts as stuck")
	fl.SortFlags = false
	return c
}
