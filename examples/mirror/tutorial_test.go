package mirror_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
)

// sourceBlock is a block of the tutorial: the comment that names its file, and its code.
var sourceBlock = regexp.MustCompile("(?s)<!-- source: ([^ ]+) -->\n```go\n(.*?\n)```")

// The tutorial's code is this package's, word for word.
func TestTutorialQuotesTheSource(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := sourceBlock.FindAllStringSubmatch(string(text), -1)
	if marks := strings.Count(string(text), "<!-- source:"); len(blocks) != marks || marks < 5 {
		t.Errorf("%d blocks for %d comments; a comment stands right above its block of Go", len(blocks), marks)
	}
	if n := strings.Count(string(text), "```go\n"); n != len(blocks) {
		t.Errorf("%d blocks of Go, of which %d name their source", n, len(blocks))
	}
	for _, b := range blocks {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b[1])))
		if err != nil {
			t.Errorf("docs/tutorial.md: %v", err)
			continue
		}
		if !strings.Contains(string(source), b[2]) {
			t.Errorf("docs/tutorial.md quotes what is not in %s:\n%s", b[1], b[2])
		}
	}
}

// The tutorial's timeline is the one that the checker draws today.
func TestTutorialShowsTheTimeline(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := mirror.Scenario("wrong", (*mirror.Register).WriteOne)
	found, err := explore.Check(s, explore.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if found.Counterexample == nil {
		t.Fatal(found.Verdict)
	}
	r, err := found.Counterexample.Replay(s)
	if err != nil {
		t.Fatal(err)
	}
	var drawn strings.Builder
	if err := timeline.Write(&drawn, r.Timeline(), timeline.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```text\n"+drawn.String()+"```") {
		t.Errorf("docs/tutorial.md shows another timeline than this one:\n%s", &drawn)
	}
}
