package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
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

// interruptible is the context of a command whose work Ctrl-C ends in good order. A
// second one ends the program.
func interruptible(c *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// checkLimits checks two flags that most commands have.
func checkLimits(workers int, maxTime time.Duration) error {
	switch {
	case workers < 0:
		return fmt.Errorf("--workers %d: it takes at least 1, or 0 for one for each core", workers)
	case maxTime < 0:
		return fmt.Errorf("--max-time %v: a time cannot be negative", maxTime)
	}
	return nil
}

// noCommand is the error for what is no command.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, x := range c.Commands() {
		if x.IsAvailableCommand() {
			names = append(names, x.Name())
		}
	}
	return fmt.Errorf("there is no command %q; there are %s%s", args[0], list(names), mistake.DidYouMean(args[0], names))
}

// takes says what the arguments of a command are when there are too few or too many.
func takes(what string, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return fmt.Errorf("%s takes %s, and here are %d arguments; see `%s --help`", c.CommandPath(), what, len(given), c.CommandPath())
		}
		return nil
	}
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
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())
	})
	root.AddCommand(newCheck(), newReplay(), newExplore(), newList(), newMutants(), newLitmus(), newMatrix(), newCrash(), newNCL(), newBench())
	return root
}
