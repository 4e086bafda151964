package leasecheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourceBlock is a block of the page: the comment that names its file, and its code.
var sourceBlock = regexp.MustCompile("(?s)<!-- source: ([^ ]+) -->\n```go\n(.*?\n)```")

// The code of docs/lease.md is that of package lease, word for word.
func TestPageQuotesTheSource(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "lease.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := sourceBlock.FindAllStringSubmatch(string(text), -1)
	if n := strings.Count(string(text), "```go\n"); n != len(blocks) || n < 5 {
		t.Errorf("%d blocks of Go, of which %d name their source", n, len(blocks))
	}
	for _, b := range blocks {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b[1])))
		if err != nil || !strings.Contains(string(source), b[2]) {
			t.Errorf("%v: docs/lease.md quotes what is not in %s:\n%s", err, b[1], b[2])
		}
	}
}
