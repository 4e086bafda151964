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

// unlessEnded returns nil if the process was asked to exit, which closes its host, and
// otherwise err.
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

// newNCLPeer returns the command that runs a log peer.
func newNCLPeer() *cobra.Command {
	f := &peerFlags{memory: 64 << 20}
	c := &cobra.Command{
		Use:   "peer",
		Short: "Run a log peer, which lends memory",
		Long: `Peer lends memory to writers. Anyone who can reach its address can allocate memory, up
to --memory in total; a file takes its size and 8 bytes, and twice that during a
recovery. All of it is lost when the process exits.

It registers at the controller, with its address and the amount of memory. It frees
memory of files that no longer exist, that is, files that this controller does not know.
So writers must use the same controller. With --unlisted it does neither, and serves
writers that name it with --peer.

While it lives, its name is reserved: another peer with the same name, at another
address, exits with an error that has both addresses. A peer that restarts after a crash
is admitted at once at the same address, and otherwise when its old session has expired.

At the start it registers --memory bytes with the card once, to detect a limit on locked
memory early. It prints one line when it is ready, with its address.

Exit status: 2 bad usage, or an unusable device or address, 3 the controller does not
answer, or another peer has the name.`,
		Example: "  verbatim-run ncl peer --name peer1 --listen 10.0.0.1:7001 --coord 10.0.0.9:7000 --device mlx5_0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return ended(runNCLPeer(c, f), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	fl.StringVar(&f.host.name, "name", "", "unique `name` of this peer (required)")
	fl.StringVar(&f.host.listen, "listen", "127.0.0.1:7001", "`address` to listen on; port 0 picks a free one")
	fl.StringVar(&f.advertise, "advertise", "", "`address` to register, if different from --listen")
	fl.Var(&f.memory, "memory", "how much memory to lend; a file takes twice its size, so that a recovery finds room for its copy")
	fl.DurationVar(&f.collect, "collect-every", 10*time.Second, "how often to free memory of files that no longer exist; 0: only on 'verbatim-run ncl peers --collect'")
	fl.DurationVar(&f.wait, "wait", 30*time.Second, "how long to wait for the session of an earlier peer of this name to expire")
	fl.BoolVar(&f.unlisted, "unlisted", false, "do not register, and use no controller")
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
	context.AfterFunc(ctx, func() { // ServePeer then returns ErrClosed
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

// hold claims the name of the peer, and waits up to --wait for an earlier peer of that name.
func (f *peerFlags) hold(h host.Host, c coord.Client, addr string, lost func(error)) (*cluster.Name, error) {
	n, err := cluster.Hold(h, cluster.NameConfig{Coord: c, Name: f.host.name, Addr: addr, Wait: f.wait, Lost: lost})
	if errors.Is(err, cluster.ErrTaken) {
		err = fmt.Errorf("%w. Use another --name for one of them, or stop the other one; the name of a killed peer is reserved until its session expires, for which --wait (%v) waits", err, f.wait)
	}
	return n, err
}

// check reports invalid flags before a card is opened.
func (f *peerFlags) check() error {
	switch {
	case f.host.name == "":
		return errors.New("--name is required: the name of this peer, such as peer1")
	case f.host.name == coordName:
		return fmt.Errorf("--name %s is reserved for the coordinator: choose another one", coordName)
	case f.collect < 0:
		return fmt.Errorf("--collect-every %v: it must not be negative", f.collect)
	case f.unlisted && f.advertise != "":
		return errors.New("--advertise and --unlisted exclude each other: an unlisted peer registers no address")
	case !f.unlisted && f.advertise == "" && everywhere(f.host.listen):
		return fmt.Errorf("others cannot connect to --listen %s: pass the address to register with --advertise, such as 10.0.0.1:7001", f.host.listen)
	}
	return f.controller.check(f.host.name)
}

// everywhere reports whether the address stands for all addresses of the machine.
func everywhere(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip, bad := netip.ParseAddr(host)
	return err == nil && (host == "" || bad == nil && ip.IsUnspecified())
}

// lendable registers n bytes briefly: memory that cannot be registered now cannot be lent.
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

// announcer is a host that reports when the peer accepts its first request: by then it has
// registered.
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
