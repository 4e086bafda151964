package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/number"
)

func TestCheckReport(t *testing.T) {
	useDemo(t)
	code, out, stderr := call("check", "demo/restart", "demo/second", "--faults", "crash(a)<=1", "--json", "--report", "r.html")
	if code != 1 {
		t.Fatalf("status %d:\n%s%s", code, out, stderr)
	}
	page := pageText(t, "r.html")
	for _, want := range []string{"demo/restart", "demo/second", "✗ VIOLATED", "is not known: coverage: run the command in the source tree", "The matrix covers whole protocols", `href="./r-runs/demo-restart.html"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for line := range strings.Lines(out) {
		var x result
		if err := json.Unmarshal([]byte(line), &x); err != nil || !strings.Contains(page, `<td class="number runs">`+number.Commas(x.Runs)+`</td><td class="number states">`+number.Commas(x.States)+"<") {
			t.Errorf("%v: the page lacks the numbers of %s", err, line)
		}
	}
	if run := pageText(t, filepath.Join("r-runs", "demo-restart.html")); !strings.Contains(run, `"kind":"crash"`) {
		t.Error("the run of the page is another")
	}
	if code, _, _ := call("replay", filepath.Join("r-runs", "demo-restart.counterexample.json")); code != 1 {
		t.Errorf("the run beside the page replays with status %d", code)
	}
	if _, err := os.Stat("demo-restart.counterexample.json"); err == nil {
		t.Error("--json without --out left a file elsewhere")
	}
}

// The matrix is filled in for whole protocols, or read; its broken cells lead to runs.
func TestCheckReportMatrix(t *testing.T) {
	useDemo(t)
	code, out, stderr := call("check", "demo", "--report", "r.html")
	if page := pageText(t, "r.html"); code != 0 || !strings.Contains(page, "<code>ReadsSeeAcked=false</code>") || !strings.Contains(stderr, "--matrix none") {
		t.Errorf("status %d: no matrix: %s%s", code, out, stderr)
	}
	call("check", "demo", "--report", "r.html", "--matrix", "none")
	if page := pageText(t, "r.html"); !strings.Contains(page, "The matrix was omitted") {
		t.Error("there is a matrix nevertheless")
	}
	call("check", "demo/restart", "--faults", "crash(a)<=1", "--out", ".")
	write(t, "m.jsonl", `{"protocol":"demo","assumption":"relaxed","profile":"relaxed","verdict":"breaks","scenario":"demo/restart","counterexample":"demo-restart.counterexample.json"}
{"protocol":"demo","assumption":"iba","profile":"iba","verdict":"breaks","scenario":"demo/second"}
{"protocol":"other","assumption":"iba","profile":"iba","verdict":"breaks","scenario":"other/second"}
`)
	call("check", "demo/second", "--report", "r.html", "--matrix", "m.jsonl")
	page := pageText(t, "r.html")
	if strings.Count(page, "✗ breaks</a>") != 1 || !strings.Contains(page, `href="./r-runs/matrix-demo-restart-relaxed.html"`) || !strings.Contains(page, "(no run was kept)") || strings.Contains(page, "other/second") {
		t.Error("the cells do not lead to their runs")
	}
	pageText(t, filepath.Join("r-runs", "matrix-demo-restart-relaxed.html"))
}

// A counterexample's name is as seen from where the matrix was made, which may be the folder of its output; and a cell that
// follows from another one leads to that one's run.
func TestCheckReportMatrixOfAnotherFolder(t *testing.T) {
	useDemo(t)
	call("check", "demo/restart", "--faults", "crash(a)<=1", "--out", "made")
	write(t, filepath.Join("made", "m.jsonl"), `{"protocol":"demo","assumption":"relaxed","profile":"relaxed","verdict":"breaks","scenario":"demo/restart","counterexample":"demo-restart.counterexample.json"}
{"protocol":"demo","assumption":"ooo","profile":"ooo","verdict":"breaks","scenario":"demo/restart","derived_from":"relaxed"}
`)
	call("check", "demo/second", "--report", "r.html", "--matrix", filepath.Join("made", "m.jsonl"))
	if page := pageText(t, "r.html"); strings.Count(page, `href="./r-runs/matrix-demo-restart-relaxed.html"`) != 2 {
		t.Errorf("both cells must lead to the run: %d do", strings.Count(page, `href="./r-runs/matrix`))
	}
}

func TestCheckReportRefuses(t *testing.T) {
	useDemo(t)
	write(t, "empty.jsonl", "\n")
	write(t, "bad.jsonl", "{\"protocol\":\"demo\",\"verdict\":\"holds\"}\n{}\n")
	write(t, "long.jsonl", strings.Repeat(" ", 1<<20+1))
	write(t, "gone.jsonl", `{"protocol":"demo","assumption":"relaxed","profile":"relaxed","verdict":"breaks","scenario":"demo/gone"}`)
	write(t, "bent.jsonl", `{"protocol":"demo","assumption":"relaxed","profile":"relaxed","verdict":"breaks","scenario":"demo/second","counterexample":"bad.jsonl"}`)
	for _, x := range []struct{ args, want string }{
		{"--matrix none", "--matrix needs --report"},
		{"--audit-runs 5", "--audit-runs needs --audit"},
		{"--report bad.jsonl/r.html", "--report bad.jsonl/r.html: "},
		{"--report .", "is a folder"},
		{"--report r.html --matrix missing.jsonl", "missing.jsonl"},
		{"--report r.html --matrix empty.jsonl", "--matrix empty.jsonl: it has no cells"},
		{"--report r.html --matrix bad.jsonl", "line 2 is not a cell"},
		{"--report r.html --matrix gone.jsonl", `unknown scenario "demo/gone"`},
		{"--report r.html --matrix bent.jsonl", "bad.jsonl"},
		{"--report r.html --matrix long.jsonl", "--matrix long.jsonl: "},
	} {
		code, out, stderr := call(append([]string{"check", "demo/second"}, strings.Fields(x.args)...)...)
		if code != 2 || out != "" || !strings.Contains(stderr, x.want) { // before hours of search, not after
			t.Errorf("%s: status %d: %s%s", x.args, code, out, stderr)
		}
	}
	if _, err := os.Stat("r.html"); err == nil {
		t.Error("a page was written nevertheless")
	}
}

// A report's links lead to its runs whatever it is called.
func TestCheckReportOfAnyName(t *testing.T) {
	useDemo(t)
	call("check", "demo/restart", "--faults", "crash(a)<=1", "--report", "12:30#a b.html")
	if page := pageText(t, "12:30#a b.html"); !strings.Contains(page, `href="./12:30%23a%20b-runs/demo-restart.html"`) {
		t.Error("the link does not lead to the run")
	}
	pageText(t, filepath.Join("12:30#a b-runs", "demo-restart.html"))
}

// The page of a run of a traced scenario has a command that runs where the page is.
func TestCheckReportOfTrace(t *testing.T) {
	useDemo(t)
	write(t, "a.strace", goodTrace)
	if code, out, stderr := call("check", "demo", "--trace", "a.strace", "--trace-file", "*.log", "--faults", "crash(a)<=1", "--out", ".", "--report", "r.html"); code != 1 {
		t.Fatalf("status %d:\n%s%s", code, out, stderr)
	}
	if code, out, stderr := call("replay", "demo-trace.counterexample.json", "--trace", "a.strace", "--html", "run.html"); code != 1 {
		t.Fatalf("status %d:\n%s%s", code, out, stderr)
	}
	for file, want := range map[string]string{
		filepath.Join("r-runs", "demo-trace.html"): "replay demo-trace.counterexample.json --trace ../a.strace --trace-file '*.log'\"",
		"run.html": "replay demo-trace.counterexample.json --trace a.strace\"",
	} {
		if page := strings.ReplaceAll(pageText(t, file), `\u0027`, "'"); !strings.Contains(page, want) {
			_, got, _ := strings.Cut(page, " replay ")
			t.Errorf("%s does not say %s, but %.80s", file, want, got)
		}
	}
	t.Chdir("r-runs")
	if code, _, stderr := call("replay", "demo-trace.counterexample.json", "--trace", "../a.strace", "--trace-file", "*.log"); code != 1 {
		t.Errorf("status %d: %s", code, stderr)
	}
}
