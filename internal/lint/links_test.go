package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// link is a link or a picture of a page: its target may hold a title or a place in the page.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// code is what no renderer takes for a link: blocks and pieces of code.
var code = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")

// TestPagesHaveNoDeadLinks: each link of a page to a file of the repository names one, and a
// heading in it if it says so.
func TestPagesHaveNoDeadLinks(t *testing.T) {
	pages := pagesOf(t)
	if len(pages) < 20 {
		t.Fatalf("only %d pages: %v", len(pages), pages)
	}
	for _, page := range pages {
		for _, dead := range deadLinks(t, page) {
			t.Errorf("%s: there is no %s", page, dead)
		}
	}
}

// pagesOf lists the pages of the repository.
func pagesOf(t *testing.T) []string {
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md", "testdata/*/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	return out
}

// deadLinks returns the targets of a page that do not exist.
func deadLinks(t *testing.T, page string) []string {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var dead []string
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), "x"), -1) {
		file, place, _ := strings.Cut(m[1], "#")
		if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
			continue
		}
		target := page
		if file != "" {
			target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
		}
		b, err := os.ReadFile(target)
		if info, statErr := os.Stat(target); statErr != nil || err != nil && !info.IsDir() || place != "" && !places(string(b))[place] {
			dead = append(dead, m[1])
		}
	}
	return dead
}

// places are the names by which links can reach the headings of a page: as on GitHub, small
// letters, and hyphens for spaces.
func places(page string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(page) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		out[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))] = true
	}
	return out
}

// TestDeadLinksAreFound: a file or a heading that is not there is a dead link, whatever is in code is none.
func TestDeadLinksAreFound(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "a.md")
	text := "# One: a *page*\n[a](a.md) [b](#one-a-page) [c](a.md#two) [d](b.md) `[e](c.md)`\n```\n[f](d.md)\n```\n[g](https://example.com/x)\n"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(deadLinks(t, page), " "); got != "a.md#two b.md" {
		t.Errorf("dead: %s", got)
	}
}
