package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// newArcadia returns the command that runs Arcadia on machines.
func newArcadia() *cobra.Command {
	c := &cobra.Command{
		Use:   "arcadia",
		Short: "Run Arcadia's log on persistent memory, with copies on other hosts",
		Long: `Arcadia keeps a log of records in persistent memory: in a directory of DAX devices or
files (--pmem). With --backup it replicates the log to other hosts, over RDMA cards,
Soft-RoCE or TCP; the coordinator ('verbatim-run ncl coord', or etcd) then assigns the
epochs of the log. Without --backup it needs neither a card nor a coordinator. It runs the
code that 'verbatim check arcadia' checks.

Files on an ordinary file system survive the kill of a process, but not a power failure:
the kernel may not have written them back.

Exit status: 0 done, 2 bad usage or input, or memory that holds something else, 3 too few
copies or no coordinator within reach, or another primary has taken over the log.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newArcadiaBackup(), newArcadiaAppend(), newArcadiaDump(), newArcadiaVerify(), newArcadiaSoak())
	return c
}

// arcadiaEnded turns an error of a command of Arcadia into an exit status, as ended does for NCL.
func arcadiaEnded(err error, stderr io.Writer) error {
	for _, e := range []error{arcadia.ErrUnavailable, arcadia.ErrFenced, coord.ErrUnavailable} {
		if errors.Is(err, e) {
			fmt.Fprintf(stderr, "verbatim-run: %v\n", err)
			return cli.Status(cli.RanOut)
		}
	}
	return err
}

// logFlags select a log and its copies.
type logFlags struct {
	host       hostFlags
	device     cardFlags
	controller controllerFlags
	log        string
	size       size
	backups    []string // each NAME=ADDRESS
	quorum     int
	remoteOnly bool
	order      string
	timeout    time.Duration
}

var orders = map[string]arcadia.Order{"after": arcadia.FlushAfter, "before": arcadia.FlushBefore, "parallel": arcadia.FlushParallel}

// defineLog defines the flags that primaries and backups share.
func (f *logFlags) defineLog(c *cobra.Command, name string) {
	fl := c.Flags()
	f.size = 1 << 20
	fl.StringVar(&f.host.pmem, "pmem", "", "`directory` of the persistent memory (required)")
	fl.StringVar(&f.log, "log", "log", "`name` of the log")
	fl.Var(&f.size, "size", "size of each copy; it cannot change later")
	fl.StringVar(&f.host.name, "name", name, "`name` of this host")
}

func (f *logFlags) define(c *cobra.Command) {
	f.defineLog(c, "primary")
	fl := c.Flags()
	fl.StringArrayVar(&f.backups, "backup", nil, "backup with a copy of the log, as `NAME=ADDRESS`; may be repeated")
	fl.IntVar(&f.quorum, "quorum", 0, "number of copies that must be durable; default: a majority")
	fl.BoolVar(&f.remoteOnly, "remote-only", false, "keep this host's copy in DRAM; it does not count")
	fl.StringVar(&f.order, "order", "after", "when to flush the local copy: before or parallel to the Writes to the backups, or after their answers")
	fl.DurationVar(&f.timeout, "timeout", arcadia.DefaultTimeout, "longest time for the answer of a backup")
	f.controller.define(fl)
	f.device.define(fl)
	f.host.define(fl)
	fl.SortFlags = false
}

// open opens the log. It is closed when the process exits.
func (f *logFlags) open(stderr io.Writer) (*arcadia.Log, error) {
	cfg := arcadia.Config{Name: f.log, Size: int(f.size)}
	if f.host.pmem == "" && !f.remoteOnly {
		return nil, errors.New("--pmem is required: a directory of DAX devices or files")
	}
	if len(f.backups) == 0 {
		if f.remoteOnly || f.quorum > 1 {
			return nil, errors.New("--remote-only and --quorum need backups: pass --backup NAME=ADDRESS")
		}
		if err := cfg.Validate(); err != nil {
			return nil, err
		}
		h, err := f.host.open(nil, nil, stderr)
		if err != nil {
			return nil, err
		}
		return arcadia.Open(h, cfg)
	}
	addresses := map[string]string{}
	for _, b := range f.backups {
		name, addr, ok := strings.Cut(b, "=")
		if !ok || name == "" || addr == "" || addresses[name] != "" || name == f.host.name || name == coordName {
			return nil, fmt.Errorf("--backup %q: want NAME=ADDRESS, such as b1=10.0.0.1:7010, with a unique name", b)
		}
		addresses[name] = addr
		cfg.Backups = append(cfg.Backups, name)
	}
	var known bool
	if cfg.Order, known = orders[f.order]; !known {
		return nil, fmt.Errorf("--order %q: want after, before or parallel", f.order)
	}
	cfg.RemoteOnly, cfg.Timeout, cfg.Quorum = f.remoteOnly, f.timeout, f.quorum
	if cfg.Quorum == 0 {
		copies := len(cfg.Backups) + 1
		if f.remoteOnly {
			copies--
		}
		cfg.Quorum = copies/2 + 1
	}
	if err := f.controller.check(f.host.name); err != nil {
		return nil, err
	}
	h, c, err := f.controller.open(&f.host, &f.device, addresses, stderr)
	if err != nil {
		return nil, err
	}
	cfg.Coord = c
	l, err := arcadia.Open(h, cfg)
	return l, f.controller.where(err)
}
