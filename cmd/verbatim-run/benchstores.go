package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/bench/stores"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// storesFlags are the flags of bench stores.
type storesFlags struct {
	cfg    stores.Config
	device string
	asJSON bool
}

func newBenchStores() *cobra.Command {
	f := &storesFlags{}
	c := &cobra.Command{
		Use:   "stores",
		Short: "Compare the stores of Sift, Sift with erasure codes, and Raft-R",
		Long: `Stores runs a group of each system in this process, each node with a device of its own,
and lets clients execute the workloads of YCSB on them, with keys of 24 and values of 100
bytes. In each round every system executes the same operations, and they take turns in
going first. The ratio compares the rates of a system with those of the first one, round
by round; from 6 rounds on it has a confidence interval.

Report the ratios: all nodes share the processors of this machine, and devices of
software (the default) are slow. Sift reads and writes the memory of other nodes, which a
card does without their processor; here that costs a processor too. Clients send Sift's
nodes messages over the devices, and Raft-R's over the hosts' own network.

--json prints one object per line for each row. Exit status: 0 measured, 2 bad usage or
input, or something failed, 3 interrupted; rows printed before are valid.`,
		Example: `  verbatim-run bench stores
  verbatim-run bench stores --workloads A,B,C,D,F --f 2 --clients 16
  verbatim-run bench stores --systems raftr,sift --device mlx5_0 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	o, fl := &f.cfg, c.Flags()
	fl.StringSliceVar(&o.Systems, "systems", stores.Systems, "systems; the others are compared with the first")
	fl.StringSliceVar(&o.Workloads, "workloads", []string{"A", "B", "C"}, "workloads of YCSB: A, B, C, D, F")
	fl.IntVar(&o.F, "f", 1, "failures to tolerate")
	fl.IntVar(&o.Records, "records", 1000, "records that are loaded")
	fl.IntVar(&o.Operations, "operations", 2000, "operations of a round, of all clients together")
	fl.IntVar(&o.Rounds, "rounds", 10, "rounds of each workload")
	fl.IntVar(&o.Clients, "clients", 4, "clients at a time")
	fl.Uint64Var(&o.Seed, "seed", 1, "seed of the operations")
	fl.StringVar(&f.device, "device", "", "the card of all nodes, or soft for software devices; default: the only card, or soft if there is none")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	fl.SortFlags = false
	return c
}

func (f *storesFlags) run(c *cobra.Command) error {
	for _, x := range []struct {
		flag  string
		given int
	}{{"f", f.cfg.F}, {"records", f.cfg.Records}, {"operations", f.cfg.Operations}, {"rounds", f.cfg.Rounds}, {"clients", f.cfg.Clients}} {
		if x.given == 0 { // the package would use the default
			return fmt.Errorf("--%s 0: it must be at least 1", x.flag)
		}
	}
	card := cardFlags{ackTimeout: defaultAck}
	card.cfg.Device, card.cfg.Port = f.device, 1
	said := false // the message that there is no card is printed once
	f.cfg.Open = func() (verbs.Device, error) {
		return card.open("127.0.0.1:0", func(format string, args ...any) {
			if !said {
				said = true
				fmt.Fprintf(c.ErrOrStderr(), "verbatim-run: "+format+"\n", args...)
			}
		})
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	out := c.OutOrStdout()
	if f.asJSON {
		lines := cli.Lines(out)
		f.cfg.Done = func(r stores.Row) error { return lines.Encode(r) }
		_, err := stores.Run(ctx, f.cfg)
		return err
	}
	rows, err := stores.Run(ctx, f.cfg)
	if len(rows) > 0 {
		if err := storesTable(rows).Render(out); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nmedians of %s of %s by %s; ratio: to %s in the same round\nby: %s\n", number.Of(f.cfg.Rounds, "round"),
			number.Of(f.cfg.Operations, "operation"), number.Of(f.cfg.Clients, "client"), f.cfg.Systems[0], commandOf(c))
	}
	return err
}

func storesTable(rows []stores.Row) *cli.Table {
	t := cli.NewTable(cli.Row{"workload", "system", "operations/s", "median µs", "99 % µs", "ratio"}).Right(3, 4, 5, 6)
	for i := range rows {
		r := &rows[i]
		t.AppendRow(cli.Row{r.Workload, r.System, number.Commas(uint64(r.Rate)), fmt.Sprintf("%.0f", r.P50), fmt.Sprintf("%.0f", r.P99), appRatio(&r.Ratio)})
	}
	return t
}
