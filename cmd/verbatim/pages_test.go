package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// shown is a command of a page, and what it prints there if the page shows that.
var shown = regexp.MustCompile("(?m)^    go run ./cmd/verbatim (.*)\n(?:\n```text\n((?s:.*?))```)?")

// varying is what differs between two runs of one check: how often a claim was tested changes
// with the rules of the search, and several workers are never twice as far.
var varying = regexp.MustCompile(`tested [0-9,]+ times|[0-9,]+ (runs?|states|choices)[,;]|depth [0-9]+|([0-9.]+ s|[0-9]+m[0-9]+s)[,;]|[0-9]+ workers?|10\^[0-9.]+`)

// wrapped is where the field of a search goes on in another line, which depends on its numbers.
var wrapped = regexp.MustCompile(`(?m)^(  search .*)\n {14}`)

// steady is an output without what varies.
func steady(text string) string {
	return varying.ReplaceAllString(wrapped.ReplaceAllString(wrapped.ReplaceAllString(text, "$1 "), "$1 "), "#")
}

// What these pages say a command prints, it prints: each line, in that order. A command
// without output is one that CI runs.
func TestPagesShowWhatCommandsPrint(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	ci := fileText(t, root, ".ci/run")
	outputs := map[string]string{}
	for _, x := range []struct {
		page  string
		least int // commands with output
	}{{"docs/time.md", 1}, {"docs/lease.md", 3}, {"docs/audit.md", 1}, {"docs/checking.md", 3}, {"README.md", 2}} {
		n := 0
		for _, c := range shown.FindAllStringSubmatch(fileText(t, root, x.page), -1) {
			if c[2] == "" {
				if !strings.Contains(ci, " go run ./cmd/verbatim "+c[1]+"\n") {
					t.Errorf("neither does %s say what `%s` prints, nor does CI run it", x.page, c[1])
				}
				continue
			}
			n++
			if _, ok := outputs[c[1]]; !ok {
				outputs[c[1]] = output(t, root, c[1])
			}
			comparePrinted(t, x.page, c[1], c[2], outputs[c[1]])
		}
		if n < x.least {
			t.Errorf("%s shows what %d commands print, and %d or more are expected", x.page, n, x.least)
		}
	}
}

// fileText is a file of the repository.
func fileText(t *testing.T, root, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// output is what a command line prints, in a folder that only has what a reader finds in the
// repository's.
func output(t *testing.T, root, line string) string {
	t.Chdir(t.TempDir())
	if err := os.Symlink(filepath.Join(root, "testdata"), "testdata"); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := call(words(t, line)...)
	if code > 1 {
		t.Errorf("`%s`: status %d: %s", line, code, stderr)
	}
	return out
}

// comparePrinted looks for the lines that a page shows in an output. An ellipsis in a page
// stands for lines that it leaves out.
func comparePrinted(t *testing.T, page, line, shown, out string) {
	rest := steady(out)
	for want := range strings.Lines(steady(shown)) {
		if strings.TrimSpace(want) == "…" {
			continue
		}
		i := strings.Index(rest, want)
		if i < 0 {
			t.Errorf("%s: `%s` does not print %q there, but\n%s", page, line, want, out)
			break
		}
		rest = rest[i+len(want):]
	}
	got, want := states(out), states(shown)
	if strings.Contains(shown, "VERIFIED") && want > 0 && math.Abs(got-want) > want/10 {
		t.Errorf("%s: `%s` now has %.0f states and not %.0f", page, line, got, want)
	}
}

// states is how many states a search had; 0 if the output does not say so.
func states(out string) float64 {
	m := regexp.MustCompile(`([0-9,]+) states`).FindStringSubmatch(out)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil {
		return 0
	}
	return n
}

// words are the words of a command line as a shell takes them, which is how a reader uses it.
func words(t *testing.T, line string) []string {
	out, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).CombinedOutput()
	if err != nil {
		t.Fatalf("`%s`: %v: %s", line, err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
