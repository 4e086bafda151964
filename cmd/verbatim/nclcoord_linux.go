package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// newNCLCoord is the command that runs the coordinator.
func newNCLCoord() *cobra.Command {
	f := &hostFlags{name: coordName}
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "coord",
		Short: "Run the coordinator, which knows the files",
		Long: `Coord knows which peers there are and what they lend, which files there are, which
peers hold them and in which epoch each is: the ap-map of the protocol. It needs no
card. An application that it has not heard of for --session-ttl has ended.

It is one process, and keeps all of it in memory. It outlives the crash of any
writer and of any peer. It is not replicated and writes nothing to a disk: once it
ends, nobody can recover a file that it knew, although the peers still have it.

It prints one line when it is ready, with its address.`,
		Example: "  verbatim ncl coord --listen 10.0.0.9:7000",
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
	if ttl < 4*heartbeat {
		return fmt.Errorf("--session-ttl %v: at least %v, for there is a heartbeat every %v", ttl, 4*heartbeat, heartbeat)
	}
	h, err := f.open(nil, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx := untilSignal(c)
	context.AfterFunc(ctx, func() { _ = h.Close() }) // Accept says that it is closed
	l, err := h.Listen(coordName)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s\n", f.name, h.Addr())
	return unlessEnded(ctx, coordinate(h, l, ttl))
}

// coordinate answers requests, and ends sessions, until the host is closed.
func coordinate(h host.Host, l host.Listener, ttl time.Duration) error {
	const ticks = 10
	k := coord.Keeper{Ticks: ticks}
	next := h.Now() + ttl/ticks
	for {
		r, err := l.Accept(max(next-h.Now(), 0))
		switch {
		case err == nil:
			r.Reply(k.Apply(r.From(), r.Body()))
		case !errors.Is(err, host.ErrTimeout):
			return err
		}
		if h.Now() < next {
			continue
		}
		for _, s := range k.Tick() {
			h.Logf("session %d of %s is over", s.ID, s.Host)
		}
		next = h.Now() + ttl/ticks
	}
}
