package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// benchFlags are the flags of the commands bench verbs and bench ncl.
type benchFlags struct {
	cfg         bench.Config
	peerDevices []string
	noPin       bool
	asJSON      bool
}

// newBench returns the command that measures.
func newBench() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure latency, throughput and allocations on cards and in the simulator",
		Long: `Bench measures single requests (bench verbs), NCL's Record (bench ncl), and what NCL
costs applications compared with fsync (bench apps).

With --backend rdma it runs on cards, Soft-RoCE included, and needs a program built with
-tags rdma. The other side is a separate process: this program starts it, on
--peer-device, or you start it on another machine, with bench peer. With --backend sim,
the default, it measures the speed of the simulator; there are no latencies, because its
time is not real. Bench paper adds a clock, to compare the numbers of SplitFT's paper
with our code on a model of its cluster. Bench cost and bench pool compute what Sift costs,
and bench stores measures its key-value store beside others.

docs/benchmarks.md explains how it measures, and the limits of the numbers.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBenchVerbs(), newBenchNCL(), newBenchApps(), newBenchPaper(), newBenchCost(), newBenchPool(), newBenchStores(), newBenchPeer())
	return c
}

func newBenchVerbs() *cobra.Command {
	f := &benchFlags{}
	c := &cobra.Command{
		Use:   "verbs",
		Short: "Measure writes, reads, compare-and-swaps and sends",
		Long: `Verbs measures requests by operation, size, and number in flight: latencies, and for
writes and reads also rates, of requests posted one at a time or in batches (--batch). A
write has two latencies: half of a round trip, observed by polling memory, as ib_write_lat
measures it; and from post to completion. Sends have the former, as by ib_send_lat, and
reads and compare-and-swaps (always 8 bytes) the latter, as by ib_read_lat and
ib_atomic_lat. Rates are those of ib_write_bw and ib_read_bw. If perftest is installed,
its tools run on the same devices, in short rounds that alternate with ours, and the last
columns have their median and the ratio of ours to theirs, with a confidence interval.

--json prints one object per line for each row. Exit status: 0 measured, 2 bad usage or
input, or something failed; rows printed before the failure are valid.`,
		Example: `  verbatim-run bench verbs
  verbatim-run bench verbs --backend rdma --device rxe1 --peer-device rxe0 --rounds 20
  verbatim-run bench verbs --backend rdma --op write --size 128,4096 --depth 1,16 --json
  verbatim-run bench verbs --backend rdma --op write,read --measure rate --depth 1,16,64 --batch 1,16
  verbatim-run bench verbs --backend rdma --device mlx5_0 --peer server:18600`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, bench.Verbs) },
	}
	f.common(c)
	o, fl := &f.cfg, c.Flags()
	fl.StringSliceVar(&o.Ops, "op", bench.Ops, "operations")
	fl.StringSliceVar(&o.Measures, "measure", bench.Measures, "what to measure on cards")
	fl.IntSliceVar(&o.Depths, "depth", []int{1}, "requests in flight")
	fl.IntSliceVar(&o.Batches, "batch", []int{1}, "requests in a call, for rates; not where it exceeds the depth")
	fl.IntVar(&o.Inline, "inline", bench.DefaultInline, "post payloads up to this many bytes inline; -1: none")
	fl.BoolVar(&o.Wait, "wait", false, "reap completions with Wait, as protocols do, instead of polling; without perftest, which only polls")
	fl.BoolVar(&o.NoPerftest, "no-perftest", false, "do not run perftest")
	fl.BoolVar(&f.noPin, "no-pin", false, "do not pin polling threads to processors")
	fl.IntSliceVar(&o.Sizes, "size", []int{128}, "bytes of a message")
	completes(c, "op", bench.Ops)
	completes(c, "measure", bench.Measures)
	return c
}

func newBenchNCL() *cobra.Command {
	f := &benchFlags{}
	c := &cobra.Command{
		Use:   "ncl",
		Short: "Measure NCL's Record with three peers",
		Long: `Ncl measures File.Record, one call after the other, at f=1: a call returns when two of
three peers have the write. --json prints one object per line for each size.`,
		Example: `  verbatim-run bench ncl --size 128,1024
  verbatim-run bench ncl --backend rdma --device rxe0 --peer-device rxe1,rxe2,rxe3
  verbatim-run bench ncl --backend rdma --peer a:18600 --peer b:18600 --peer c:18600`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, bench.NCL) },
	}
	f.common(c)
	c.Flags().IntSliceVar(&f.cfg.Sizes, "size", []int{128, 512, 1024, 2048, 4096, 8192}, "bytes of a write")
	return c
}

// common are the flags of verbs and ncl.
func (f *benchFlags) common(c *cobra.Command) {
	f.machine(c)
	fl := c.Flags()
	fl.IntVar(&f.cfg.Iters, "iters", 0, "iterations of a round; 0: 1000, or 16 for ncl in the simulator")
	fl.IntVar(&f.cfg.Rounds, "rounds", 0, "rounds; 0: 10")
}

// machine defines the flags for the backend and the output.
func (f *benchFlags) machine(c *cobra.Command) {
	o, fl := &f.cfg, c.Flags()
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each row")
	fl.StringVar(&o.Backend, "backend", bench.Sim, "sim or rdma")
	fl.StringVar(&o.Device, "device", "", "this side's `card`; default: the only one")
	fl.StringSliceVar(&f.peerDevices, "peer-device", nil, "the other side's `card`, or one for each peer; default: as --device")
	fl.StringArrayVar(&o.Peers, "peer", nil, "`host:port` of a bench peer on the other side; once for verbs, else three times")
	fl.IntVar(&o.MTU, "mtu", 0, "MTU of the path; 0: the port's")
	fl.DurationVar(&o.Spin, "spin", 0, "how long a wait polls before it sleeps; 0: 20µs")
	c.MarkFlagsMutuallyExclusive("peer", "peer-device")
	completes(c, "backend", bench.Backends)
	for _, name := range []string{"device", "peer-device"} {
		completes(c, name, bench.Devices())
	}
}

func completes(c *cobra.Command, flag string, values []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// run measures and prints.
func (f *benchFlags) run(c *cobra.Command, measure func(context.Context, bench.Config, func(bench.Row) error) error) error {
	if err := f.check(c); err != nil {
		return err
	}
	f.cfg.Pin = !f.noPin && len(f.cfg.Peers) == 0
	var rows []bench.Row
	err := f.measuring(c, func(ctx context.Context, clear func()) error {
		return measure(ctx, f.cfg, func(r bench.Row) error {
			clear()
			if f.asJSON {
				return cli.Lines(c.OutOrStdout()).Encode(r)
			}
			rows = append(rows, r)
			return nil
		})
	})
	if !f.asJSON && len(rows) > 0 {
		if err := printRows(c.OutOrStdout(), rows); err != nil {
			return err
		}
	}
	return err
}

// measuring calls measure with the parts of the command that it needs: a context that a signal
// cancels, progress and peers. measure must call clear before it prints.
func (f *benchFlags) measuring(c *cobra.Command, measure func(ctx context.Context, clear func()) error) error {
	ctx, stop := cli.Interruptible(c)
	defer stop()
	started := 0
	f.cfg.StartPeer = func(ctx context.Context, name string) (string, func() error, error) {
		device := f.cfg.Device
		if n := len(f.peerDevices); n > 0 {
			device = f.peerDevices[min(started, n-1)]
		}
		started++
		return f.startPeer(ctx, name, device)
	}
	line := cli.NewSpinner(c.ErrOrStderr())
	f.cfg.Progress = line.Show
	err := measure(ctx, line.Clear)
	line.Clear()
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted")
	}
	return err
}

// check reports errors for which it has a better message than the package.
func (f *benchFlags) check(c *cobra.Command) error {
	o := &f.cfg
	if !slices.Contains(bench.Backends, o.Backend) {
		return fmt.Errorf("--backend %s: known: %s%s", o.Backend, cli.List(bench.Backends), mistake.DidYouMean(o.Backend, bench.Backends))
	}
	for _, op := range o.Ops {
		if !slices.Contains(bench.Ops, op) {
			return fmt.Errorf("--op %s: known: %s%s", op, cli.List(bench.Ops), mistake.DidYouMean(op, bench.Ops))
		}
	}
	for _, m := range o.Measures {
		if !slices.Contains(bench.Measures, m) {
			return fmt.Errorf("--measure %s: known: %s%s", m, cli.List(bench.Measures), mistake.DidYouMean(m, bench.Measures))
		}
	}
	if o.Inline == 0 && c.Flags().Changed("inline") {
		return fmt.Errorf("--inline 0: use -1 for none")
	}
	if o.Backend == bench.Sim {
		for _, name := range []string{"device", "peer-device", "peer", "mtu", "spin", "wait", "no-perftest", "no-pin", "measure", "batch"} {
			if c.Flags().Changed(name) {
				return fmt.Errorf("--%s needs --backend rdma: the simulator has no cards", name)
			}
		}
	}
	return nil
}
