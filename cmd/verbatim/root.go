package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

// run is the program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(), args, stdout, stderr)
}

// checkLimits checks two flags that most commands have.
func checkLimits(workers int, maxTime time.Duration) error {
	switch {
	case workers < 0:
		return fmt.Errorf("--workers %d: it must be at least 1, or 0 for one for each core", workers)
	case maxTime < 0:
		return fmt.Errorf("--max-time %v: a time cannot be negative", maxTime)
	}
	return nil
}

func newRoot() *cobra.Command {
	root := cli.Root(&cobra.Command{
		Use:   "verbatim",
		Short: "Check RDMA replication protocols by running their real code",
		Long: `Verbatim runs the real code of an RDMA replication protocol in a deterministic simulator
and enumerates what cards, networks and crashes can do to it. It returns a run that
violates the protocol's promise, or verifies that no such run exists within the stated
bounds. A second program, verbatim-run, runs protocols on machines and measures them:
ncl, bench, crash, and litmus tests on cards.

Exit status: 0 verified (or clean, for strategies that sample), 1 a promise is violated,
2 bad usage or input, 3 a limit was hit or the check could not decide. If several apply,
2 takes precedence over 1, 1 over 3, and 3 over 0.`,
		Example: `  verbatim list
  verbatim check ncl
  verbatim check ncl/three-writes --profile relaxed
  verbatim replay ncl-three-writes.counterexample.json
  verbatim litmus --profile strong
  source <(verbatim completion bash)`,
	})
	root.AddCommand(newCheck(), newReplay(), newExplore(), newList(), newMutants(), newLitmus(), newMatrix(), newTable1())
	root.AddCommand(cli.Elsewhere("verbatim-run", "runs protocols on machines and measures them", "ncl", "arcadia", "sift", "bench", "crash")...)
	return root
}
