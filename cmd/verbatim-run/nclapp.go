package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// coordName is the name and the service of the coordinator.
const coordName = "coord"

// controllerFlags select the controller.
type controllerFlags struct {
	etcd        etcdFlags // instead of coord
	sift        siftFlags // instead of both
	coord       string
	callTimeout time.Duration
}

func (f *controllerFlags) define(fl *pflag.FlagSet) {
	fl.StringVar(&f.coord, "coord", "127.0.0.1:7000", "`address` of the coordinator")
	fl.DurationVar(&f.callTimeout, "call-timeout", 5*time.Second, "timeout for answers of a peer or the coordinator")
	f.sift.define(fl)
	f.etcd.define(fl)
}

// check reports flags that cannot be combined, before a card is opened.
func (f *controllerFlags) check(name string) error {
	if f.callTimeout <= 0 {
		return fmt.Errorf("--call-timeout %v: it must be positive", f.callTimeout)
	}
	if err := f.sift.check(name); err != nil {
		return err
	}
	return f.etcd.check(name, f.callTimeout)
}

// open opens the host. It has the addresses of the coordinator and of the hosts in
// addresses, and asks the controller for all others.
func (f *controllerFlags) open(h *hostFlags, card *cardFlags, addresses map[string]string, stderr io.Writer) (*oshost.Host, coord.Client, error) {
	var c coord.Client // set before the first request for a host
	addresses[coordName] = f.coord
	maps.Copy(addresses, f.sift.at)
	h.resolve = func(name string) (string, error) { return addressOf(c, name) }
	o, err := h.open(card, addresses, stderr)
	if err != nil {
		return nil, nil, err
	}
	if c, err = f.client(patient{o, f.callTimeout}); err != nil {
		return nil, nil, errors.Join(err, o.Close())
	}
	return o, c, nil
}

// client returns the controller.
func (f *controllerFlags) client(h host.Host) (coord.Client, error) {
	if len(f.sift.nodes) > 0 {
		return f.sift.controller(h)
	}
	return f.etcd.controller(coord.NewClient(h, coordName, coordName))
}

// where adds to err the flag that selects the controller.
func (f *controllerFlags) where(err error) error {
	switch {
	case !errors.Is(err, coord.ErrUnavailable):
		return err
	case len(f.sift.nodes) > 0:
		return fmt.Errorf("--sift: %w", err)
	case len(f.etcd.cfg.Endpoints) > 0:
		return fmt.Errorf("--etcd: %w", err)
	}
	return fmt.Errorf("--coord %s: %w", f.coord, err)
}

// addressOf returns the address of a host that no flag names.
func addressOf(c coord.Client, name string) (string, error) {
	addr, err := cluster.AddressOf(c, name)
	if errors.Is(err, coord.ErrNotFound) {
		return "", fmt.Errorf("neither the controller nor --peer has an address for %s: %w", name, err)
	}
	return addr, err
}

// start claims the application, and waits up to --wait for an earlier instance.
func (f *appFlags) start(h host.Host, cfg ncl.Config) (*cluster.Instance, error) {
	i, err := cluster.Start(h, cluster.InstanceConfig{Coord: cfg.Coord, Wait: f.wait,
		Claim: func() (cluster.Right, error) { return ncl.Start(cfg) }})
	if errors.Is(err, ncl.ErrRunning) {
		err = fmt.Errorf("%w; it did not exit within %v (--wait). The session of a killed instance takes some time to expire; another application needs a name of its own (--app)",
			err, f.wait)
	}
	return i, f.controller.where(err)
}

// fileFlags select the file; write and recover share them.
type fileFlags struct {
	appFlags
	file    string
	started func() // if not nil, called once this is the only instance
}

func (f *fileFlags) define(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "file", "", "`name` of the file (required)")
	f.appFlags.define(c)
}

// config checks the flags and opens the host. The host is closed with the process.
func (f *fileFlags) config(stderr io.Writer) (*oshost.Host, ncl.Config, error) {
	if f.file == "" {
		return nil, ncl.Config{}, errors.New("--file is required")
	}
	return f.appFlags.config(stderr)
}

// appFlags select the application and its peers.
type appFlags struct {
	device     cardFlags
	host       hostFlags
	controller controllerFlags
	peers      []string // name=address
	f          int
	wait       time.Duration
}

func (f *appFlags) define(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.host.name, "app", "app", "`name` of the application that owns the files")
	fl.IntVar(&f.f, "f", -1, "how many of the 2f+1 peers of a new file may fail; default: 1, or as many as the --peer flags allow")
	fl.StringArrayVar(&f.peers, "peer", nil, "a log peer to use, as `NAME=ADDRESS`; 2f+1 or more. Default: the peers registered at the controller")
	fl.DurationVar(&f.wait, "wait", 30*time.Second, "how long to wait for the session of an earlier instance to expire")
	f.controller.define(fl)
	f.device.define(fl)
	f.host.define(fl)
}

// config checks the flags and opens the host. The host is closed with the process.
func (f *appFlags) config(stderr io.Writer) (*oshost.Host, ncl.Config, error) {
	cfg := ncl.Config{App: f.host.name, CallTimeout: f.controller.callTimeout}
	addresses := map[string]string{}
	for _, p := range f.peers {
		name, addr, ok := strings.Cut(p, "=")
		switch {
		case !ok || name == "" || addr == "":
			return nil, cfg, fmt.Errorf("--peer %q: want NAME=ADDRESS, such as peer1=10.0.0.1:7001", p)
		case name == coordName || name == f.host.name:
			return nil, cfg, fmt.Errorf("--peer %q: the name %s is already in use; each peer needs its own", p, name)
		}
		cfg.Peers = append(cfg.Peers, name)
		addresses[name] = addr
	}
	var err error
	if cfg.F, err = f.tolerate(); err != nil {
		return nil, cfg, err
	}
	if err := f.controller.check(f.host.name); err != nil {
		return nil, cfg, err
	}
	h, c, err := f.controller.open(&f.host, &f.device, addresses, stderr)
	cfg.Coord = c
	return h, cfg, err
}

// tolerate returns f, the number of failures to tolerate.
func (f *appFlags) tolerate() (int, error) {
	n := len(f.peers)
	switch {
	case f.f < -1 || f.f > ncl.MaxF:
		return 0, fmt.Errorf("--f %d: it must be 0 to %d", f.f, ncl.MaxF)
	case f.f < 0 && n > 0 && n%2 == 0:
		return 0, fmt.Errorf("--peer was given %d times: a file needs 2f+1 peers to survive f failures, such as 3 for one; pass --f if the others are spares", n)
	case f.f < 0 && n > 0:
		return (n - 1) / 2, nil
	case f.f < 0:
		return 1, nil
	case n > 0 && n < 2*f.f+1:
		return 0, fmt.Errorf("--peer was given %d times: surviving f failures takes 2f+1 peers, %d for --f %d; without --peer the controller proposes some",
			n, 2*f.f+1, f.f)
	}
	return f.f, nil
}

// log returns the log of the process.
func (f *appFlags) log(stderr io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		fmt.Fprintf(stderr, "%s: %s\n", f.host.name, fmt.Sprintf(format, args...))
	}
}
