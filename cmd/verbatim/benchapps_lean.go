//go:build lean

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newBenchApps stands in for a command that brings two databases with it. Mutants are
// programs that are linked by the dozen, and none of them is measured.
func newBenchApps() *cobra.Command {
	return &cobra.Command{Use: "apps", Short: "Not in this program: it was built with -tags lean",
		RunE: func(*cobra.Command, []string) error {
			return errors.New("bench apps is not in this program: build it without -tags lean")
		}}
}
