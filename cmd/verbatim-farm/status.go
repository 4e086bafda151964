package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/farm"
)

func newStatus() *cobra.Command {
	f, asJSON := &memberFlags{}, false
	c := &cobra.Command{
		Use:   "status",
		Short: "List the workers of a farm",
		Long: `Status lists the workers that are alive: their names, their builds and source trees (hashes),
their cores, how many jobs they have done, and what they are doing.

--json prints one object per line with the keys name, build, tree, cores, done and doing.

Exit status: 0 done, 2 bad usage, 3 the server cannot be reached.`,
		Example: `  verbatim-farm status --join nats://10.0.0.1:4222`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := farm.Workers(c.Context(), f.Config)
			if err != nil {
				return status(err, c.ErrOrStderr())
			}
			t := cli.NewTable(cli.Row{"worker", "build", "source tree", "cores", "done", "doing"})
			for i := range all {
				x := &all[i]
				if asJSON {
					if err := cli.Lines(c.OutOrStdout()).Encode(x); err != nil {
						return err
					}
				}
				t.AppendRow(cli.Row{x.Name, x.Build, x.Tree, x.Cores, x.Done, strings.Join(x.Doing, " ")})
			}
			switch {
			case asJSON:
				return nil
			case len(all) == 0:
				_, err = fmt.Fprintln(c.OutOrStdout(), "no workers")
				return err
			}
			return t.Render(c.OutOrStdout())
		},
	}
	f.define(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	cobra.CheckErr(c.MarkFlagRequired("join"))
	return c
}
