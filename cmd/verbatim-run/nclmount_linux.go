package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/fusefs"
)

// mountFlags are the flags of the command mount.
type mountFlags struct {
	appFlags
	dir               string
	presets, patterns []string
	region, maxRegion size
	watch             time.Duration
}

// newNCLMount returns the command that mounts a split file system.
func newNCLMount() *cobra.Command {
	f := &mountFlags{region: splitfs.DefaultRegion}
	c := &cobra.Command{
		Use:   "mount FOLDER",
		Short: "Mount a file system whose log files are on the peers",
		Long: `Mount makes the files of a directory appear in an empty folder, for any program. New
files whose names match a pattern go to the memory of the peers; when a write to one
returns, it has reached f+1 of them. The directory has a stub for each. All other files
are stored in the directory itself. docs/splitfs.md lists the guarantees.

--preset names a program whose log files are known: ` + strings.Join(splitfs.PresetNames(), ", ") + `. --ncl adds a pattern of
names, such as '*-wal'.

It prints one line when it is ready, and serves the folder until it is unmounted or
terminated by SIGINT or SIGTERM. If it dies, mount the same directory again, on this
machine or on another one that has it: nothing acknowledged is lost as long as no more
than f peers have failed. Failed peers are replaced by other registered ones. Only one
mount of an application runs at a time: --wait sets how long to wait for the session of
the previous one to expire. A mount whose session has expired accepts no more writes to
files on the peers.

It needs /dev/fuse, and root or fusermount3.

Exit status: 0 it was unmounted, 2 bad usage or input, or an unusable folder, directory,
device or address, 3 the coordinator or too few peers answer, or another instance of the
application runs.`,
		Example: `  verbatim-run ncl mount /srv/redis --dir /mnt/cephfs/redis --preset redis --coord 10.0.0.9:7000
  redis-server --dir /srv/redis --appendonly yes --appendfsync always`,
		Args: cli.Takes("a folder to mount at", cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return ended(runNCLMount(c, f, args[0]), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	fl.StringVar(&f.dir, "dir", "", "the underlying `directory`, for all other files (required)")
	fl.StringSliceVar(&f.presets, "preset", nil, "`programs` whose log files go to the peers, separated by commas")
	fl.StringArrayVar(&f.patterns, "ncl", nil, "a `pattern` of names that go to the peers; repeatable")
	fl.Var(&f.region, "region", "region size of a new file on the peers; a file that outgrows it gets a larger one")
	defineWatch(fl, &f.watch)
	fl.Var(&f.maxRegion, "max-region", "largest region of a file; default: 64 times --region")
	f.define(c)
	return c
}

func runNCLMount(c *cobra.Command, f *mountFlags, at string) error {
	patterns, err := f.complete(at)
	if err != nil {
		return err
	}
	dir, err := splitfs.OpenOSDir(f.dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	h, cfg, err := f.config(c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	logf := f.log(c.ErrOrStderr())
	i, err := f.start(h, cfg)
	if err != nil {
		return err
	}
	defer i.Close()
	cfg.Coord = i.Guard(cfg.Coord)
	fsys, err := splitfs.New(splitfs.Config{Dir: splitfs.OwnDir(dir, i), Store: splitfs.OwnStore(splitfs.NCL(h, cfg, f.watch), i), Patterns: patterns,
		Region: int(f.region), MaxRegion: int(f.maxRegion), Logf: logf})
	if err != nil {
		return err
	}
	defer fsys.Close()
	server, err := fusefs.Mount(fusefs.Config{FS: fsys, Dir: dir, At: at, Logf: logf})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "ready: %s is %s, with %s on %d peers\n", at, f.dir, strings.Join(patterns, " "), 2*cfg.F+1)
	stop := context.AfterFunc(untilSignal(c.Context()), func() {
		for server.Unmount() != nil { // while programs have open files there
			logf("%s is busy: still mounted", at)
			time.Sleep(time.Second)
		}
	})
	defer stop()
	server.Wait()
	return nil
}

// complete checks the flags that only mount has, and returns all patterns.
func (f *mountFlags) complete(at string) ([]string, error) {
	if f.dir == "" {
		return nil, errors.New("--dir is required: the directory for all other files")
	}
	if err := checkWatch(f.watch); err != nil {
		return nil, err
	}
	patterns := slices.Clone(f.patterns)
	for _, name := range f.presets {
		p, ok := splitfs.Presets[name]
		if !ok {
			return nil, fmt.Errorf("--preset %q: known: %s%s", name, cli.List(splitfs.PresetNames()), mistake.DidYouMean(name, splitfs.PresetNames()))
		}
		patterns = append(patterns, p...)
	}
	if len(patterns) == 0 {
		return nil, errors.New("no file would go to the peers: pass a program with --preset or a pattern with --ncl")
	}
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	// These checks need no peers.
	check := splitfs.Config{Dir: &splitfs.OSDir{}, Store: splitfs.NCL(nil, ncl.Config{}, 0), Patterns: patterns,
		Region: int(f.region), MaxRegion: int(f.maxRegion)}
	if err := check.Validate(); err != nil {
		return nil, fmt.Errorf("--ncl, --region, --max-region: %w", err)
	}
	st, err := os.Stat(f.dir)
	if err == nil && !st.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, fmt.Errorf("--dir %s: %w", f.dir, err)
	}
	return patterns, fusefs.Check(at, f.dir)
}
