package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/bench/apps"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

func TestBenchAppsStatus(t *testing.T) {
	tiny := "bench apps --records 50 --ops 5 --rounds 1 --size 128 --workload A --dir " + t.TempDir() + " "
	for _, x := range []usage{
		{tiny, 0, "NCL ran on simulated cards, which have no real time", ""},
		{tiny + "--app sqlite --seed 7", 0, "1 rounds of 5 operations, seed 7", ""},
		{"bench apps --app sqlit", 2, "", "did you mean sqlite?"},
		{"bench apps --workload G", 2, "", "--workload G: known: A, B, C, D, E, F"},
		{"bench apps --size 0", 2, "", "size is 0; it must be 1 to"},
		{"bench apps --records 0", 2, "", "--records 0: it must be at least 1"},
		{"bench apps --ops -1", 2, "", "operations is -1"},
		{"bench apps --rounds 5000", 2, "", "rounds is 5000"},
		{"bench apps --dir /nowhere", 2, "", "/nowhere does not exist"},
		{"bench apps --plot x.png", 2, "", "only SVG is supported"},
		{"bench apps --plot /nowhere/x.svg", 2, "", "no such file"},
		{"bench apps --device rxe0", 2, "", "--device needs --backend rdma"},
		{"bench apps --backend rmda", 2, "", "did you mean rdma?"},
		{"bench apps --backend rdma --peer a:1", 2, "", "1 peers; want 3"},
		{"bench apps --iters 5", 2, "", "--help"},
		{"bench apps extra", 2, "", "extra"},
	} {
		command.Try(t, clitest.Usage(x))
	}
}

func TestBenchAppsJSONAndPlot(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := command.Call("bench", "apps", "--app", "writes", "--size", "128,256", "--ops", "5", "--rounds", "2", "--dir", dir,
		"--json", "--plot", dir)
	found := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(found) != 3 {
		t.Fatalf("status %d:\n%s%s", code, stdout, stderr)
	}
	var m apps.Machine
	var r apps.Row
	if err := json.Unmarshal([]byte(found[0]), &m); err != nil || m.CPUs < 1 {
		t.Errorf("the machine is %s (%v)", found[0], err)
	}
	if err := json.Unmarshal([]byte(found[2]), &r); err != nil || r.What != "256 B" || len(r.Strong.Rounds) != 2 || r.NCL != nil {
		t.Errorf("the row is %s (%v)", found[2], err)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "apps.svg"))
	if err != nil || !strings.Contains(string(svg), "bytes of a write") {
		t.Errorf("the drawing is %.60q (%v)", svg, err)
	}
}

// A run that fails leaves no drawing, and one that was there before as it was.
func TestBenchAppsPlotOfNothing(t *testing.T) {
	dir := t.TempDir()
	name, before := filepath.Join(dir, "x.svg"), filepath.Join(dir, "before.svg")
	clitest.Write(t, before, "drawn before")
	for _, plot := range []string{name, before} {
		if code, _, stderr := command.Call(strings.Fields("bench apps --backend rdma --peer-device none0 --plot " + plot)...); code != 2 {
			t.Errorf("status %d: %s", code, stderr)
		}
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is an empty drawing: %v", err)
	}
	if b, err := os.ReadFile(before); string(b) != "drawn before" {
		t.Errorf("the drawing from before is %q, %v", b, err)
	}
}

// A table of a run on cards has NCL's times, and intervals if there are any.
func TestBenchAppsTable(t *testing.T) {
	x := &apps.Times{Median: 12.34}
	r := apps.Row{App: apps.Pebble, What: "A", Backend: bench.RDMA, Ops: 20, Rounds: 6, Seed: 1, Strong: x, Weak: x, NCL: x,
		StrongByNCL: &bench.Ratio{Median: 2}, NCLByWeak: &bench.Ratio{Median: 3, Low: 2.5, High: 3.5, Confidence: 0.97},
		StrongByWeak: &bench.Ratio{Median: 6}}
	var b strings.Builder
	if err := printApps(&b, []apps.Row{r}, &apps.Machine{CPU: "a CPU", FS: "tmpfs", Memory: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12.3", " 2.00 ", "3.00 [2.50, 3.50]", "6 rounds of 20", "an fsync costs nothing"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "simulated") {
		t.Errorf("it was on cards:\n%s", &b)
	}
}
