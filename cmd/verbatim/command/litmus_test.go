package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
)

const litmusText = `litmus mp
doc    The reader sees the flag and not the data.
source test
rule   placement-order
hosts  A B
dram   B: d f

thread A
  write d <- 1
  write f <- 1
thread B
  r1 = load f
  r2 = load d

exists stale: r1 == 1 && r2 == 0
  strong VERDICT
  relaxed Y
`

// litmusFile writes a test into an empty directory and goes there.
func litmusFile(t *testing.T, name, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLitmusTable(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	code, out, stderr := call("litmus", "mp.litmus", "--outcomes")
	if code != cli.OK || stderr != "" || !strings.Contains(out, "2 ok") || !strings.Contains(out, "B.r1=1 B.r2=0") {
		t.Errorf("%d %s\n%s", code, stderr, out)
	}
	code, out, _ = call("litmus", ".", "--json", "--profile", "strong,srd", "--profile", "relaxed+CellBytes=1")
	if code != cli.OK || strings.Count(out, "\n") != 3 {
		t.Errorf("%d\n%s", code, out)
	}
	var lines []litmusLine
	for l := range strings.Lines(out) {
		var x litmusLine
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, x)
	}
	if lines[0].Verdict != "ok" || lines[0].Got != "N" || lines[1].Verdict != "unasked" || lines[2].Profile != "relaxed+CellBytes=1" {
		t.Errorf("%+v", lines)
	}
}

// A wrong verdict is shown, saved and replayed, also without the test's file.
func TestLitmusWrongAndReplay(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(strings.Replace(litmusText, "VERDICT", "Y", 1), "relaxed Y", "relaxed N", 1))
	code, out, _ := call("litmus", "mp.litmus", "--out", "runs")
	if code != cli.Violated || !strings.Contains(out, "2 wrong") || !strings.Contains(out, "no run reaches this") || !strings.Contains(out, "\nreached: stale\n") ||
		!strings.Contains(out, "! reaches the outcome below") || strings.Contains(out, "promise") {
		t.Fatalf("%d\n%s", code, out)
	}
	files, _ := filepath.Glob("runs/*.json")
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	if err := os.Remove("mp.litmus"); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := call("replay", files[0])
	if code != cli.Violated || !strings.Contains(out, "still fails; the run is identical to the recorded one, step by step") || !strings.Contains(out, "mp.litmus:") || strings.Contains(out, "exec.go") {
		t.Errorf("%d %s\n%s", code, stderr, out)
	}
	if code, _, stderr = call("replay", files[0], "--go"); code != cli.Bad || !strings.Contains(stderr, "its own regression test") {
		t.Errorf("%d %s", code, stderr)
	}
}

// The commands that take profiles take files of them.
func TestLitmusTakesFilesOfProfiles(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	if err := os.WriteFile("my.profile", []byte("base strong\nMTU 256\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"litmus mp.litmus --outcomes", "litmus generate --program A-wx-wx --json"} {
		code, stdout, stderr := call(append(strings.Fields(args), "--profile", "my.profile")...)
		if code != cli.OK || !strings.Contains(stdout, "strong+MTU=256") {
			t.Errorf("%s: %d %s%s", args, code, stdout, stderr)
		}
	}
}

// Who names a test and not its file, or misspells it, is told which file it is.
func TestLitmusSuggestsFiles(t *testing.T) {
	litmusFile(t, "mp.litmus", litmusText)
	if err := os.MkdirAll("testdata/litmus", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("mp.litmus", "testdata/litmus/message-passing.litmus"); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := call("litmus", "atomics"); strings.Contains(stderr, "did you mean") {
		t.Errorf("a name that is near to none: %s", stderr)
	}
	for _, a := range []string{"message-passing", "message-pasing.litmus", "testdata/litmus/mesage-passing.litmus"} {
		code, stdout, stderr := call("litmus", a)
		if code != cli.Bad || stdout != "" || !strings.Contains(stderr, "did you mean testdata/litmus/message-passing.litmus?") {
			t.Errorf("%s: %d %s %s", a, code, stdout, stderr)
		}
	}
}

func TestLitmusBadInput(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "write d", "wirte d", 1))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"mp.litmus"}, "mp.litmus:9:3: expected a statement"},
		{nil, "no testdata/litmus in the current directory"},
		{[]string{"none.litmus"}, "no such file"},
		{[]string{"mp.litmus", "--backend", "sm"}, "did you mean sim?"},
		{[]string{"mp.litmus", "--backend", "rdma"}, "go run -tags rdma ./cmd/verbatim-run litmus"},
		{[]string{"mp.litmus", "--backend", "rdma", "--runs", "3"}, "go run -tags rdma ./cmd/verbatim-run litmus"},
		{[]string{"mp.litmus", "--runs", "3"}, "unknown flag: --runs; see `verbatim litmus --help`"},
		{[]string{"mp.litmus", "--profile", "strnog"}, "did you mean strong?"},
	} {
		code, stdout, stderr := call(append([]string{"litmus"}, tt.args...)...)
		if code != cli.Bad || !strings.Contains(stderr, tt.want) || stdout != "" {
			t.Errorf("%q: %d %s%s", tt.args, code, stdout, stderr)
		}
	}
}

// A limit, and a program that always waits, are neither right nor wrong.
func TestLitmusUndecided(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	if code, out, _ := call("litmus", "mp.litmus", "--max-time", "1ns"); code != cli.RanOut || !strings.Contains(out, "undecided") {
		t.Errorf("%d\n%s", code, out)
	}
	litmusFile(t, "mp.litmus", strings.Replace(strings.Replace(litmusText, "VERDICT", "N", 1), "r1 = load f", "r1 = load f\n  until d == 2", 1))
	code, out, _ := call("litmus", "mp.litmus")
	if code != cli.Bad || !strings.Contains(out, "thread B waits at line 13 (`until d == 2`), and it holds in no run") {
		t.Errorf("%d\n%s", code, out)
	}
}

func TestLitmusFormat(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	code, out, _ := call("litmus", "mp.litmus", "--format")
	if code != cli.OK || !strings.Contains(out, "\n  strong  N\n  relaxed Y\n") {
		t.Errorf("%d\n%s", code, out)
	}
}

// A search that a limit stops has decided nothing: neither on a page nor in JSON, where its final states are an empty list.
func TestLitmusThatRanOut(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	if code, out, _ := call("litmus", "mp.litmus", "--html", "x.html", "--max-time", "1ns"); code != cli.RanOut || !strings.Contains(out, "not all were tried") {
		t.Errorf("status %d: %s", code, out)
	}
	if code, out, _ := call("litmus", "mp.litmus", "--json", "--max-time", "1ns"); code != cli.RanOut || !strings.Contains(out, `"finals":[]`) {
		t.Errorf("status %d: %s", code, out)
	}
}

// Runs of one outcome under two profiles are kept in two files.
func TestLitmusKeepsARunForEachProfile(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "strong VERDICT\n  relaxed Y", "relaxed N\n  iba N", 1))
	call("litmus", "mp.litmus", "--out", "runs")
	if files, err := os.ReadDir("runs"); err != nil || len(files) != 2 {
		t.Errorf("%v: %v", files, err)
	}
}
