package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// newArcadiaBackup returns the command that keeps a copy of a log.
func newArcadiaBackup() *cobra.Command {
	f := &logFlags{}
	c := &cobra.Command{
		Use:   "backup",
		Short: "Keep a copy of a log for primaries",
		Long: `Backup keeps a copy of a log in the persistent memory of this host. Any host that can
reach its address can be the primary; a later primary replaces the one before. When it is
ready, it prints one line with its address.`,
		Example: "  verbatim-run arcadia backup --name b1 --pmem /mnt/pmem0 --listen 10.0.0.1:7010",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return arcadiaEnded(runArcadiaBackup(c, f), c.ErrOrStderr()) },
	}
	f.defineLog(c, "")
	fl := c.Flags()
	fl.StringVar(&f.host.listen, "listen", "127.0.0.1:7010", "`address` to listen on; port 0 picks a free one")
	f.device.define(fl)
	f.host.define(fl)
	fl.SortFlags = false
	return c
}

func runArcadiaBackup(c *cobra.Command, f *logFlags) error {
	switch {
	case f.host.name == "":
		return errors.New("--name is required: the name of this backup, such as b1")
	case f.host.pmem == "":
		return errors.New("--pmem is required: a directory of DAX devices or files")
	}
	h, err := f.host.open(&f.device, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx := untilSignal(c.Context())
	context.AfterFunc(ctx, func() { _ = h.Close() })
	ready := announcer{h, func() {
		fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s has a copy of %s, %v, on %s\n", f.host.name, h.Addr(), f.log, &f.size, h.Device().Attr().Name)
	}}
	return unlessEnded(ctx, arcadia.ServeBackup(ready, arcadia.BackupConfig{Name: f.log, Size: int(f.size)}))
}

// newArcadiaAppend returns the command that appends records.
func newArcadiaAppend() *cobra.Command {
	f := &logFlags{}
	var frequency int
	c := &cobra.Command{
		Use:   "append",
		Short: "Append records from standard input to a log",
		Long: `Append opens or creates a log, recovers it, and appends the lines of its standard input.
It first prints 'open: N records, next LSN'. Then it prints 'ack LSN' for each record, when
the force has returned and before it reads the next line. With --frequency F it forces
only the records whose LSN is a multiple of F, together with all records before them:
fewer than F acknowledged records may be lost when the process dies.`,
		Example: `  journal | verbatim-run arcadia append --pmem /mnt/pmem0
  journal | verbatim-run arcadia append --pmem /mnt/pmem0 --backup b1=10.0.0.1:7010 --backup b2=10.0.0.2:7010 --coord 10.0.0.9:7000`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return arcadiaEnded(runArcadiaAppend(c, f, frequency), c.ErrOrStderr())
		},
	}
	f.define(c)
	c.Flags().IntVar(&frequency, "frequency", 1, "force only the records whose LSN is a multiple of this")
	return c
}

func runArcadiaAppend(c *cobra.Command, f *logFlags, frequency int) error {
	if frequency < 1 {
		return fmt.Errorf("--frequency %d: it must be at least 1", frequency)
	}
	l, err := f.open(c.ErrOrStderr())
	if err != nil {
		return err
	}
	n := 0
	if err := l.Each(func(*arcadia.Record, []byte) error { n++; return nil }); err != nil {
		return err
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "open: %d records, next %d\n", n, l.Next())
	in := &recordReader{r: bufio.NewReader(c.InOrStdin()), limit: l.MaxRecord()}
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return l.Close()
		}
		if err != nil {
			return err
		}
		lsn, err := appended(l, line, frequency)
		if errors.Is(err, arcadia.ErrFull) {
			return fmt.Errorf("%w: 'verbatim-run arcadia dump --clean' prints and cleans up its records", err)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "ack %d\n", lsn)
	}
}

func appended(l *arcadia.Log, data []byte, frequency int) (uint64, error) {
	r, err := l.Reserve(len(data))
	if err != nil {
		return 0, err
	}
	if err := errors.Join(r.Copy(0, data), r.Complete()); err != nil {
		return 0, err
	}
	return r.LSN(), r.Force(frequency)
}

// newArcadiaDump returns the command that prints the records of a log.
func newArcadiaDump() *cobra.Command {
	f := &logFlags{}
	var asJSON, clean bool
	c := &cobra.Command{
		Use:   "dump",
		Short: "Print the records of a log",
		Long: `Dump opens a log, recovers it, and prints each record: its LSN and its quoted contents or,
with --json, an object {"lsn": N, "data": BASE64}. With --backup it becomes the primary: an
earlier primary can no longer force records. With --clean it then cleans up the printed
records.`,
		Example: "  verbatim-run arcadia dump --pmem /mnt/pmem0 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return arcadiaEnded(runArcadiaDump(c, f, asJSON, clean), c.ErrOrStderr())
		},
	}
	f.define(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	c.Flags().BoolVar(&clean, "clean", false, "clean up the records after printing them")
	return c
}

func runArcadiaDump(c *cobra.Command, f *logFlags, asJSON, clean bool) error {
	if f.host.pmem != "" {
		if _, err := os.Stat(f.host.pmem); err != nil {
			return fmt.Errorf("--pmem: %w", err)
		}
	}
	l, err := f.open(c.ErrOrStderr())
	if err != nil {
		return err
	}
	out := cli.Locked(c.OutOrStdout())
	e := json.NewEncoder(out)
	err = l.Each(func(r *arcadia.Record, data []byte) error {
		if asJSON {
			return e.Encode(struct {
				LSN  uint64 `json:"lsn"`
				Data []byte `json:"data"`
			}{r.LSN(), data})
		}
		_, err := fmt.Fprintf(out, "%d %q\n", r.LSN(), data)
		return err
	})
	if err == nil && clean {
		err = l.CleanupAll()
	}
	return errors.Join(err, l.Close())
}
