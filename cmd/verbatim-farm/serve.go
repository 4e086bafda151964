package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/farm"
)

func newServe() *cobra.Command {
	cfg := farm.ServerConfig{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the server at which clients and workers meet",
		Long: `Serve runs a server of NATS with JetStream until Ctrl-C. What waits is kept in --store, so
a server that starts again with the same folder continues.

Without --config everybody who reaches the address can run commands on the workers, which
is why the default address is of this machine only. A configuration of nats-server sets
users, passwords, TLS and clusters.

Exit status: 0 stopped, 2 bad usage, or the address or the folder cannot be used.`,
		Example: `  verbatim-farm serve --store /var/lib/farm --listen 10.0.0.1:4222 --config nats.conf`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := cli.Interruptible(c)
			defer stop()
			s, err := farm.Serve(cfg)
			if err != nil {
				return err
			}
			defer s.Close()
			if _, err := fmt.Fprintf(c.OutOrStdout(), "serving on %s\n", s.URL()); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&cfg.Listen, "listen", "127.0.0.1:4222", "`address` for clients and workers; port 0: any free one")
	fl.StringVar(&cfg.Store, "store", "", "the `folder` for what waits (required)")
	fl.StringVar(&cfg.File, "config", "", "a `file` with the configuration of nats-server; --listen and --store take precedence")
	cobra.CheckErr(c.MarkFlagRequired("store"))
	return c
}
