// Verbatim-farm runs the commands of verbatim on many machines.
//
// `verbatim-farm --help` lists the commands. `verbatim-farm run` has the exit status of the command that it runs, and 2 if
// a job could not be run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/farm"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(), args, stdout, stderr)
}

func newRoot() *cobra.Command {
	root := cli.Root(&cobra.Command{
		Use:   "verbatim-farm",
		Short: "Run the commands of verbatim on many machines",
		Long: `Verbatim-farm divides a command of verbatim, or of your own program with its commands,
into jobs: scenarios, mutants, parts of the generated mutants, protocols of the matrix.
Workers on any number of machines run them, and the results are printed as if one machine
had run the command. A job whose worker is lost is run again.

Client and workers meet at a server of NATS with JetStream: one of 'verbatim-farm serve',
or your own. It is a separate program because it contains that server.`,
		Example: `  verbatim-farm serve --listen 10.0.0.1:4222 --store /var/lib/farm
  verbatim-farm work --join nats://10.0.0.1:4222 --program ./verbatim
  verbatim-farm run --join nats://10.0.0.1:4222 --program ./verbatim check ncl sift`,
	})
	root.AddCommand(newServe(), newWork(), newStatus(), newRun())
	return root
}

// memberFlags are the flags of the commands that join a farm.
type memberFlags struct {
	farm.Config
	program, dir string
}

func (f *memberFlags) define(fl *pflag.FlagSet) {
	fl.SortFlags = false
	fl.StringVar(&f.URL, "join", "", "the `URL` of the server, such as nats://10.0.0.1:4222 (required)")
	fl.StringVar(&f.Creds, "creds", "", "a `file` with credentials of NATS")
	fl.StringVar(&f.CA, "ca", "", "a `file` with the certificates that the server's certificate is checked against")
	fl.StringVar(&f.Cert, "cert", "", "a `file` with our certificate")
	fl.StringVar(&f.Key, "key", "", "a `file` with its key")
	fl.DurationVar(&f.Beat, "beat", 5*time.Second, "`time` between two signs of life of a worker; after four it counts as lost. All members use the same")
}

func (f *memberFlags) defineProgram(fl *pflag.FlagSet) {
	fl.StringVar(&f.program, "program", "", "the `program` that runs jobs; all members must have the same file. Default: the verbatim beside this program, or in PATH")
	fl.StringVar(&f.dir, "dir", "", "the source `tree`, for mutants; all members must have the same. Default: the working directory, if it has a go.mod")
}

// fill finds the default program and source tree.
func (f *memberFlags) fill() error {
	if f.dir == "" {
		if _, err := os.Stat("go.mod"); err == nil {
			f.dir = "."
		}
	}
	if f.program != "" {
		return nil
	}
	if own, err := os.Executable(); err == nil {
		f.program = filepath.Join(filepath.Dir(own), "verbatim")
		if _, err := os.Stat(f.program); err == nil {
			return nil
		}
	}
	var err error
	if f.program, err = exec.LookPath("verbatim"); err != nil {
		return errors.New("there is no program verbatim beside this one or in PATH: build it (go build ./cmd/verbatim) and name it with --program")
	}
	return nil
}

// status prints an error of the farm and returns exit status 3, since a later attempt may succeed. It leaves usage
// errors, Ctrl-C and errors with a status unchanged.
func status(err error, stderr io.Writer) error {
	var s cli.Status
	if err == nil || errors.Is(err, farm.ErrConfig) || errors.Is(err, context.Canceled) || errors.As(err, &s) {
		return err
	}
	fmt.Fprintf(stderr, "verbatim-farm: %v\n", err)
	return cli.Status(cli.RanOut)
}
