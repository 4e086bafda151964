package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/bench/cost"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/protocol/raftr"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// newBenchCost returns the command that prints the costs of Sift and Raft-R.
func newBenchCost() *cobra.Command {
	in, asJSON, plot := cost.Paper(), false, ""
	var prices []string
	c := &cobra.Command{
		Use:   "cost",
		Short: "Compute what Sift and Raft-R cost in a cloud, and on the network",
		Long: `Cost prints table 2 and figures 9 and 10 of Sift's paper: the machines of a group, and
what they cost by the hour relative to Raft-R. They are arithmetic: cores and prices are the
paper's, the rest follows. Below is what a put costs on the network: by arithmetic for the
paper's sizes, and as counted while protocol/sift runs in the simulator.

docs/cost.md explains the numbers. They do not depend on this machine.

--json prints one object per line: first the input, then the cells, then the puts.`,
		Example: `  verbatim-run bench cost
  verbatim-run bench cost --price mine=0.04,0.005 --groups 1000 --backups 6
  verbatim-run bench cost --f 1,2,3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			out, err := plotFile(plot, "cost.svg")
			if err != nil {
				return err
			}
			if len(prices) > 0 {
				if in.Prices, err = parsePrices(prices); err != nil {
					return err
				}
			}
			cells, err := cost.Compute(in)
			if err != nil {
				return err
			}
			puts, err := allPuts(in.F)
			if err != nil {
				return err
			}
			if err := drawTo(out, func(w io.Writer) error { return cost.Plot(w, cells) }); err != nil {
				return err
			}
			if asJSON {
				return costJSON(c.OutOrStdout(), &in, cells, puts)
			}
			return costTables(c.OutOrStdout(), &in, cells, puts, commandOf(c))
		},
	}
	f := c.Flags()
	f.StringArrayVar(&prices, "price", nil, "`name=core,GB` in dollars an hour, repeated; default: the paper's, aws=0.033,0.00275 and gcp=0.033,0.00445")
	f.IntSliceVar(&in.F, "f", in.F, "failures to tolerate")
	f.IntVar(&in.Groups, "groups", in.Groups, "groups that share the backup CPU nodes")
	f.IntVar(&in.Backups, "backups", in.Backups, "backup CPU nodes that the groups share")
	f.IntVar(&in.State, "state", in.State, "gigabytes of a replica of the state; a CPU node caches half")
	f.StringVar(&plot, "plot", "", "plot figures 9 and 10 to this SVG `file`, or to cost.svg in this folder")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// commandOf returns the command line that reproduces the output of c.
func commandOf(c *cobra.Command) string {
	words := []string{c.CommandPath()}
	c.Flags().Visit(func(f *pflag.Flag) {
		v := f.Value.String()
		if s, ok := f.Value.(pflag.SliceValue); ok {
			if f.Value.Type() == "stringArray" {
				for _, one := range s.GetSlice() {
					words = append(words, "--"+f.Name+" "+one)
				}
				return
			}
			v = strings.Join(s.GetSlice(), ",")
		}
		words = append(words, "--"+f.Name+" "+v)
	})
	return strings.Join(words, " ")
}

// parsePrices parses the prices of the flag.
func parsePrices(texts []string) ([]cost.Price, error) {
	var out []cost.Price
	for _, text := range texts {
		name, numbers, ok := strings.Cut(text, "=")
		core, gb, ok2 := strings.Cut(numbers, ",")
		p := cost.Price{Name: name}
		var err, err2 error
		p.Core, err = strconv.ParseFloat(core, 64)
		p.GB, err2 = strconv.ParseFloat(gb, 64)
		switch {
		case !ok || !ok2 || name == "" || err != nil || err2 != nil:
			return nil, fmt.Errorf("--price %s: want name=core,GB, such as aws=0.033,0.00275", text)
		case slices.ContainsFunc(out, func(o cost.Price) bool { return o.Name == name }):
			return nil, fmt.Errorf("--price %s: %s has a price already", text, name)
		}
		out = append(out, p)
	}
	return out, nil
}

// allPuts returns the puts by arithmetic and as counted. The protocols tolerate up to seven failures.
func allPuts(fs []int) ([]cost.Put, error) {
	var out []cost.Put
	for _, f := range fs {
		out = append(out, cost.Puts(f, cost.PaperSizes())...)
		if f > min(sift.MaxF, raftr.MaxF) {
			continue
		}
		for _, count := range []func() (cost.Put, error){
			func() (cost.Put, error) { return cost.Count(f, false, cost.PaperSizes()) },
			func() (cost.Put, error) { return cost.Count(f, true, cost.PaperSizes()) },
			func() (cost.Put, error) { return cost.CountRaftR(f) },
			func() (cost.Put, error) { return cost.CountStore(f, false) },
			func() (cost.Put, error) { return cost.CountStore(f, true) },
		} {
			p, err := count()
			if err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	return out, nil
}

func costJSON(w io.Writer, in *cost.Input, cells []cost.Cell, puts []cost.Put) error {
	enc := cli.Lines(w)
	if err := enc.Encode(in); err != nil {
		return err
	}
	for i := range cells {
		if err := enc.Encode(&cells[i]); err != nil {
			return err
		}
	}
	for i := range puts {
		if err := enc.Encode(&puts[i]); err != nil {
			return err
		}
	}
	return nil
}

func costTables(w io.Writer, in *cost.Input, cells []cost.Cell, puts []cost.Put, command string) error {
	if err := machinesTable(cells).Render(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "table 2: cores are the paper's, measured for equal throughput; memory follows from a state of %d GB;\nshared: %d groups and %d backup CPU nodes\n\n",
		in.State, in.Groups, in.Backups)
	if err := figuresTable(in, cells).Render(w); err != nil {
		return err
	}
	fmt.Fprintln(w, "figures 9 and 10: costs relative to Raft-R")
	for _, p := range in.Prices {
		fmt.Fprintf(w, "%s: %v $ for a core and %v $ for a GB of memory, an hour\n", p.Name, p.Core, p.GB)
	}
	fmt.Fprintln(w)
	t := cli.NewTable(cli.Row{"a put in", "F", "messages", "bytes", "puts/s on 10 Gb/s", "how we know"}).Right(2, 3, 4, 5)
	for _, p := range puts {
		t.AppendRow(cli.Row{p.System, p.F, p.Requests, p.Bytes, p.Most, p.Source})
	}
	if err := t.Render(w); err != nil {
		return err
	}
	fmt.Fprintln(w, "messages: with data, at the coordinator or leader; bytes: payload that it sends, without headers")
	for _, f := range in.F {
		fmt.Fprintf(w, "a backup that watches %d groups with F=%d posts %.0f Reads of 8 bytes a second, one every %v to each memory node\n", in.Groups, f, cost.Watched(in.Groups, f), cost.Period)
	}
	_, err := fmt.Fprintf(w, "\nby %s\n", command)
	return err
}

// machinesTable is table 2. Machines do not depend on the price.
func machinesTable(cells []cost.Cell) *cli.Table {
	t := cli.NewTable(cli.Row{"system", "F", "nodes of a group", "", "cores", "GB"}).Right(2, 3, 5, 6)
	for _, c := range cells {
		if c.Price != cells[0].Price {
			continue
		}
		for _, n := range c.Nodes {
			t.AppendRow(cli.Row{c.System, c.F, n.Number, n.Role, n.Machine.Cores, n.Machine.GB})
		}
	}
	return t
}

// figuresTable is figures 9 and 10: a row for each system, a column for each F and price.
func figuresTable(in *cost.Input, cells []cost.Cell) *cli.Table {
	columns := len(in.F) * len(in.Prices)
	head, hours := cli.Row{""}, cli.Row{cells[0].System + ", $ an hour"}
	var right []int
	for i, c := range cells[:columns] {
		head = append(head, fmt.Sprintf("F=%d %s", c.F, c.Price))
		hours = append(hours, fmt.Sprintf("%.4f", c.Hour))
		right = append(right, i+2)
	}
	t := cli.NewTable(head).Right(right...)
	t.AppendRow(hours)
	for at := columns; at < len(cells); at += columns {
		row := cli.Row{cells[at].System}
		for i := range cells[at : at+columns] {
			row = append(row, cells[at+i].Thousandths())
		}
		t.AppendRow(row)
	}
	return t
}
