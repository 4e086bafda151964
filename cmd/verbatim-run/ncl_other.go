//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newNCL stands for the commands that run NCL: libibverbs is a library of Linux.
func newNCL() *cobra.Command {
	return &cobra.Command{
		Use: "ncl", Short: "Run NCL as processes on RDMA cards (Linux only)",
		Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("ncl runs on Linux only; the checker (verbatim check ncl) runs everywhere")
		},
	}
}
