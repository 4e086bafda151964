package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// unlessEnded is nil if the process was asked to end, which closes its host, and the
// reason if there is another one.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, host.ErrClosed) {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, cluster.ErrTaken) {
		return cause
	}
	return nil
}

// peerFlags are the flags of the command peer.
type peerFlags struct {
	controller controllerFlags
	device     cardFlags
	host       hostFlags
	memory     size
	advertise  string
	collect    time.Duration
	wait       time.Duration
	unlisted   bool
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

It registers at the controller, with its address and how much it lends, and takes
back what files that are gone have left to nobody: those that this controller does
not know. So writers must have the same controller. With --unlisted it does neither,
and serves those who name it with --peer.

Its name is its own as long as it lives: another peer that comes with it, at another
address, ends with an error that has both addresses. One that starts again, after a
crash, gets in at once at the same address, and otherwise once its old session is over.

At the start it registers --memory bytes with the card once, so that a limit on
locked memory shows at once. It prints one line when it is ready, with its address.

Exit status: 2 bad usage, or a device or address that cannot be used, 3 the
controller does not answer, or another peer has the name.`,
		Example: "  verbatim-run ncl peer --name peer1 --listen 10.0.0.1:7001 --coord 10.0.0.9:7000 --device mlx5_0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return ended(runNCLPeer(c, f), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	fl.StringVar(&f.host.name, "name", "", "`name` that writers call it by, like no other peer's (required)")
	fl.StringVar(&f.host.listen, "listen", "127.0.0.1:7001", "`address` to take calls at; port 0 takes a free one")
	fl.StringVar(&f.advertise, "advertise", "", "`address` to register, if it is not that of --listen")
	fl.Var(&f.memory, "memory", "how much memory to lend")
	fl.DurationVar(&f.collect, "collect-every", 10*time.Second, "look for memory that files have left to nobody; 0: only when asked to, by 'verbatim-run ncl peers --collect'")
	fl.DurationVar(&f.wait, "wait", 30*time.Second, "how long to wait for the session of an earlier peer of this name to end")
	fl.BoolVar(&f.unlisted, "unlisted", false, "do not register, and have no controller")
	f.controller.define(fl)
	f.device.define(fl)
	f.host.define(fl)
	return c
}

func runNCLPeer(c *cobra.Command, f *peerFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	h, controller, err := f.controller.open(&f.host, &f.device, map[string]string{}, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := lendable(h, int(f.memory)); err != nil {
		return fmt.Errorf("--memory %v: %w", &f.memory, err)
	}
	named, lost := context.WithCancelCause(c.Context())
	defer lost(nil)
	var name *cluster.Name
	if !f.unlisted {
		if name, err = f.hold(h, controller, cmp.Or(f.advertise, h.Addr()), lost); err != nil {
			return f.controller.where(err)
		}
	}
	ctx := untilSignal(named)
	context.AfterFunc(ctx, func() { // ServePeer says that it is closed
		if name != nil {
			name.Close()
		}
		_ = h.Close()
	})
	ready := announcer{h, func() {
		fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s lends %v on %s\n", f.host.name, h.Addr(), &f.memory, h.Device().Attr().Name)
	}}
	cfg := ncl.PeerConfig{Memory: int(f.memory)}
	if !f.unlisted {
		cfg.Coord, cfg.CollectEvery = controller, f.collect
	}
	return f.controller.where(unlessEnded(ctx, ncl.ServePeer(ready, cfg)))
}

// hold takes the name of the peer, and waits for an earlier one as --wait says.
func (f *peerFlags) hold(h host.Host, c coord.Client, addr string, lost func(error)) (*cluster.Name, error) {
	n, err := cluster.Hold(h, cluster.NameConfig{Coord: c, Name: f.host.name, Addr: addr, Wait: f.wait, Lost: lost})
	if errors.Is(err, cluster.ErrTaken) {
		err = fmt.Errorf("%w. Give one of them another --name, or end the other one; one that was killed keeps its name until its session ends, which --wait (%v) waits for", err, f.wait)
	}
	return n, err
}

// check tells what is wrong before a card is opened.
func (f *peerFlags) check() error {
	switch {
	case f.host.name == "":
		return errors.New("--name is missing: it is what writers call this peer, such as peer1")
	case f.host.name == coordName:
		return fmt.Errorf("--name %s is the coordinator's: take another one", coordName)
	case f.collect < 0:
		return fmt.Errorf("--collect-every %v: want a time, or 0", f.collect)
	case f.unlisted && f.advertise != "":
		return errors.New("--advertise is the address to register, and --unlisted does not register: give one of them")
	case !f.unlisted && f.advertise == "" && everywhere(f.host.listen):
		return fmt.Errorf("--listen %s is no address that others can call: say with --advertise what to register, such as 10.0.0.1:7001", f.host.listen)
	}
	return f.controller.check(f.host.name)
}

// everywhere reports whether the address stands for all those of the machine.
func everywhere(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip, bad := netip.ParseAddr(host)
	return err == nil && (host == "" || bad == nil && ip.IsUnspecified())
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

// announcer is a host that tells when it takes its first request: it has registered by
// then.
type announcer struct {
	host.Host
	ready func()
}

func (a announcer) Listen(service string) (host.Listener, error) {
	l, err := a.Host.Listen(service)
	if err != nil {
		return nil, err
	}
	return &announced{Listener: l, ready: a.ready}, nil
}

type announced struct {
	host.Listener
	ready func()
}

func (a *announced) Accept(timeout time.Duration) (host.Request, error) {
	if a.ready != nil {
		a.ready()
		a.ready = nil
	}
	return a.Listener.Accept(timeout)
}
