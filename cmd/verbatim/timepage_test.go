package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown is a command of a page, and what it prints there if the page shows that.
var shown = regexp.MustCompile("(?m)^    go run ./cmd/verbatim (.*)\n(?:\n```text\n((?s:.*?))```)?")

// tested is how often a claim was: it changes with the rules of the search.
var tested = regexp.MustCompile(`tested [0-9,]+ times`)

// What docs/time.md says a command prints, and README.md of an audit, it prints: each line,
// in that order. A command without output is one that CI runs.
func TestTimePageIsTrue(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "time.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	all := shown.FindAllStringSubmatch(string(page), -1)
	for _, x := range shown.FindAllStringSubmatch(string(readme), -1) {
		if strings.HasSuffix(x[1], " --audit") {
			all = append(all, x)
		}
	}
	if len(all) < 6 {
		t.Fatalf("%d commands", len(all))
	}
	for _, x := range all {
		if x[2] == "" {
			if !strings.Contains(string(ci), " go run ./cmd/verbatim "+x[1]+"\n") {
				t.Errorf("neither the page says what `%s` prints, nor does CI run it", x[1])
			}
			continue
		}
		code, out, stderr := call(words(t, x[1])...)
		if code > 1 {
			t.Errorf("`%s`: status %d: %s", x[1], code, stderr)
		}
		rest := tested.ReplaceAllString(out, "tested")
		for line := range strings.Lines(tested.ReplaceAllString(x[2], "tested")) {
			i := strings.Index(rest, line)
			if i < 0 {
				t.Errorf("`%s` does not print %q there, but\n%s", x[1], line, out)
				break
			}
			rest = rest[i+len(line):]
		}
	}
}

// words are those of a command line as a shell takes them, which is how a reader uses it.
func words(t *testing.T, line string) []string {
	out, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).CombinedOutput()
	if err != nil {
		t.Fatalf("`%s`: %v: %s", line, err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
