package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/kvsoak"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// newSiftSoak is the command that kills the processes of Sift.
func newSiftSoak() *cobra.Command {
	var cfg kvsoak.Config
	var asJSON, verbose bool
	c := &cobra.Command{
		Use:   "soak",
		Short: "Kill memory nodes and CPU nodes, and check that no acknowledged operation is lost",
		Long: `Soak runs a store with three memory nodes and three CPU nodes, as processes on this machine, while clients put,
get and delete. In each round it kills the CPU node that leads, or a memory node, or both, with SIGKILL, stops processes
for a while, or cuts links, mends everything, and waits until all memory nodes have joined again. A second memory node
dies only then, so nothing may be lost.

After each round the store must hold every acknowledged put of the keys that only one client puts, and the operations on
common keys must be linearizable. --seed repeats the plan; the timing of the processes depends on the machine. Links
are cut only with --device soft.

--json prints one object with the counts.

Exit status: 0 nothing is lost, 1 the store has broken its promise, 2 bad usage or an unusable device, 3 a
process exited or stalled, an order of the operations was not found in time, or Ctrl-C stopped the run. After 1 and 3 the
logs of the processes are kept, and the last line names them.`,
		Example: "  verbatim-run sift soak --rounds 100 --seed 7 --verbose",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if verbose {
				cfg.Progress = func(line string) { fmt.Fprintln(c.ErrOrStderr(), line) }
			}
			return runSiftSoak(c, cfg, asJSON)
		},
	}
	fl := c.Flags()
	fl.IntVar(&cfg.Rounds, "rounds", 20, "rounds")
	fl.IntVar(&cfg.Clients, "clients", 3, "clients")
	fl.Uint64Var(&cfg.Seed, "seed", 0, "seed of the plan")
	fl.StringVar(&cfg.Device, "device", soft.Name, "the card of all processes, such as rxe0, or soft")
	fl.DurationVar(&cfg.Patience, "patience", time.Minute, "a process that takes longer for one step counts as stalled")
	fl.StringVar(&cfg.Program, "program", "", "another `build` of verbatim-run for the processes, such as a mutant")
	fl.BoolVar(&asJSON, "json", false, "print the counts as a JSON object")
	fl.BoolVar(&verbose, "verbose", false, "print a line for each round to standard error")
	fl.SortFlags = false
	return c
}

func runSiftSoak(c *cobra.Command, cfg kvsoak.Config, asJSON bool) error {
	var err error
	if cfg.Program == "" {
		if cfg.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	if cfg.Dir, err = os.MkdirTemp("", "verbatim-soak-"); err != nil {
		return err
	}
	cfg.Cuts = cfg.Device == soft.Name
	cfg.Host = func(resolve func(string) (string, error)) (host.Host, error) {
		f := hostFlags{name: "clients", resolve: resolve}
		d := cardFlags{ackTimeout: 20 * time.Millisecond}
		d.cfg.Device, d.cfg.Port = cfg.Device, 1
		log, err := os.Create(filepath.Join(cfg.Dir, "clients.log"))
		if err != nil {
			return nil, err
		}
		return f.open(&d, nil, log)
	}
	r, err := kvsoak.Run(untilSignal(c.Context()), cfg)
	if r == nil {
		return errors.Join(err, os.RemoveAll(cfg.Dir))
	}
	if err := printSoaked(c, r, err == nil && r.Violation == "", asJSON); err != nil {
		return err
	}
	switch {
	case r.Violation != "":
		fmt.Fprintf(c.ErrOrStderr(), "verbatim-run: %s\nthe logs of the processes are in %s\n", r.Violation, cfg.Dir)
		return cli.Status(cli.Violated)
	case err != nil:
		fmt.Fprintf(c.ErrOrStderr(), "verbatim-run: %v\nthe logs of the processes are in %s\n", err, cfg.Dir)
		return cli.Status(cli.RanOut)
	}
	return os.RemoveAll(cfg.Dir)
}

func printSoaked(c *cobra.Command, r *kvsoak.Report, ok, asJSON bool) error {
	if asJSON {
		return cli.Lines(c.OutOrStdout()).Encode(struct {
			OK bool `json:"ok"`
			*kvsoak.Report
		}{ok, r})
	}
	verdict := "CLEAN: every acknowledged value is present, and the operations are linearizable"
	if r.Violation != "" {
		verdict = "VIOLATED"
	} else if !ok {
		verdict = "UNDECIDED: the run did not finish"
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "soak: %d rounds, %d puts and deletes acknowledged, %d gets, %d unknown; killed %d CPU nodes and %d memory nodes, stopped %d processes, cut %d links; "+
		"%d terms; %d operations in order, %d values compared at the end\n%s\n",
		r.Rounds, r.Acked, r.Gets, r.Unknown, r.CPUs, r.Memory, r.Stops, r.Cuts, r.Terms, r.Checked, r.Compared, verdict)
	return err
}
