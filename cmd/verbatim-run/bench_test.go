package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

func TestBenchStatus(t *testing.T) {
	for _, x := range []usage{
		{"bench", 0, "bench verbs", ""},
		{"bench vebrs", 2, "", "unknown command"},
		{"bench verbs --iters 20 --rounds 1", 0, "time in the simulator is not real", ""},
		{"bench verbs --iters 20 --rounds 1 --op cas --size 4096", 0, " cas │     8 │     1 │", ""},
		{"bench ncl --size 64 --rounds 1", 0, " record │    64 │     1 │", ""},
		{"bench verbs --op raed", 2, "", "did you mean read?"},
		{"bench verbs --backend rmda", 2, "", "did you mean rdma?"},
		{"bench verbs --size 0", 2, "", "size is 0; it must be 1 to"},
		{"bench verbs --size many", 2, "", "--help"},
		{"bench verbs --depth 5000", 2, "", "depth is 5000"},
		{"bench verbs --iters 4", 2, "", "iterations is 4"},
		{"bench verbs --device rxe0", 2, "", "--device needs --backend rdma"},
		{"bench verbs --backend rdma --inline 0", 2, "", "use -1 for none"},
		{"bench verbs --backend rdma --peer a:1 --peer-device rxe0", 2, "", "peer-device"},
		{"bench ncl --backend rdma --peer a:1", 2, "", "1 peers; want 3"},
		{"bench ncl --op write", 2, "", "--help"},
		{"bench paper", 0, "table 3      │ catch up", "measuring figure 8"},
		{"bench paper --json", 0, `"of":"figure 8"`, "measuring figure 8"},
		{"bench paper extra", 2, "", "extra"},
		{"bench cost", 0, " Sift EC + shared  │   0.649 │   0.653 │   0.437 │   0.439", ""},
		{"bench cost --groups 200 --backups 4", 0, "by verbatim-run bench cost --backups 4 --groups 200\n", ""},
		{"bench cost --price a=1,0 --price b=0,1 --f 9", 0, "by verbatim-run bench cost --f 9 --price a=1,0 --price b=0,1\n", ""},
		{"bench cost --json", 0, `"relative":0.64`, ""},
		{"bench cost --price x", 2, "", "want name=core,GB"},
		{"bench cost --price a=1", 2, "", "want name=core,GB"},
		{"bench cost --price =1,2", 2, "", "want name=core,GB"},
		{"bench cost --price a=1,2 --price a=2,1", 2, "", "a has a price already"},
		{"bench cost --price a=NaN,1", 2, "", "the price a of NaN"},
		{"bench cost --f 0", 2, "", "F is 0; it must be 1 to 100"},
		{"bench cost --groups 0", 2, "", "0 groups"},
		{"bench cost --state 1", 2, "", "a state of 1 GB"},
		{"bench cost --plot x.png", 2, "", "only SVG is supported"},
		{"bench cost extra", 2, "", "extra"},
		{"bench peer extra", 2, "", "extra"},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

// Without the tag the command explains how to build it.
func TestBenchNotBuilt(t *testing.T) {
	if bench.Built {
		t.Skip("this program was built with the tag rdma")
	}
	for _, args := range []string{"bench verbs --backend rdma", "bench ncl --backend rdma", "bench apps --backend rdma", "bench peer --listen 127.0.0.1:0"} {
		code, _, stderr := command.Call(strings.Fields(args)...)
		if code != cli.Bad || !strings.Contains(stderr, "go build -tags rdma") {
			t.Errorf("%s: status %d: %s", args, code, stderr)
		}
	}
}

func TestBenchJSON(t *testing.T) {
	code, stdout, stderr := command.Call(strings.Fields("bench verbs --json --iters 20 --rounds 2 --op write --size 8,128")...)
	found := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(found) != 2 {
		t.Fatalf("status %d:\n%s%s", code, stdout, stderr)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(found[1]), &got); err != nil {
		t.Fatal(err)
	}
	if got["latency_us"] != nil || got["perftest"] != nil || got["size"] != 128.0 || got["ops_per_second"].(float64) <= 0 {
		t.Errorf("got %v", got)
	}
}

// A table of a run on cards has these lines, and no invented ones.
func TestBenchTable(t *testing.T) {
	l := &bench.Latency{Min: 1, P50: 2, P90: 3, P99: 4, P999: 5, Max: 6, Mean: 2}
	r := bench.Row{Bench: "verbs", Backend: bench.RDMA, Op: "write", Measure: bench.HalfRoundTrip, Size: 128, Depth: 1, Iters: 1000, Rounds: 10,
		Reap: "poll", MTU: 4096, Latency: l, OpsPerSecond: 1e5, BytesPerSecond: 1.28e7,
		Perftest: &bench.Comparison{Tool: "ib_write_lat", Median: 1.9, Ratio: 1.05, Low: 1.01, High: 1.09, Confidence: 0.978}}
	few, without := r, r
	few.Perftest = &bench.Comparison{Median: 1.9, Ratio: 1.05}
	without.Perftest, without.Missing, without.Allocs, without.AllocsPerOp = nil, "no perftest here", 5000, 0.5
	rate := r
	rate.Measure, rate.Latency, rate.Depth, rate.Batch = bench.Rate, nil, 64, 16
	rate.Perftest = &bench.Comparison{Tool: "ib_write_bw", Median: 105263, Ratio: 0.95}
	var b strings.Builder
	if err := printRows(&b, []bench.Row{r, few, without, rate}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"half-round-trip", "2.00", "1.050 [1.010, 1.090] 98%", "1.050 (no interval)", "not compared: no perftest here",
		"0.5000", "5000 allocations in 40000 operations", "12.8", "105263", "0.950 (no interval)", "in our favour"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
}
