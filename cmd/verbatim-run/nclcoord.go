package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
)

// newNCLCoord is the command that runs the coordinator.
func newNCLCoord() *cobra.Command {
	f := &hostFlags{name: coordName, conns: 1 << 14} // each process keeps one, for its heartbeats
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "coord",
		Short: "Run the coordinator, which knows the files",
		Long: `Coord knows which peers there are and what they lend, which files there are, which
peers hold them and in which epoch each is: the ap-map of the protocol. It needs no
card. An application that it has not heard of for --session-ttl has ended. The others
learn this time from it, and let it hear of them often enough. A short one lets the next
instance begin soon after a crash; but a process that stands still for so long, because
its machine is busy, is taken for dead.

It is one process, and keeps all of it in memory. It outlives the crash of any
writer and of any peer. It is not replicated and writes nothing to a disk. While it
is gone, writers that have their file go on, and what needs it fails: new files,
recoveries, peers in the place of failed ones. One that is started again knows nothing
of before: files that the one before knew cannot be recovered, and peers take back their
memory (--collect-every); writers and mounts find that their session is over, and write
no more; peers must be started again to be found. For more, take an etcd cluster: --etcd.

It prints one line when it is ready, with its address.`,
		Example: "  verbatim-run ncl coord --listen 10.0.0.9:7000",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runNCLCoord(c, f, ttl) },
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7000", "`address` to take calls at; port 0 takes a free one")
	c.Flags().DurationVar(&ttl, "session-ttl", 10*time.Second, "how long a session outlives its process")
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
	context.AfterFunc(ctx, func() { _ = h.Close() }) // Accept says that it is closed
	l, err := h.Listen(coordName)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s\n", f.name, h.Addr())
	// Numbers of sessions grow with the time, as long as nobody sets the clock back.
	return unlessEnded(ctx, cluster.Serve(h, l, cluster.ServeConfig{TTL: ttl, After: coord.Session(time.Now().UnixNano())}))
}

func checkTTL(ttl time.Duration) error {
	if ttl < cluster.LeastTTL {
		return fmt.Errorf("--session-ttl %v: at least %v; of a shorter session a busy machine would miss the heartbeats, and end it under a process that lives",
			ttl, cluster.LeastTTL)
	}
	return nil
}
