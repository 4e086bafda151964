package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pageText is the page in a file.
func pageText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), "<!doctype html>") || !strings.HasSuffix(string(b), "</html>\n") {
		t.Errorf("%s is no whole page", name)
	}
	return string(b)
}

func TestReplayHTML(t *testing.T) {
	useDemo(t)
	call("check", "demo/restart", "--faults", "crash(a)<=1", "--out", "found")
	file := filepath.Join("found", "demo-restart.counterexample.json")
	code, stdout, stderr := call("replay", file, "--html", "run.html")
	if code != 1 || stdout != "still fails; the run is identical to the recorded one, step by step\nrun.html\n" {
		t.Fatalf("status %d:\n%s%s", code, stdout, stderr)
	}
	page := pageText(t, "run.html")
	for _, want := range []string{`"scenario":"demo/restart"`, `"kind":"crash"`, `"text":"a crashes."`, `replay demo-restart.counterexample.json`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if left, _ := filepath.Glob(".verbatim-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A drawing has the run's hosts and faults, and what is broken; status and words are as with a page.
func TestReplaySVG(t *testing.T) {
	useDemo(t)
	call("check", "demo/restart", "--faults", "crash(a)<=1", "--out", "found")
	file := filepath.Join("found", "demo-restart.counterexample.json")
	code, stdout, stderr := call("replay", file, "--svg", "run.svg")
	if code != 1 || stdout != "still fails; the run is identical to the recorded one, step by step\nrun.svg\n" {
		t.Fatalf("status %d:\n%s%s", code, stdout, stderr)
	}
	b, err := os.ReadFile("run.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg ", ">a crashes<", "</svg>\n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in the drawing:\n%s", want, b)
		}
	}
}

func TestReplayHTMLRefuses(t *testing.T) {
	useDemo(t)
	call("check", "demo/restart", "--faults", "crash(a)<=1", "--out", "found")
	file := filepath.Join("found", "demo-restart.counterexample.json")
	write(t, "bad.json", "{")
	for _, x := range [][]string{
		{"--html", file}, {"--html", "bad.json/run.html"}, {"--overlay", "bad.json"},
		{"--html", "run.html", "--overlay", "bad.json"}, {"--html", "run.html", "--overlay", "missing.json"}, {"--html", "run.html", "--go"},
		{"--svg", file}, {"--svg", "bad.json/run.svg"}, {"--until", "3"}, {"--html", "run.html", "--until", "3"}, {"--svg", "run.svg", "--until", "-1"},
		{"--svg", "run.svg", "--note", "x"}, {"--html", "run.html", "--svg", "run.svg"},
		{"--svg", "run.svg", "--all"}, {"--html", "run.html", "--width", "80"}, {"--go", "--all"}, {"--story", "--all"}, {"--story", "--html", "run.html"}, {"--story", "--until", "3"}, {"--story", "--note", "x"}, {"--go", "--note", "x"}, {"--go", "--until", "3"},
		{"--width", "39"}, {"--width", "-1"}, {"--width", "20001"}, {"--trace-file", "log"},
	} {
		if code, out, stderr := call(append([]string{"replay", file}, x...)...); code != 2 || stderr == "" {
			t.Errorf("%v: status %d: %s%s", x, code, out, stderr)
		}
	}
	for _, name := range []string{"run.html", "run.svg"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was written nevertheless", name)
		}
	}
	if code, _, _ := call("replay", file); code != 1 {
		t.Errorf("the counterexample was damaged: status %d", code)
	}
}

func TestLitmusHTML(t *testing.T) {
	litmusFile(t, "mp.litmus", strings.Replace(litmusText, "VERDICT", "N", 1))
	code, out, stderr := call("litmus", "mp.litmus", "--profile", "relaxed", "--reach", "stale", "--html", "run.html")
	if code != 0 || !strings.Contains(out, "reaches stale\nrun.html\n") {
		t.Fatalf("status %d: %s%s", code, out, stderr)
	}
	if page := pageText(t, "run.html"); !strings.Contains(page, `"litmus":true`) || !strings.Contains(page, "B.r1=1 B.r2=0") {
		t.Error("the page does not show the outcome")
	} else if !strings.Contains(page, `"name":"mp.litmus:`) || !strings.Contains(page, `"lines":["`) || strings.Contains(page, `exec.go`) || strings.Contains(page, "violates the promise ") && !strings.Contains(page, "reaches the outcome above") {
		t.Error("the page does not point at the lines of the test, or says that a promise is violated")
	}
	if code, out, _ := call("litmus", "mp.litmus", "--html", "none.html"); code != 1 || !strings.Contains(out, "all were tried") {
		t.Errorf("status %d: %s", code, out)
	}
	for _, x := range [][]string{{"--reach", "stale"}, {"--html", "x.html", "--reach", "stal"}, {"--html", "x.html", "--profile", "strong,relaxed"}, {"--html", "x.html", "--backend", "rdma"},
		{"--html", "x.html", "--json"}, {"--html", "x.html", "--outcomes"}, {"--html", "x.html", "--format"}, {"--html", "x.html", "--out", "d"}} {
		if code, out, stderr := call(append([]string{"litmus", "mp.litmus"}, x...)...); code != 2 || stderr == "" {
			t.Errorf("%v: status %d: %s%s", x, code, out, stderr)
		}
	}
}
