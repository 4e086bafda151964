package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/farm"
)

func newWork() *cobra.Command {
	f, name := &memberFlags{}, ""
	c := &cobra.Command{
		Use:   "work",
		Short: "Run jobs of a farm",
		Long: `Work runs jobs, one at a time, until Ctrl-C; the current job is then run by another worker.
A job uses all cores unless the client gave --workers, so one worker per machine is usual.

A worker gets only jobs of the same program, compared by a hash of its file. Builds on
different machines are the same with 'go build -trimpath' and one version of Go. Mutants
are built from the source tree, so they go to workers with the same tree.

Exit status: 0 stopped, 2 bad usage, 3 the server cannot be reached.`,
		Example: `  verbatim-farm work --join nats://10.0.0.1:4222 --program ./verbatim`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.fill(); err != nil {
				return err
			}
			ctx, stop := cli.Interruptible(c)
			defer stop()
			log := func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...) }
			return status(farm.Work(ctx, farm.WorkerConfig{Config: f.Config, Name: name, Program: f.program, Dir: f.dir, Logf: log}), c.ErrOrStderr())
		},
	}
	f.define(c.Flags())
	f.defineProgram(c.Flags())
	c.Flags().StringVar(&name, "name", "", "our `name` in the list of workers; default: the machine's, and the number of the process")
	cobra.CheckErr(c.MarkFlagRequired("join"))
	return c
}
