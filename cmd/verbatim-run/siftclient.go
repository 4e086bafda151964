package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// siftClientFlags are the flags of a client.
type siftClientFlags struct {
	store   storeFlags
	device  cardFlags
	host    hostFlags
	cpus    []string
	wait    time.Duration
	timeout time.Duration
}

func (f *siftClientFlags) define(c *cobra.Command) {
	fl := c.Flags()
	f.host.name = "client"
	fl.StringArrayVar(&f.cpus, "cpu", nil, "CPU node, as `NAME=ADDRESS`; may be repeated (required)")
	fl.DurationVar(&f.wait, "wait", 10*time.Second, "how long to search for the CPU node that leads")
	fl.DurationVar(&f.timeout, "timeout", time.Second, "timeout for an attempt to connect, and for a probe of the server")
	fl.StringVar(&f.host.name, "name", f.host.name, "our `name` in certificates")
	f.store.defineLimits(fl)
	f.device.define(fl)
	f.host.define(fl)
	fl.SortFlags = false
}

// siftPause is the pause between two searches for the CPU node that leads.
const siftPause = 50 * time.Millisecond

// open opens the host of clients. It is closed when the process exits.
func (f *siftClientFlags) open(stderr io.Writer) (*oshost.Host, kv.ClientConfig, error) {
	f.store.cfg.Index, f.store.cfg.Blocks, f.store.cfg.Log, f.store.cfg.Cache = 1, 1, 1, 1 // a client needs none of them
	cfg := kv.ClientConfig{Store: f.store.cfg, Rounds: 1 + int(f.wait/siftPause), Pause: siftPause, Timeout: f.timeout}
	if len(f.cpus) == 0 {
		return nil, cfg, errors.New("--cpu is required: the CPU nodes, such as --cpu cpu1=10.0.0.4:7031")
	}
	if f.wait < 0 || f.timeout <= 0 {
		return nil, cfg, fmt.Errorf("--wait %v, --timeout %v: they must not be negative, and the timeout not 0", f.wait, f.timeout)
	}
	var at map[string]string
	var err error
	if cfg.Nodes, at, err = addresses("--cpu", "cpu1=10.0.0.4:7031", f.cpus, f.host.name); err != nil {
		return nil, cfg, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, cfg, fmt.Errorf("--key, --value: %w", err)
	}
	f.host.repeat = repeatEvery
	h, err := f.host.open(&f.device, at, stderr)
	return h, cfg, err
}

// client opens a client.
func (f *siftClientFlags) client(stderr io.Writer) (*kv.Client, error) {
	h, cfg, err := f.open(stderr)
	if err != nil {
		return nil, err
	}
	return kv.NewClient(h, cfg)
}

// newSiftPut is the command that puts a key.
func newSiftPut() *cobra.Command {
	f := &siftClientFlags{}
	c := &cobra.Command{
		Use:   "put KEY VALUE",
		Short: "Store a value under a key",
		Long: `Put asks the CPU nodes in turn until one leads, stores the value, and prints 'ok'. Another CPU node may
take over meanwhile. Put repeats what was certainly not carried out. If it cannot know whether the value was stored,
it says that the operation may have been carried out, and does not repeat it: in between, another client may have put
the key.

Exit status: 0 stored, 2 bad usage, or a key or value that is too long, 3 no CPU node leads or the store is full, and
nothing was stored, or it is unknown whether it was.`,
		Example: "  verbatim-run sift put protocol sift --cpu cpu1=10.0.0.4:7031 --cpu cpu2=10.0.0.5:7031",
		Args:    cli.Takes("a key and a value", cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			return f.does(c, func(s *kv.Client) error { return s.Put([]byte(args[0]), []byte(args[1])) })
		},
	}
	f.define(c)
	return c
}

// newSiftDelete is the command that removes a key.
func newSiftDelete() *cobra.Command {
	f := &siftClientFlags{}
	c := &cobra.Command{
		Use:     "delete KEY",
		Short:   "Remove a key, if it exists",
		Long:    "Delete removes a key, if it exists, and prints 'ok'. Everything else is as in put.",
		Example: "  verbatim-run sift delete protocol --cpu cpu1=10.0.0.4:7031",
		Args:    cli.Takes("a key", cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return f.does(c, func(s *kv.Client) error { return s.Delete([]byte(args[0])) })
		},
	}
	f.define(c)
	return c
}

// does executes an operation that prints no result.
func (f *siftClientFlags) does(c *cobra.Command, do func(s *kv.Client) error) error {
	s, err := f.client(c.ErrOrStderr())
	if err == nil {
		err = errors.Join(do(s), s.Close())
	}
	if err == nil {
		_, err = fmt.Fprintln(c.OutOrStdout(), "ok")
	}
	return siftEnded(hinted(err), c.ErrOrStderr())
}

// newSiftGet is the command that gets a key.
func newSiftGet() *cobra.Command {
	f := &siftClientFlags{}
	c := &cobra.Command{
		Use:   "get KEY",
		Short: "Print the value of a key",
		Long: `Get asks the CPU nodes in turn until one leads, and prints the value of the key and a newline.

Exit status: 0 printed, 2 bad usage, or the key is not there, 3 no CPU node leads.`,
		Example: "  verbatim-run sift get protocol --cpu cpu1=10.0.0.4:7031 --cpu cpu2=10.0.0.5:7031",
		Args:    cli.Takes("a key", cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return siftEnded(hinted(f.get(c, args[0])), c.ErrOrStderr())
		},
	}
	f.define(c)
	return c
}

func (f *siftClientFlags) get(c *cobra.Command, key string) error {
	s, err := f.client(c.ErrOrStderr())
	if err != nil {
		return err
	}
	value, found, err := s.Get([]byte(key))
	switch err = errors.Join(err, s.Close()); {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("the key %q is not there", key)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", value)
	return err
}

// hinted adds the flags that an error concerns.
func hinted(err error) error {
	switch {
	case errors.Is(err, kv.ErrTooLong):
		return fmt.Errorf("%w; the limits are --key and --value, which all nodes and clients must have alike", err)
	case errors.Is(err, kv.ErrUnavailable) && strings.Contains(err.Error(), "MaxMessage"):
		return fmt.Errorf("%w; --key and --value must be those of the CPU nodes", err)
	}
	return err
}
