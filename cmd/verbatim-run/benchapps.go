package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/apps"
	"github.com/verbatim-rdma/verbatim/bench/ycsb"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/internal/whole"
)

// appsFlags are the flags of bench apps.
type appsFlags struct {
	benchFlags
	cfg  apps.Config // its Config is that of benchFlags
	plot string
}

func newBenchApps() *cobra.Command {
	f := &appsFlags{}
	c := &cobra.Command{
		Use:   "apps",
		Short: "Measure what NCL costs applications, compared with fsync and with no fsync",
		Long: `Apps measures appending to a log file, and YCSB A to F on Pebble and SQLite with keys of
24 and values of 100 bytes, in three modes that take turns: strong (everything in --dir,
with an fsync for each write), weak (the same without fsync, so a crash loses
acknowledged writes) and ncl (the log on three log peers at f=1, everything else in
--dir).

All three execute the same operations, which --seed determines. The table has the median
time of an operation, and ratios of adjacent rounds with their confidence intervals
(from 6 rounds on). Report the ratios; the times depend on this machine, and strong on
the cost of an fsync in --dir: the last line names its file system.

With --backend rdma it runs on cards, and starts the peers as bench ncl does. With
--backend sim, the default, NCL's peers are simulated and it has no times: such a run
shows that everything works, and the cost of fsync here.

--json prints one object per line, the machine first. Exit status: 0 measured, 2 bad
usage or input, or something failed; rows printed before the failure are valid.`,
		Example: `  verbatim-run bench apps --dir /data
  verbatim-run bench apps --backend rdma --device rxe0 --peer-device rxe1,rxe2,rxe3 --dir /disk --plot apps.svg
  verbatim-run bench apps --app sqlite --workload A,F --records 10000 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.machine(c)
	o, fl := &f.cfg, c.Flags()
	fl.StringVar(&o.Dir, "dir", "", "the `directory` for everything that is not on the peers; default: a temporary one")
	fl.StringSliceVar(&o.Apps, "app", apps.Apps, "applications")
	fl.StringSliceVar(&o.Workloads, "workload", ycsb.Names(), "YCSB workloads")
	fl.IntSliceVar(&o.Sizes, "size", []int{128, 512, 1024, 2048, 4096, 8192}, "bytes of a write to the log file")
	fl.IntVar(&o.Records, "records", 1000, "initial records of a database")
	fl.IntVar(&o.Ops, "ops", 200, "operations per round and mode")
	fl.IntVar(&o.Rounds, "rounds", 10, "rounds")
	fl.Uint64Var(&o.Seed, "seed", 1, "seed of the operations")
	fl.StringVar(&f.plot, "plot", "", "plot the ratios to this SVG `file`, or to apps.svg in this folder")
	completes(c, "app", apps.Apps)
	completes(c, "workload", ycsb.Names())
	return c
}

func (f *appsFlags) run(c *cobra.Command) error {
	if err := f.check(c); err != nil {
		return err
	}
	out, err := plotFile(f.plot, "apps.svg")
	if err != nil {
		return err
	}
	f.benchFlags.cfg.Pin = false // a database has its own threads
	machine := apps.Describe(f.cfg.Dir)
	if f.asJSON {
		if err := cli.Lines(c.OutOrStdout()).Encode(machine); err != nil {
			return err
		}
	}
	var rows []apps.Row
	err = f.measuring(c, func(ctx context.Context, clear func()) error {
		f.cfg.Config = f.benchFlags.cfg
		return apps.Run(ctx, f.cfg, func(r apps.Row) error {
			rows = append(rows, r)
			if !f.asJSON {
				return nil
			}
			clear()
			return cli.Lines(c.OutOrStdout()).Encode(r)
		})
	})
	if !f.asJSON && len(rows) > 0 {
		err = errors.Join(err, printApps(c.OutOrStdout(), rows, &machine))
	}
	if err == nil {
		err = drawTo(out, func(w io.Writer) error { return apps.Plot(w, rows) })
	}
	return err
}

// check reports errors for which it has a better message than the packages.
func (f *appsFlags) check(c *cobra.Command) error {
	if err := f.benchFlags.check(c); err != nil {
		return err
	}
	for _, x := range []struct {
		flag         string
		given, there []string
	}{{"app", f.cfg.Apps, apps.Apps}, {"workload", f.cfg.Workloads, ycsb.Names()}} {
		for _, name := range x.given {
			if !slices.Contains(x.there, name) {
				return fmt.Errorf("--%s %s: known: %s%s", x.flag, name, cli.List(x.there), mistake.DidYouMean(name, x.there))
			}
		}
	}
	for _, x := range []struct {
		flag string
		v    int
	}{{"records", f.cfg.Records}, {"ops", f.cfg.Ops}, {"rounds", f.cfg.Rounds}} {
		if x.v == 0 { // the package would use the default
			return fmt.Errorf("--%s 0: it must be at least 1", x.flag)
		}
	}
	return nil
}

// plotFile returns the file of --plot, with a default name in a folder. It checks before the
// measurement that the file can be written.
func plotFile(plot, within string) (string, error) {
	if plot == "" {
		return "", nil
	}
	name := plot
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		name = filepath.Join(name, within)
	}
	if strings.ToLower(filepath.Ext(name)) != ".svg" {
		return "", fmt.Errorf("--plot %s: only SVG is supported: name a file that ends in .svg, or a folder", plot)
	}
	_, missing := os.Stat(name)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return "", fmt.Errorf("--plot: %w", err)
	}
	err = file.Close()
	if errors.Is(missing, fs.ErrNotExist) { // a failed measurement must leave no empty file
		err = errors.Join(err, os.Remove(name))
	}
	return name, err
}

// drawTo draws to a file, unless it has no name.
func drawTo(name string, plot func(w io.Writer) error) error {
	if name == "" {
		return nil
	}
	if err := whole.Write(name, plot); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}

// printApps writes the table, and below it the conditions of the measurement.
func printApps(w io.Writer, rows []apps.Row, m *apps.Machine) error {
	t := cli.NewTable(cli.Row{"app", "what", "strong µs", "weak µs", "ncl µs", "strong / weak", "strong / ncl", "ncl / weak"}).Right(3, 4, 5, 6, 7, 8)
	for i := range rows {
		r := &rows[i]
		t.AppendRow(cli.Row{r.App, r.What, appTime(r.Strong), appTime(r.Weak), appTime(r.NCL), appRatio(r.StrongByWeak),
			appRatio(r.StrongByNCL), appRatio(r.NCLByWeak)})
	}
	if err := t.Render(w); err != nil {
		return err
	}
	first := &rows[0]
	fmt.Fprintf(w, "\n%d rounds of %d operations, seed %d; µs are medians of the rounds' means, ratios are between adjacent rounds\n",
		first.Rounds, first.Ops, first.Seed)
	if first.Backend == bench.Sim {
		fmt.Fprintln(w, "NCL ran on simulated cards, which have no real time")
	}
	_, err := fmt.Fprintln(w, m)
	return err
}

func appTime(t *apps.Times) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%.1f", t.Median)
}

func appRatio(r *bench.Ratio) string {
	switch {
	case r == nil:
		return ""
	case r.Confidence == 0:
		return fmt.Sprintf("%.2f", r.Median)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", r.Median, r.Low, r.High)
}
