package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/table1check"
)

// The table of the paper is what the searches find. CI fills in all of it; here is what short searches decide.
func TestTable1(t *testing.T) {
	if testing.Short() {
		t.Skip("searches have nothing for the race detector or the tag rdma; go test ./... runs them")
	}
	out := t.TempDir()
	code, text, stderr := call("table1", "--out", out, "--max-runs", "2000", "--workers", "1") // of two violations, two workers find either first
	if code != cli.RanOut || stderr != "" {
		t.Fatalf("status %d: %s%s", code, text, stderr)
	}
	for _, want := range []string{
		"PMDK libpmemlog     │ ✗ broken            │ ✗ broken          │ ✗ broken    │ ✓ survives\n",
		"FLEX                │ ✗ broken            │ ✗ broken          │ ✗ broken    │ ✓ survives\n",
		"Arcadia, local mode │ ✗ broken            │ ✗ broken          │ ✗ broken    │ ",
		"table1/flex-partition ",
		"record-never-completed",
		" replay " + filepath.Join(out, "table1-flex-partition.counterexample.json") + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not print %q:\n%s", want, text)
		}
	}
	file := filepath.Join(out, "table1-flex-partition.counterexample.json")
	if code, text, stderr := call("replay", file); code != cli.Violated || !strings.Contains(text, "still fails; the run is identical") {
		t.Errorf("status %d: %s%s", code, text, stderr)
	}
	if code, text, _ := call("replay", file, "--go"); code != cli.OK || !strings.Contains(text, `explore.Named(table1check.BrokenScenarios(), "table1/flex-partition")`) {
		t.Errorf("status %d: %s", code, text)
	}
}

// A search that a limit stops leaves its cell unknown, and the status says so.
func TestTable1RanOut(t *testing.T) {
	code, text, _ := call("table1", "--max-runs", "1")
	if code != cli.RanOut || !strings.Contains(text, "│ ? unknown") || strings.Contains(text, "✓ survives") || !strings.Contains(text, "table1/flex-power is not decided: ") {
		t.Errorf("status %d: %s", code, text)
	}
	code, text, _ = call("table1", "--max-runs", "1", "--json")
	cells := 0
	for line := range strings.Lines(text) {
		var c table1check.Cell
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Scenario == "" || c.Mark == table1check.Survives {
			t.Errorf("%s: %v", line, err)
		}
		cells++
	}
	if code != cli.RanOut || cells != len(table1check.Rows()) {
		t.Errorf("status %d, %d cells", code, cells)
	}
}

// A mark that is not as expected is said and is status 1, and one that contradicts the paper says so.
func TestTable1Status(t *testing.T) {
	cell := func(mark, expected, published table1check.Mark) table1check.Cell {
		return table1check.Cell{Design: "d", Failure: table1check.Power, Scenario: "x/y", Mark: mark, Expected: expected, Published: published}
	}
	const ok, no, open = table1check.Survives, table1check.Broken, table1check.Unknown
	for _, x := range []struct {
		cells []table1check.Cell
		code  int
		text  string
	}{
		{[]table1check.Cell{cell(ok, ok, ok)}, cli.OK, "│ ✓ survives\n"},
		{[]table1check.Cell{cell(no, no, open)}, cli.OK, "│ ✗ broken\n"},
		{[]table1check.Cell{cell(open, ok, ok)}, cli.RanOut, "x/y is not decided: "},
		{[]table1check.Cell{cell(open, ok, ok), cell(no, ok, ok)}, cli.Violated, "x/y is ✗ and should be ✓"},
		{[]table1check.Cell{cell(ok, no, no)}, cli.Violated, "✓ survives (published: ✗)"},
		{[]table1check.Cell{cell(no, no, ok)}, cli.OK, "✗ broken (published: ✓)"},
	} {
		var b strings.Builder
		if err := (&table1Flags{}).print(&b, x.cells); err != nil || !strings.Contains(b.String(), x.text) || int(table1Status(x.cells)) != x.code {
			t.Errorf("%v: status %d, want %d and %q:\n%s", err, table1Status(x.cells), x.code, x.text, &b)
		}
	}
}

// Scenarios that must be violated are known by name, and are not among those of the protocol.
func TestBrokenScenarios(t *testing.T) {
	for _, x := range []clitest.Usage{
		{Args: "check table1/flex-node --json", Code: 1, Stdout: `"verdict":"violated"`, Stderr: ""},
		{Args: "check table1/flex-nod", Code: 2, Stdout: "", Stderr: "did you mean table1/flex-node?"},
		{Args: "check table1/flex-m*", Code: 2, Stdout: "", Stderr: "no scenario matches"},
		{Args: "table1 x", Code: 2, Stdout: "", Stderr: "no arguments"},
		{Args: "table1 --workers -1", Code: 2, Stdout: "", Stderr: "--workers -1"},
		{Args: "table1 --max-time -1s", Code: 2, Stdout: "", Stderr: "negative"},
		{Args: "table1 --profile stong", Code: 2, Stdout: "", Stderr: "did you mean strong?"},
	} {
		line.Try(t, x)
	}
	if code, text, _ := call("list", "scenarios", "table1"); code != cli.OK || !strings.Contains(text, "table1/flex-power") || strings.Contains(text, "table1/flex-node") {
		t.Errorf("status %d: %s", code, text)
	}
}
