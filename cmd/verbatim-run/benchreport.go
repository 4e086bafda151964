package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

// printRows writes the table of a bench, and an explanation of its columns.
func printRows(w io.Writer, rows []bench.Row) error {
	first := &rows[0]
	head := cli.Row{"op", "measured", "bytes", "depth", "batch", "p50 µs", "p90", "p99", "p99.9", "ops/s", "MB/s", "allocs/op", "perftest", "ratio"}
	right := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	if first.Backend == bench.Sim {
		head, right = cli.Row{"op", "bytes", "depth", "simulated/s", "allocs/op"}, []int{2, 3, 4, 5}
	}
	t := cli.NewTable(head).Right(right...)
	for i := range rows {
		x := &rows[i]
		if first.Backend == bench.Sim {
			t.AppendRow(cli.Row{x.Op, x.Size, x.Depth, fmt.Sprintf("%.0f", x.OpsPerSecond), allocs(x)})
			continue
		}
		theirs, ratio := compared(x)
		batch, p50, p90, p99, p999 := "", "", "", "", ""
		if x.Batch > 0 {
			batch = strconv.Itoa(x.Batch)
		}
		if l := x.Latency; l != nil {
			p50, p90, p99, p999 = micros(l.P50), micros(l.P90), micros(l.P99), micros(l.P999)
		}
		t.AppendRow(cli.Row{x.Op, x.Measure, x.Size, x.Depth, batch, p50, p90, p99, p999,
			fmt.Sprintf("%.0f", x.OpsPerSecond), fmt.Sprintf("%.1f", x.BytesPerSecond/1e6), allocs(x), theirs, ratio})
	}
	if err := t.Render(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(benchNotes(rows), "\n"))
	return err
}

// benchNotes returns the lines below the table.
func benchNotes(rows []bench.Row) []string {
	x := &rows[0]
	var total uint64
	ops := 0
	var missing []string
	compared, measured, rated := false, false, false
	for i := range rows {
		r := &rows[i]
		total += r.Allocs
		ops += r.Iters * r.Rounds
		compared = compared || r.Perftest != nil
		measured = measured || r.Measure == bench.HalfRoundTrip
		rated = rated || r.Measure == bench.Rate
		if r.Missing != "" && !slices.Contains(missing, "not compared: "+r.Missing) {
			missing = append(missing, "not compared: "+r.Missing)
		}
	}
	notes := []string{fmt.Sprintf("%d rounds of %d iterations; completions by %s; %d allocations in %d operations", x.Rounds, x.Iters,
		x.Reap, total, ops)}
	if x.Backend == bench.Sim {
		return append(notes, "simulated/s is how many operations the simulator carries out in a second of this machine, set-up of runs",
			"not counted. There are no latencies: time in the simulator is not real.")
	}
	notes = append(notes, fmt.Sprintf("MTU %d; MB/s are 10^6 bytes of payload", x.MTU))
	if measured {
		notes = append(notes, "half-round-trip: half of the time of a message and its answer; ops/s counts the messages of this side")
	}
	if rated {
		notes = append(notes, "rate: batch requests in a call, the last one signaled; perftest's column is its ops/s, and a ratio above 1 is in our favour")
	}
	if compared {
		notes = append(notes, "ratio: our median, or rate, divided by perftest's in the neighbouring round: the median over the rounds, with its confidence interval (from 6 rounds on)")
	}
	return append(notes, missing...)
}

// compared is perftest's median of latencies or rates, and the ratio with its interval.
func compared(x *bench.Row) (theirs, ratio string) {
	p := x.Perftest
	if p == nil {
		return "", ""
	}
	theirs = micros(p.Median)
	if x.Measure == bench.Rate {
		theirs = fmt.Sprintf("%.0f", p.Median)
	}
	if p.Confidence == 0 {
		return theirs, fmt.Sprintf("%.3f (no interval)", p.Ratio)
	}
	return theirs, fmt.Sprintf("%.3f [%.3f, %.3f] %.0f%%", p.Ratio, p.Low, p.High, 100*p.Confidence)
}

func micros(v float64) string { return fmt.Sprintf("%.2f", v) }

func allocs(x *bench.Row) string {
	if x.Allocs == 0 {
		return "0"
	}
	return fmt.Sprintf("%.4f", x.AllocsPerOp)
}
