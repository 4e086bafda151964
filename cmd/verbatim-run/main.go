// Verbatim-run runs the protocols that verbatim checks on machines, and measures them:
// NCL, Arcadia and Sift as processes on RDMA cards, benchmarks, and SQLite crashed with its log on NCL.
//
// `verbatim-run --help` lists the commands. Its exit status is 0 on success, 1 if
// acknowledged data is lost, 2 for bad usage or input, and 3 if a limit was hit or a later
// attempt may succeed.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

func main() {
	cli.CollectLess()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(), args, stdout, stderr)
}

func newRoot() *cobra.Command {
	root := cli.Root(&cobra.Command{
		Use:   "verbatim-run",
		Short: "Run RDMA replication protocols on machines, and measure them",
		Long: `Verbatim-run runs the protocols that verbatim checks: as processes on RDMA cards, in
benchmarks, and under SQLite with injected crashes. It is a separate program because it
needs etcd, FUSE, SQLite and Pebble.

Exit status: 0 done, 1 something acknowledged was lost, 2 bad usage or input, 3 a limit
was hit, or a later attempt may succeed.`,
		Example: `  verbatim-run bench verbs
  verbatim-run crash sqlite
  verbatim-run ncl coord --listen 10.0.0.9:7000
  verbatim-run arcadia append --pmem /mnt/pmem0
  verbatim-run sift put protocol sift --cpu cpu1=10.0.0.4:7031
  source <(verbatim-run completion bash)`,
	})
	root.AddCommand(newNCL(), newArcadia(), newSift(), newBench(), newCrash(), newLitmus())
	root.AddCommand(cli.Elsewhere("verbatim", "checks protocols", "check", "replay", "explore", "list", "mutants", "matrix")...)
	return root
}
