package lint

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/docs"
)

// TestPagesHaveNoDeadLinks: each link of a page to a file of the repository names one, and a
// heading in it if it says so.
func TestPagesHaveNoDeadLinks(t *testing.T) {
	pages := pagesOf(t, "*.md", "docs/*.md", "testdata/*/*.md")
	for _, page := range pages {
		dead, err := docs.DeadLinks(os.DirFS(root), page)
		if err != nil {
			t.Error(err)
		}
		for _, d := range dead {
			t.Errorf("%s: there is no %s", page, d)
		}
	}
}

// pagesOf lists the pages of the repository that fit the patterns.
func pagesOf(t *testing.T, patterns ...string) []string {
	var out []string
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	if len(out) < 20 {
		t.Fatalf("only %d pages: %v", len(out), out)
	}
	return out
}

// TestPagesAreListed: a reader finds each page through the list of pages.
func TestPagesAreListed(t *testing.T) {
	unlisted, err := docs.Unlisted(os.DirFS(root))
	if err != nil {
		t.Error(err)
	}
	for _, page := range unlisted {
		t.Errorf("%s does not list %s", docs.List, page)
	}
}

// TestPagesAreShort: a reader reaches the end of a page.
func TestPagesAreShort(t *testing.T) {
	for _, page := range pagesOf(t, "docs/*.md") {
		const most = 199
		if n := strings.Count(pageText(t, page), "\n"); n > most {
			t.Errorf("%s has %d lines, and %d are the most: make two pages of it, and list both in %s", page, n, most, docs.List)
		}
	}
}

// TestPagesLinkTheGlossary: the last line of each page leads to the meanings of its words.
func TestPagesLinkTheGlossary(t *testing.T) {
	const last = "\n\nThe [glossary](glossary.md) explains the words.\n"
	for _, page := range pagesOf(t, "docs/*.md") {
		if page != "docs/glossary.md" && page != docs.List && !strings.HasSuffix(pageText(t, page), last) {
			t.Errorf("%s must end with%s", page, strings.TrimRight(last, "\n"))
		}
	}
}

func pageText(t *testing.T, page string) string {
	text, err := fs.ReadFile(os.DirFS(root), page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
