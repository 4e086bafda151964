package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// newArcadiaVerify returns the command that checks one copy of a log.
func newArcadiaVerify() *cobra.Command {
	f := &logFlags{}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check one copy of a log without changing it",
		Long: `Verify reads the copy of a log in this host's persistent memory, of a primary or a backup, and
checks its superlines and the checksum of each record. It changes nothing and needs no
coordinator. Stop the process that has the log open first.

A failure may cut off the last record, and a single copy does not show whether that record
was cut off or damaged. Verify reports it as remains. Records that the last recovery had and
that are missing now are damage.

Exit status: 0 no damage, 1 records or a superline are damaged, 2 bad usage, or not a log.`,
		Example: "  verbatim-run arcadia verify --pmem /mnt/pmem0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runArcadiaVerify(c, f) },
	}
	f.defineLog(c, "verify")
	c.Flags().Lookup("size").Usage = "size of the copy; default: that of its file"
	c.Flags().SortFlags = false
	return c
}

func runArcadiaVerify(c *cobra.Command, f *logFlags) error {
	if f.host.pmem == "" {
		return errors.New("--pmem is required: the directory with the copy")
	}
	info, err := os.Stat(oshost.PMEMFile(f.host.pmem, f.log))
	if err != nil {
		return fmt.Errorf("--pmem %s has no log %q: %w", f.host.pmem, f.log, err)
	}
	if !c.Flags().Changed("size") {
		if !info.Mode().IsRegular() {
			return errors.New("--size is required for a device")
		}
		f.size = size(info.Size())
	}
	h, err := f.host.open(nil, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer h.Close()
	region, err := h.OpenPMEM(f.log, int(f.size))
	if err != nil {
		return err
	}
	s, err := arcadia.Inspect(arcadia.Local{Region: region}, f.log, int(f.size))
	if err := errors.Join(err, region.Free()); err != nil {
		return err
	}
	return reportCopy(c.OutOrStdout(), f.log, s)
}

// reportCopy prints the state of a copy.
func reportCopy(w io.Writer, name string, s *arcadia.Summary) error {
	if s.Empty {
		fmt.Fprintf(w, "%s: no log has been created, %d bytes\n", name, s.Size)
		return nil
	}
	fmt.Fprintf(w, "%s: epoch %d from record %d; records %d to %d, %d of them cleaned up; %d of %d bytes\n", name, s.Epoch, s.Since, s.First, s.Last, s.CleanedUp, s.Bytes, s.Size)
	if s.Remains && !s.Short {
		fmt.Fprintf(w, "remains: record %d was cut off, or is damaged\n", s.Last+1)
	}
	if s.Superlines < 2 {
		fmt.Fprintln(w, "DAMAGED: one of the two superlines; the next open repairs it")
	}
	if s.Short {
		fmt.Fprintf(w, "DAMAGED: record %d, and the records up to %d with it, which the last recovery had\n", s.Last+1, s.Since-1)
	}
	if s.Superlines < 2 || s.Short {
		return cli.Status(cli.Violated)
	}
	return nil
}
