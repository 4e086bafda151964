package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// newNCL returns the command that runs NCL instead of checking it.
func newNCL() *cobra.Command {
	c := &cobra.Command{
		Use:   "ncl",
		Short: "Run NCL as processes on RDMA cards, or over TCP",
		Long: `Ncl runs the near-compute log, the protocol that 'verbatim check ncl' checks, as
processes on RDMA cards, on Soft-RoCE, or over TCP without either: log peers lend memory, a coordinator
keeps track of peers and files, and a writer keeps a log of records in the
memory of 2f+1 peers, of which f may fail and are then replaced by others.

The processes communicate over HTTP, which is not protected unless all of them have
--tls-cert, --tls-key and --tls-ca. Data goes through the cards, always unencrypted.
docs/ncl-run.md has a walk-through.

A program without the build tag rdma opens no card, and takes --device soft: verbs
in software over TCP, for testing, on Linux and macOS. So does one that
finds no card. All processes of a file must have the same kind.

Exit status: 0 done, 1 acknowledged records are lost (soak), 2 bad usage or input, an
unusable device or address, or a file that does not exist or exists already, 3 too few
peers answer, the coordinator does not answer, another instance runs, or the session has
expired: unacknowledged records may be lost.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newNCLCoord(), newNCLPeer(), newNCLPeers(), newNCLWrite(), newNCLRecover(), newNCLMount(), newNCLSoak())
	return c
}

// ended turns the error of a command into an exit status: 3 for
// errors after which a later attempt may succeed, and 2 for the rest.
func ended(err error, stderr io.Writer) error {
	for _, e := range []error{ncl.ErrUnavailable, ncl.ErrTooFew, ncl.ErrStale, ncl.ErrRunning, coord.ErrUnavailable, coord.ErrSessionExpired, cluster.ErrTaken} {
		if errors.Is(err, e) {
			fmt.Fprintf(stderr, "verbatim-run: %v\n", err)
			return cli.Status(cli.RanOut)
		}
	}
	return err
}

// untilSignal returns a context that is done with its parent or at the first SIGINT or SIGTERM. The second
// signal terminates the program.
func untilSignal(parent context.Context) context.Context {
	ctx, stop := signal.NotifyContext(parent, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
