package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// newSift is the command that runs Sift on machines.
func newSift() *cobra.Command {
	c := &cobra.Command{
		Use:   "sift",
		Short: "Run Sift's key-value store as processes on RDMA cards, or over TCP",
		Long: `Sift is a key-value store on passive memory: 2f+1 memory nodes lend memory to CPU nodes
without state. One CPU node leads and serves clients. The store survives the failure of f
memory nodes and of all CPU nodes but one. It runs the code that 'verbatim check sift' checks.

The processes find each other by addresses in flags: a CPU node gets the addresses of the
memory nodes (--memory), and a client those of the CPU nodes (--cpu). Memory nodes need no
addresses. There is no coordination service: the memory nodes elect the leader. All nodes must
have the same --key, --value, --keys, --index, --log and --slots; a memory node
refuses CPU nodes with others.

The processes set up connections over HTTP, which is not protected unless all of them have
--tls-cert, --tls-key and --tls-ca. Data goes through the cards, always unencrypted.
docs/sift-run.md has a walk-through.

A program without the build tag rdma opens no card, and takes --device soft: verbs of
software over TCP, for trying and testing. So does one that finds no card. All processes must
have the same kind.

Exit status: 0 done, 1 an acknowledged operation is lost, 2 bad usage or input, an
unusable device or address, or a key that is not there, 3 no CPU node leads, the store is
full, or it is unknown whether an operation was carried out.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSiftMemnode(), newSiftCPUNode(), newSiftPut(), newSiftGet(), newSiftDelete(), newSiftBench(), newSiftSoak())
	return c
}

// siftEnded is ended for the errors of Sift.
func siftEnded(err error, stderr io.Writer) error {
	for _, e := range []error{kv.ErrUnavailable, kv.ErrUnknown, kv.ErrFull, sift.ErrUnavailable, sift.ErrExhausted} {
		if errors.Is(err, e) {
			fmt.Fprintf(stderr, "verbatim-run: %v\n", err)
			return cli.Status(cli.RanOut)
		}
	}
	if errors.Is(err, sift.ErrLost) {
		fmt.Fprintf(stderr, "verbatim-run: %v\n", err)
		return cli.Status(cli.Violated)
	}
	return err
}

// storeFlags are the shape of a store.
type storeFlags struct {
	cfg   kv.Config
	slots int
}

// defineLimits defines the flags that nodes and clients share.
func (f *storeFlags) defineLimits(fl *pflag.FlagSet) {
	fl.IntVar(&f.cfg.Key, "key", 32, "longest key in `bytes`")
	fl.IntVar(&f.cfg.Value, "value", 992, "longest value in `bytes`")
}

func (f *storeFlags) define(fl *pflag.FlagSet) {
	f.defineLimits(fl)
	fl.IntVar(&f.cfg.Blocks, "keys", 4096, "largest number of keys in the store")
	fl.IntVar(&f.cfg.Index, "index", 0, "slots of the hash table; default: 8 times --keys")
	fl.IntVar(&f.cfg.Log, "log", 256, "puts that may be acknowledged and not yet applied")
	fl.IntVar(&f.slots, "slots", 64, "entries of the log of the memory itself")
}

// complete fills in the defaults that depend on other flags, and checks all flags.
func (f *storeFlags) complete() (sift.Layout, error) {
	if f.cfg.Index == 0 {
		f.cfg.Index = 8 * min(f.cfg.Blocks, math.MaxInt/8) // no overflow; the check then reports too many keys
	}
	if f.cfg.Cache == 0 {
		f.cfg.Cache = max(1, f.cfg.Blocks/2)
	}
	if err := f.cfg.Validate(); err != nil {
		return sift.Layout{}, fmt.Errorf("--key, --value, --keys, --index, --log, --cache: %w", err)
	}
	l := f.cfg.Layout(f.slots)
	if err := l.Validate(); err != nil {
		return l, fmt.Errorf("--slots %d: %w", f.slots, err)
	}
	return l, nil
}

// addresses parses values of a flag, each NAME=ADDRESS, and returns the names in order. With two names for one
// address, one node would count twice.
func addresses(flag, example string, given []string, taken ...string) (names []string, at map[string]string, err error) {
	at = map[string]string{}
	for _, t := range taken {
		at[t] = t
	}
	for _, x := range given {
		name, addr, ok := strings.Cut(x, "=")
		if !ok || name == "" || addr == "" || at[name] != "" {
			return nil, nil, fmt.Errorf("%s %q: want NAME=ADDRESS, such as %s, each with a name of its own", flag, x, example)
		}
		if err := isAddress(addr); err != nil {
			return nil, nil, fmt.Errorf("%s %q: %w: want an address such as in %s", flag, x, err, example)
		}
		for _, other := range names {
			if at[other] == addr {
				return nil, nil, fmt.Errorf("%s %q: %s has this address, too", flag, x, other)
			}
		}
		names, at[name] = append(names, name), addr
	}
	for _, t := range taken {
		delete(at, t)
	}
	return names, at, nil
}

// isAddress is nil if addr is a host and a port.
func isAddress(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(port, 10, 16); host == "" || err != nil || n == 0 {
		return errors.New("no host, or no port from 1 to 65535")
	}
	return nil
}
