package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK       = 0 // verified, clean, or no longer failing
	exitViolated = 1
	exitBad      = 2 // usage or input
	exitRanOut   = 3 // a limit came first, or the check could not decide
)

// worse is the status that counts of two.
func worse(a, b int) int {
	rank := [...]int{exitOK: 0, exitRanOut: 1, exitViolated: 2, exitBad: 3}
	if rank[a] > rank[b] {
		return a
	}
	return b
}

// status carries an exit status that is no error through cobra.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// asError is nil for status 0.
func (s status) asError() error {
	if s == exitOK {
		return nil
	}
	return s
}

// run is the program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var s status
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &s):
		return int(s)
	}
	fmt.Fprintf(stderr, "verbatim: %v\n", err)
	return exitBad
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "verbatim",
		Short: "Check RDMA replication protocols by running their real code",
		Long: `Verbatim runs the real code of an RDMA replication protocol in a deterministic
simulator, enumerates what cards, networks and crashes can do to it, and hands
back a run that violates the protocol's promise, or the assurance that there is
none within the stated bounds.

Exit status: 0 verified (or clean, for strategies that sample), 1 a promise is
violated, 2 bad usage or input, 3 a limit came first or the check could not
decide. Of several, 2 goes before 1, 1 before 3, and 3 before 0.`,
		Example: `  verbatim list
  verbatim check ncl
  verbatim check ncl/three-writes --profile relaxed
  verbatim replay ncl-three-writes.counterexample.json
  verbatim litmus --profile strong
  source <(verbatim completion bash)`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())
	})
	root.AddCommand(newCheck(), newReplay(), newList(), newMutants(), newLitmus(), newMatrix(), newBench())
	return root
}
