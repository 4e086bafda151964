package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/bench/backups"
	"github.com/verbatim-rdma/verbatim/bench/backups/figure"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

// poolFlags are the flags of bench pool.
type poolFlags struct {
	cfg             backups.Config
	groups, backups []int
	trace           string
	assumed         backups.Assumptions
	plot            string
	asJSON          bool
}

// The flags that make a synthetic trace.
var synthetic = []string{"machines", "days", "rate", "bursty", "burst", "repair"}

// newBenchPool returns the command that simulates shared backups.
func newBenchPool() *cobra.Command {
	f := &poolFlags{assumed: backups.Defaults()}
	c := &cobra.Command{
		Use:   "pool",
		Short: "Simulate how long Sift groups wait for a shared backup",
		Long: `Pool prints figure 8 of Sift's paper: the recovery time that the lack of backup CPU nodes
adds to a coordinator that fails, by number of groups and of backups that they share.
Machines fail according to a trace, and a node is provisioned for each one that is lost.

--trace reads machine events in the format of Google's cluster trace of 2011 (table
machine_events, version 2 of the schema; a file whose name ends with .gz is unpacked). The
trace itself is not part of this program: without --trace it makes a synthetic one, whose
rate, bursts and repairs are assumptions, which you can change. Its numbers can be compared
with the paper's by shape only.

docs/cost.md explains the numbers. The same flags give the same numbers on any machine.

--json prints one object per line: first what was simulated, then the points.`,
		Example: `  verbatim-run bench pool
  verbatim-run bench pool --groups 1000 --backups 0,1,2,3,4,5,6 --burst 1
  verbatim-run bench pool --trace part-00000-of-00001.csv.gz`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fl := c.Flags()
	fl.IntSliceVar(&f.groups, "groups", []int{100, 1000, 3000}, "groups")
	fl.IntSliceVar(&f.backups, "backups", []int{0, 1, 2, 4, 6, 10, 15, 20, 30}, "backup CPU nodes that the groups share")
	fl.IntVar(&f.cfg.F, "f", 1, "failures to tolerate: a group has 2F+1 memory nodes and a coordinator")
	fl.DurationVar(&f.cfg.Provision, "provision", 100*time.Second, "time to provision a node")
	fl.IntVar(&f.cfg.Repeats, "repeats", 50, "simulations of each point, each with nodes on other machines")
	fl.Uint64Var(&f.cfg.Seed, "seed", 1, "seed of the synthetic trace and of the simulations")
	fl.StringVar(&f.trace, "trace", "", "the `file` of a trace")
	fl.IntVar(&f.assumed.Machines, "machines", f.assumed.Machines, "machines of the synthetic trace")
	fl.Float64Var(&f.assumed.Days, "days", f.assumed.Days, "its length")
	fl.Float64Var(&f.assumed.Rate, "rate", f.assumed.Rate, "failures of a machine per day")
	fl.Float64Var(&f.assumed.Bursty, "bursty", f.assumed.Bursty, "share of the failures that come in bursts")
	fl.Float64Var(&f.assumed.Burst, "burst", f.assumed.Burst, "mean number of machines in a burst")
	fl.DurationVar(&f.assumed.Repair, "repair", f.assumed.Repair, "time until a failed machine is back")
	fl.StringVar(&f.plot, "plot", "", "plot figure 8 to this SVG `file`, or to pool.svg in this folder")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	_ = c.MarkFlagFilename("trace", "csv", "gz")
	return c
}

func (f *poolFlags) run(c *cobra.Command) error {
	if len(f.groups) == 0 || len(f.backups) == 0 {
		return fmt.Errorf("--groups and --backups take at least one number")
	}
	out, err := plotFile(f.plot, "pool.svg")
	if err != nil {
		return err
	}
	trace, err := f.read(c)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	line := cli.NewSpinner(c.ErrOrStderr())
	points, err := f.simulate(ctx, trace, line.Show)
	line.Clear()
	if err != nil {
		return err
	}
	if err := drawTo(out, func(w io.Writer) error { return figure.Plot(w, points) }); err != nil {
		return err
	}
	if f.asJSON {
		return poolJSON(c.OutOrStdout(), trace, &f.cfg, points)
	}
	return f.tables(c.OutOrStdout(), trace, points, commandOf(c))
}

// read reads the trace, or makes one.
func (f *poolFlags) read(c *cobra.Command) (*backups.Trace, error) {
	if f.trace == "" {
		f.assumed.Seed = f.cfg.Seed
		return backups.Synthetic(f.assumed)
	}
	for _, name := range synthetic {
		if c.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s applies to the synthetic trace only, not to --trace", name)
		}
	}
	file, err := os.Open(f.trace)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in io.Reader = bufio.NewReader(file)
	if filepath.Ext(f.trace) == ".gz" {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", f.trace, err)
		}
	}
	return backups.Read(in, f.trace)
}

// simulate runs all points, by groups, and for each by backups.
func (f *poolFlags) simulate(ctx context.Context, trace *backups.Trace, show func(string)) ([]backups.Result, error) {
	var out []backups.Result
	for _, f.cfg.Groups = range f.groups {
		for _, f.cfg.Backups = range f.backups {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("interrupted")
			}
			show(fmt.Sprintf("%d groups, %d backups", f.cfg.Groups, f.cfg.Backups))
			r, err := backups.Run(trace, f.cfg)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func poolJSON(w io.Writer, trace *backups.Trace, cfg *backups.Config, points []backups.Result) error {
	enc := cli.Lines(w)
	if err := enc.Encode(map[string]any{"trace": trace.Source, "machines": trace.Machines, "events": len(trace.Events), "ignored": trace.Ignored,
		"f": cfg.F, "provision_seconds": cfg.Provision.Seconds(), "repeats": cfg.Repeats, "seed": cfg.Seed}); err != nil {
		return err
	}
	for i := range points {
		if err := enc.Encode(&points[i]); err != nil {
			return err
		}
	}
	return nil
}

// tables prints the points: a row for each number of groups, a column for each of backups.
func (f *poolFlags) tables(w io.Writer, trace *backups.Trace, points []backups.Result, command string) error {
	head, right := cli.Row{"groups", "faults"}, []int{1, 2}
	for i, b := range f.backups {
		head = append(head, strconv.Itoa(b))
		right = append(right, i+3)
	}
	t := cli.NewTable(head).Right(right...)
	unserved := 0
	var enough []string
	for at := 0; at < len(points); at += len(f.backups) {
		of := points[at : at+len(f.backups)]
		row := cli.Row{of[0].Groups, of[0].Faults / of[0].Repeats}
		for _, p := range of {
			row = append(row, seconds(&p))
			unserved += p.Unserved
		}
		t.AppendRow(row)
		enough = append(enough, enoughFor(of))
	}
	if err := t.Render(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "figure 8: seconds that a fault of a coordinator takes longer, by number of backups: the mean of %d simulations,\nand half of its 95%% interval. Provisioning takes %v. Faults: of coordinators, in a simulation.\n", f.cfg.Repeats, f.cfg.Provision)
	for _, line := range enough {
		fmt.Fprintln(w, line)
	}
	if unserved > 0 {
		fmt.Fprintf(w, "%d groups still waited at the end: no machine was left for their nodes\n", unserved)
	}
	fmt.Fprintf(w, "\ntrace: %s\n", trace.Source)
	if f.trace == "" {
		fmt.Fprintln(w, "It is an assumption: compare the shape with the paper's figure, and not the numbers.")
	} else {
		fmt.Fprintf(w, "%d machines, %d changes, %d rows that change nothing\n", trace.Machines, len(trace.Events), trace.Ignored)
	}
	_, err := fmt.Fprintf(w, "by %s\n", command)
	return err
}

// seconds formats a point for the table.
func seconds(p *backups.Result) string {
	if p.Waits == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f ± %.2f", p.Added, (p.High-p.Low)/2)
}

// enoughFor describes how many of the tried numbers of backups were enough.
func enoughFor(points []backups.Result) string {
	best := -1
	for _, p := range points {
		if p.Waits == 0 && (best < 0 || p.Backups < best) {
			best = p.Backups
		}
	}
	paper := map[int]string{100: "2", 1000: "6", 3000: "20"}[points[0].Groups]
	if paper != "" {
		paper = "; the paper's simulations needed " + paper
	}
	if best < 0 {
		return fmt.Sprintf("%d groups: none of these was enough in all simulations%s", points[0].Groups, paper)
	}
	return strings.Replace(fmt.Sprintf("%d groups: %d backups were enough in all simulations%s", points[0].Groups, best, paper), " 1 backups were", " 1 backup was", 1)
}
