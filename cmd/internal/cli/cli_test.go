package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

// A command that Ctrl-C stopped reports that, and has the status of a limit.
func TestInterruptedIsNoMistake(t *testing.T) {
	root := cli.Root(&cobra.Command{Use: "x"})
	root.AddCommand(&cobra.Command{Use: "y", RunE: func(*cobra.Command, []string) error { return fmt.Errorf("building: %w", context.Canceled) }})
	var out, stderr strings.Builder
	if code := cli.Run(root, []string{"y"}, &out, &stderr); code != cli.RanOut || stderr.String() != "x: interrupted\n" || out.Len() > 0 {
		t.Errorf("status %d: %s%s", code, &out, &stderr)
	}
}

func TestWorse(t *testing.T) {
	for _, x := range [][3]int{{0, 3, 3}, {3, 1, 1}, {1, 2, 2}, {2, 3, 2}, {0, 0, 0}} {
		if cli.Worse(x[0], x[1]) != x[2] || cli.Worse(x[1], x[0]) != x[2] {
			t.Errorf("Worse(%d, %d) is not %d both ways", x[0], x[1], x[2])
		}
	}
}
