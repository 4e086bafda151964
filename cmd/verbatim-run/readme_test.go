package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/soak"
)

// The lines of the soak in README.md are those that the command prints, but for the numbers,
// which differ from soak to soak.
func TestREADMEShowsTheSoak(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)\n    go run ./cmd/verbatim-run ncl soak --rounds 20\n\n```text\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("README.md does not show the soak and what it prints")
	}
	var out strings.Builder
	(&soakFlags{}).summary(&out, &soak.Counts{}, time.Second, nil)
	number := regexp.MustCompile(`[0-9.]+`)
	printed := number.ReplaceAllString(out.String(), "#")
	for line := range strings.Lines(number.ReplaceAllString(string(m[1]), "#")) {
		if strings.TrimSpace(line) != "…" && !strings.Contains(printed, line) {
			t.Errorf("README.md shows %q, and the soak prints\n%s", line, printed)
		}
	}
}
