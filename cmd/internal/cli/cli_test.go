package cli_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

func TestWorse(t *testing.T) {
	for _, x := range [][3]int{{0, 3, 3}, {3, 1, 1}, {1, 2, 2}, {2, 3, 2}, {0, 0, 0}} {
		if cli.Worse(x[0], x[1]) != x[2] || cli.Worse(x[1], x[0]) != x[2] {
			t.Errorf("Worse(%d, %d) is not %d both ways", x[0], x[1], x[2])
		}
	}
}
