package start

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var sourceBlock = regexp.MustCompile("(?s)<!-- source: examples/start/([^ ]+) -->\n```go\n(.*?)```")

// What docs/own.md quotes, and the edit that it proposes, is in the files that are written.
func TestPageQuotesTheFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/own.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := sourceBlock.FindAllStringSubmatch(string(page), -1)
	if n := strings.Count(string(page), "```go\n"); len(blocks) != n || n < 3 {
		t.Errorf("%d of %d blocks of Go name their source", len(blocks), n)
	}
	blocks = append(blocks, []string{"", "register/register.go", " && c.Done == r.ids"})
	for _, b := range blocks {
		if text, err := files.ReadFile(b[1]); err != nil || !strings.Contains(string(text), b[2]) {
			t.Errorf("%v: docs/own.md quotes what is not in %s:\n%s", err, b[1], b[2])
		}
	}
}
