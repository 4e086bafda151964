package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// memnodeFlags are the flags of the command memnode.
type memnodeFlags struct {
	store  storeFlags
	device cardFlags
	host   hostFlags
	marker string
}

// newSiftMemnode is the command that lends memory.
func newSiftMemnode() *cobra.Command {
	f := &memnodeFlags{}
	c := &cobra.Command{
		Use:   "memnode",
		Short: "Run a memory node, which lends memory and is otherwise passive",
		Long: `Memnode lends two regions: a word for elections, which every CPU node reaches, and the
replicated memory, which one CPU node reaches at a time. Its CPU sets up connections, and does nothing
else. Anyone who can reach its address can read and write the store.

A memory node that has restarted may have lost what it had acknowledged, so it counts for nothing until
the leader has brought it up to date. The file --marker distinguishes the first start from restarts: if it is
not there, the group counts as new, and memnode creates it. So keep it where it outlives the process,
one for each node, and delete it only to begin a new group with all nodes. Without --marker a node
never counts as new.

With --pmem the memory is in a file there, in persistent memory, and a node that comes back needs only what
it missed. A group whose majority fails at the same time is lost nevertheless.

It prints one line when it is ready, with its address.`,
		Example: "  verbatim-run sift memnode --name m1 --listen 10.0.0.1:7021 --marker /var/lib/verbatim/m1 --device mlx5_0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return siftEnded(runSiftMemnode(c, f), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	fl.StringVar(&f.host.name, "name", "", "unique `name` of this memory node (required)")
	fl.StringVar(&f.host.listen, "listen", "127.0.0.1:7021", "`address` to listen on; port 0 picks a free one")
	fl.StringVar(&f.marker, "marker", "", "`file` that records that the node has started; the first start creates it")
	fl.StringVar(&f.host.pmem, "pmem", "", "`directory` of persistent memory to hold the region; default: DRAM")
	f.store.define(fl)
	f.device.define(fl)
	f.host.define(fl)
	fl.SortFlags = false
	return c
}

func runSiftMemnode(c *cobra.Command, f *memnodeFlags) error {
	if f.host.name == "" {
		return errors.New("--name is required: the name of this memory node, such as m1")
	}
	cfg := sift.MemoryConfig{}
	var err error
	if cfg.Layout, err = f.store.complete(); err != nil {
		return err
	}
	if f.host.pmem != "" {
		cfg.Persistent = "sift-" + f.host.name
	}
	h, err := f.host.open(&f.device, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if cfg.New, err = firstStart(f.marker); err != nil {
		return fmt.Errorf("--marker: %w", err)
	}
	ctx := untilSignal(c.Context())
	context.AfterFunc(ctx, func() { _ = h.Close() }) // ServeMemory then returns ErrClosed
	var on host.Host = h
	if cfg.New {
		on = marked{h, f.marker}
	}
	ready := announcer{on, func() {
		as := "a restarted node"
		if cfg.New {
			as = "a new node"
		}
		fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s lends %d keys on %s as %s\n", f.host.name, h.Addr(), f.store.cfg.Blocks, h.Device().Attr().Name, as)
	}}
	return unlessEnded(ctx, sift.ServeMemory(ready, cfg))
}

// firstStart reports whether file, which [mark] creates, is missing. Without a name no start is the first one.
func firstStart(file string) (bool, error) {
	if file == "" {
		return false, nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return true, nil
	case err == nil && !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a regular file (%s): want a file that the first start creates, such as %s", file, info.Mode(), filepath.Join(file, "marker"))
	}
	return false, err
}

// marked is the host of a node that starts for the first time. It creates the marker when the node has its memory and
// has not admitted any coordinator: a start that fails before that does not count.
type marked struct {
	host.Host
	file string
}

func (m marked) Listen(service string) (host.Listener, error) {
	l, err := m.Host.Listen(service)
	if err != nil {
		return nil, err
	}
	if err := mark(m.file); err != nil {
		return nil, errors.Join(fmt.Errorf("--marker: %w", err), l.Close())
	}
	return l, nil
}

// mark creates file durably.
func mark(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
