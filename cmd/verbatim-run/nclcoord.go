package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
)

// newNCLCoord returns the command that runs the coordinator.
func newNCLCoord() *cobra.Command {
	f := &hostFlags{name: coordName, conns: 1 << 14} // each process keeps a connection, for its heartbeats
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "coord",
		Short: "Run the coordinator, which keeps track of files and peers",
		Long: `Coord keeps track of peers and the memory they offer, of files, and of the peers and the
epoch of each file: the ap-map of the protocol. It needs no card. The session of an
application expires if it sends no heartbeat for --session-ttl. The other processes
learn this time from the coordinator, and send heartbeats often enough. With a short
time the next instance can start soon after a crash, but a process that stalls for so
long, for example on a busy machine, counts as dead.

The coordinator is a single process that keeps everything in memory. It survives the
crash of any writer and of any peer. It is not replicated and writes nothing to disk.
While it is down, writers that have their file continue; everything that needs it fails:
new files, recoveries, replacements of failed peers. A restarted coordinator is empty:
files of the previous one cannot be recovered, and peers free their memory
(--collect-every); writers and mounts find their session expired, and stop writing;
peers must be restarted to be found. To avoid this, use an etcd cluster: --etcd.

It prints one line when it is ready, with its address.`,
		Example: "  verbatim-run ncl coord --listen 10.0.0.9:7000",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runNCLCoord(c, f, ttl) },
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7000", "`address` to listen on; port 0 picks a free one")
	c.Flags().DurationVar(&ttl, "session-ttl", 10*time.Second, "how long a session lives without a heartbeat")
	f.define(c.Flags())
	return c
}

func runNCLCoord(c *cobra.Command, f *hostFlags, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	h, err := f.open(nil, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx := untilSignal(c.Context())
	context.AfterFunc(ctx, func() { _ = h.Close() }) // Accept then returns ErrClosed
	l, err := h.Listen(coordName)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s\n", f.name, h.Addr())
	// Numbers of sessions increase with the time, unless the clock is set back.
	return unlessEnded(ctx, cluster.Serve(h, l, cluster.ServeConfig{TTL: ttl, After: coord.Session(time.Now().UnixNano())}))
}

func checkTTL(ttl time.Duration) error {
	if ttl < cluster.LeastTTL {
		return fmt.Errorf("--session-ttl %v: it must be at least %v; on a busy machine a shorter session could expire while its process is alive",
			ttl, cluster.LeastTTL)
	}
	return nil
}
