package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// newNCLCoord is the command that runs the coordinator.
func newNCLCoord() *cobra.Command {
	f := &hostFlags{name: coordName}
	c := &cobra.Command{
		Use:   "coord",
		Short: "Run the coordinator, which knows the files",
		Long: `Coord knows which files there are, which peers hold them and in which epoch each
is: the ap-map of the protocol. It needs no card.

It is one process, and keeps all of it in memory. It outlives the crash of any
writer and of any peer. It is not replicated and writes nothing to a disk: once it
ends, nobody can recover a file that it knew, although the peers still have it. It
does not keep two writers of an application apart either.

It prints one line when it is ready, with its address.`,
		Example: "  verbatim ncl coord --listen 10.0.0.9:7000",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runNCLCoord(c, f) },
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7000", "`address` to take calls at; port 0 takes a free one")
	f.define(c.Flags())
	return c
}

func runNCLCoord(c *cobra.Command, f *hostFlags) error {
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
	var store coord.Store
	for {
		r, err := l.Accept(verbs.Forever)
		if err != nil {
			return unlessEnded(ctx, err)
		}
		r.Reply(store.Apply(r.From(), r.Body()))
	}
}

// unlessEnded is nil if the process was asked to end, which closes its host.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, host.ErrClosed) {
		return nil
	}
	return err
}

// peerFlags are the flags of the command peer.
type peerFlags struct {
	device cardFlags
	host   hostFlags
	memory size
}

// newNCLPeer is the command that runs a log peer.
func newNCLPeer() *cobra.Command {
	f := &peerFlags{memory: 64 << 20}
	c := &cobra.Command{
		Use:   "peer",
		Short: "Run a log peer, which lends memory",
		Long: `Peer lends memory to writers. Whoever can call it at its address can have memory,
up to --memory in all; a file takes its size and 8 bytes, and twice that while it
is being recovered. All of it is lost when the process ends.

At the start it registers --memory bytes once, so that a limit on locked memory
shows at once. It prints one line when it is ready, with its address.`,
		Example: "  verbatim ncl peer --name peer1 --listen 10.0.0.1:7001 --device mlx5_0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runNCLPeer(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.host.name, "name", "", "`name` that writers call it by (required)")
	fl.StringVar(&f.host.listen, "listen", "127.0.0.1:7001", "`address` to take calls at; port 0 takes a free one")
	fl.Var(&f.memory, "memory", "how much memory to lend")
	f.device.define(fl)
	f.host.define(fl)
	return c
}

func runNCLPeer(c *cobra.Command, f *peerFlags) error {
	if f.host.name == "" {
		return errors.New("--name is missing: it is what writers call this peer, such as peer1")
	}
	h, err := f.host.open(&f.device, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := lendable(h, int(f.memory)); err != nil {
		return fmt.Errorf("--memory %v: %w", &f.memory, err)
	}
	ctx := untilSignal(c)
	context.AfterFunc(ctx, func() { _ = h.Close() }) // ServePeer says that it is closed
	ready := announcer{h, func() {
		fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s lends %v on %s\n", f.host.name, h.Addr(), &f.memory, h.Device().Attr().Name)
	}}
	return unlessEnded(ctx, ncl.ServePeer(ready, ncl.PeerConfig{Memory: int(f.memory)}))
}

// lendable registers n bytes for a moment: what cannot be registered now cannot be lent.
func lendable(h host.Host, n int) error {
	r, err := h.Alloc(n)
	if err != nil {
		return err
	}
	pd, err := h.Device().AllocPD()
	if err == nil {
		var mr verbs.MR
		if mr, err = pd.RegisterMR(r, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead); err == nil {
			err = mr.Dereg()
		}
		err = errors.Join(err, pd.Dealloc())
	}
	return errors.Join(err, r.Free())
}

// announcer is a host that tells when it listens.
type announcer struct {
	host.Host
	listening func()
}

func (a announcer) Listen(service string) (host.Listener, error) {
	l, err := a.Host.Listen(service)
	if err == nil {
		a.listening()
	}
	return l, err
}
