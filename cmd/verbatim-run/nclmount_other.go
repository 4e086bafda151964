//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newNCLMount returns a stub of the mount command, which needs the FUSE of Linux.
func newNCLMount() *cobra.Command {
	return &cobra.Command{
		Use: "mount", Short: "Mount a file system whose log files are on the peers (Linux only)",
		Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("ncl mount runs on Linux only; ncl write and recover run everywhere")
		},
	}
}
