package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/table1check"
)

var update = flag.Bool("update", false, "write the drawing and the table of README.md anew")

// root is the folder of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The drawing of the README is what the command beside it makes now. With -update the run is
// recorded and the drawing written again.
func TestREADMEDrawing(t *testing.T) {
	dir := root(t)
	m := regexp.MustCompile("`go run ./cmd/verbatim (replay .* --svg )run.svg( .*)`").FindStringSubmatch(fileText(t, dir, "README.md"))
	if m == nil {
		t.Fatal("README.md does not say how its drawing is made")
	}
	if *update {
		recordRun(t, dir)
	}
	output(t, dir, m[1]+"run.svg"+m[2])
	got, err := os.ReadFile("run.svg")
	if err != nil {
		t.Fatal(err)
	}
	const name = "docs/images/ncl-stamps-cross.svg"
	if *update {
		if err := os.WriteFile(filepath.Join(dir, name), got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(got) != fileText(t, dir, name) {
		t.Errorf("%s is not what the command makes now: look at what has changed, and write it again with go test ./cmd/verbatim -run README -update", name)
	}
	if n := strings.Count(string(got), `<line class="arrow `); n < 6 || n > 8 {
		t.Errorf("the drawing has %d arrows; a reader can follow six to eight", n)
	}
}

// The story of that run in docs/viewer.md is what the command beside it prints. With -update it is written again.
func TestREADMEStory(t *testing.T) {
	dir := root(t)
	const name, begin, end = "docs/viewer.md", "```text\n", "```\n"
	text := fileText(t, dir, name)
	before, after, ok := strings.Cut(text, "    go run ./cmd/verbatim replay testdata/counterexamples/ncl-stamps-cross.json --story\n\n"+begin)
	if !ok {
		t.Fatalf("%s does not show a story", name)
	}
	shown, rest, _ := strings.Cut(after, end)
	got := output(t, dir, "replay testdata/counterexamples/ncl-stamps-cross.json --story")
	if *update {
		text = before + "    go run ./cmd/verbatim replay testdata/counterexamples/ncl-stamps-cross.json --story\n\n" + begin + got + end + rest
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if shown != got {
		t.Errorf("%s shows another story than the command tells now: write it again with go test ./cmd/verbatim -run README -update\n%s", name, got)
	}
}

// recordRun finds the run that the README draws. A change of the simulator makes it another one, step by step.
func recordRun(t *testing.T, dir string) {
	output(t, dir, "check ncl/three-writes --profile strong+Placement=AnyOrder --strategy random --seed 203 --workers 1 --out .")
	run, err := os.ReadFile("ncl-three-writes.counterexample.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "testdata", "counterexamples", "ncl-stamps-cross.json"), run, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestREADMEIsShort: a newcomer reads it to the end.
func TestREADMEIsShort(t *testing.T) {
	if n := strings.Count(fileText(t, root(t), "README.md"), "\n"); n > 120 {
		t.Errorf("README.md has %d lines, and 120 are the most: move what a newcomer does not need at first to docs", n)
	}
}

// protocolRow is a row of the README's table.
type protocolRow struct {
	name, what string
	sample     string // the beginning of the row in docs/scores.md that has its score; empty: there is none
}

var protocolRows = []protocolRow{
	{"ncl", "[NCL](docs/ncl.md), the log of SplitFT (Luo et al., EuroSys 2024)", "| NCL with `kit` |"},
	{"splitfs", "[the file system](docs/splitfs.md) of SplitFT, on NCL", "| splitfs | 200 | 11 |"},
	{"arcadia", "[Arcadia](docs/arcadia.md), a log in persistent memory (Gugnani et al.)", "| seed 1130 |"},
	{"table1", "[libpmemlog, FLEX and Query Fresh](docs/table1.md), with which Arcadia is compared", ""},
	{"sift", "[Sift](docs/sift.md), consensus on passive memory (Kazhamiaka et al., CoNEXT 2019)", "| Sift, seed 1129 |"},
	{"cluster", "[sessions and controllers](docs/controllers.md) of processes", ""},
	{"lease", "[a lock with a lease](docs/lease.md), an example", ""},
}

// The README's table of protocols has the numbers of the scenarios that the command knows, of
// the patches of mutants, and of the samples in docs/scores.md; and CI runs the commands that
// the table names. With -update it is written anew.
func TestREADMEProtocols(t *testing.T) {
	dir := root(t)
	const begin, end = "<!-- begin protocols -->\n", "<!-- end protocols -->"
	before, rest, ok1 := strings.Cut(fileText(t, dir, "README.md"), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("README.md has no table between %q and %q", begin, end)
	}
	want := protocolTable(t, dir)
	if *update {
		if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("write the table anew with go test ./cmd/verbatim -run README -update; it is\n%swant\n%s", got, want)
	}
	if len(protocolRows) != len(program.Protocols) {
		t.Errorf("the table has %d protocols, and the command %d", len(protocolRows), len(program.Protocols))
	}
}

func protocolTable(t *testing.T, dir string) string {
	var b strings.Builder
	b.WriteString("| NAME | what it is | scenarios | bugs by hand | generated bugs caught |\n|---|---|---|---|---|\n")
	ci, samples := fileText(t, dir, ".ci/run"), fileText(t, dir, "docs/scores.md")
	for _, x := range protocolRows {
		i := slices.IndexFunc(program.Protocols, func(p command.Protocol) bool { return p.Name == x.name })
		if i < 0 {
			t.Fatalf("the command has no protocol %s", x.name)
		}
		p := &program.Protocols[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", x.name, x.what, verdicts(t, ci, p), byHand(t, ci, dir, x.name), sampleScore(t, samples, x.sample))
	}
	return b.String()
}

// verdicts returns the number of scenarios of a protocol that are verified: all, since CI runs the check, or
// the mutants with their control, and takes no other verdict of an exhaustive search.
func verdicts(t *testing.T, ci string, p *command.Protocol) string {
	// The cells of table 1 are checked by a command of their own.
	if !(p.Name == "table1" && strings.Contains(ci, " go run ./cmd/verbatim table1\n")) && !strings.Contains(ci, " go run ./cmd/verbatim check "+p.Name+"\n") && !strings.Contains(ci, " go run ./cmd/verbatim mutants "+p.Name+"\n") {
		t.Errorf("CI runs neither check %s nor mutants %s with its control", p.Name, p.Name)
	}
	for _, s := range p.Scenarios() {
		if cell := func(r table1check.Row) bool { return r.Scenario.Name == s.Name }; p.Name == "table1" && !slices.ContainsFunc(table1check.Rows(), cell) && !strings.Contains(ci, " "+s.Name) {
			t.Errorf("%s is in no cell of table 1, and CI does not name it", s.Name)
		}
		if s.Strategy != "" {
			t.Errorf("%s only samples by default, so it cannot be verified", s.Name)
		}
	}
	out := fmt.Sprintf("%d VERIFIED", len(p.Scenarios()))
	if p.Broken != nil {
		n := len(p.Broken())
		out += fmt.Sprintf("; %d must be VIOLATED, and are", n)
	}
	return out
}

// byHand says how many mutants of a protocol were written by hand: all are caught, since CI
// runs them and lets none survive.
func byHand(t *testing.T, ci, dir, name string) string {
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "mutants", name, "*.patch"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return ""
	}
	if !strings.Contains(ci, " go run ./cmd/verbatim mutants "+name+"\n") && !strings.Contains(ci, " go run ./cmd/verbatim mutants "+name+" --no-control") {
		t.Errorf("CI does not run mutants %s", name)
	}
	return fmt.Sprintf("%d, all caught", len(files))
}

// sampleScore is the score in a row of docs/scores.md.
func sampleScore(t *testing.T, page, row string) string {
	if row == "" {
		return ""
	}
	_, rest, ok := strings.Cut(page, "\n"+row)
	line, _, _ := strings.Cut(rest, "\n")
	m := regexp.MustCompile(`([0-9.]+ %) \| ([0-9.]+ %)`).FindStringSubmatch(line)
	if !ok || m == nil {
		t.Errorf("docs/scores.md has no score in a row %q", row)
		return ""
	}
	return m[1] + ", " + m[2] + " by scenarios alone"
}
