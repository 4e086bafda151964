package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// vetTool is the program with the rules. This program does not link the Go type checker, which no check needs.
const vetTool = source.Module + "/cmd/verbatim/verbatim-vet"

// newVet returns the command that finds code whose runs the checker cannot repeat.
func newVet() *cobra.Command {
	return &cobra.Command{
		Use:   "vet [PACKAGE]...",
		Short: "Find code in protocols whose runs cannot be repeated: clocks, goroutines, map order",
		Long: `Vet finds code in protocols whose behaviour depends on more than its arguments and the
		choices of its host: the wall clock, goroutines and channels, random numbers, the order of
		a map, variables that hosts of one run would share. Each finding names a substitute.

A package is taken for a protocol if it imports host or verbs of verbatim, and neither
the simulator, the checker nor a card. The comment //verbatim:checked puts any other
package under the same rules, and //verbatim:unchecked REASON exempts one. Tests are
exempt. Without arguments vet reads ./...

Vet builds verbatim-vet, and runs go vet with it. In a module with the tool in its go.mod
this is the same: go vet -vettool=$(go tool -n verbatim-vet) ./...

Exit status: 0 no findings, 1 findings, or a package does not compile, 2 the tool cannot be
built.`,
		Example: "  verbatim vet\n  verbatim vet ./protocol/...",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(c)
			defer stop()
			return runVet(ctx, c, args)
		},
	}
}

func runVet(ctx context.Context, c *cobra.Command, packages []string) error {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	dir, err := os.MkdirTemp("", "verbatim-vet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "verbatim-vet")
	if err := goCommand(ctx, c, "build", "-o", tool, vetTool); err != nil {
		return fmt.Errorf("cannot build verbatim-vet (%w): run vet in a module that requires %s, after `go get -tool %s`", err, source.Module, vetTool)
	}
	err = goCommand(ctx, c, append([]string{"vet", "-vettool=" + tool, "--"}, packages...)...)
	if _, ran := errors.AsType[*exec.ExitError](err); ran {
		return cli.Status(cli.Violated)
	}
	return err
}

// goCommand runs the go command, which prints where this command does.
func goCommand(ctx context.Context, c *cobra.Command, args ...string) error {
	x := exec.CommandContext(ctx, "go", args...)
	x.Stdout, x.Stderr = c.OutOrStdout(), c.ErrOrStderr()
	return x.Run()
}
