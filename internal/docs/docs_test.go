package docs

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// files returns a file system from pairs of names and texts.
func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// A link to a missing file or heading is dead. Code contains no links and no headings.
func TestDeadLinksAreFound(t *testing.T) {
	fsys := files(
		"docs/a.md", "# One: a *page*\n[a](a.md) [b](#one-a-page) [c](a.md#two) [d](b.md) `[e](c.md)`\n```\n[f](d.md)\n# Two\n```\n"+
			"[g](https://example.com/x) [h](../verbs) [i](../verbs#x) [l](../README.md#two_words) [j](../README.md#top) ![k](images/none.svg)\n",
		"README.md", "# Top\n## `two_words`\n", "verbs/doc.go", "package verbs\n")
	dead, err := DeadLinks(fsys, "docs/a.md")
	if err != nil || strings.Join(dead, " ") != "a.md#two b.md ../verbs#x images/none.svg" {
		t.Errorf("dead: %v, %v", dead, err)
	}
}

const list = "# All\n[gloss](c.md)\n## Start\n| x | [top](../README.md), [a](a.md#x), [web](https://example.com/y.md) |\n" +
	"## More\n| y | [a](a.md), [b](b.md), [code](../verbs/doc.go) |\n"

// A page belongs to the first section that links to it. Links of the introduction do not count.
func TestContents(t *testing.T) {
	fsys := files(List, list, "docs/a.md", "", "docs/b.md", "", "docs/c.md", "")
	sections, err := Contents(fsys)
	if err != nil || len(sections) != 2 || sections[0].Title != "Start" || sections[1].Title != "More" ||
		!slices.Equal(sections[0].Pages, []string{"README.md", "docs/a.md"}) || !slices.Equal(sections[1].Pages, []string{"docs/b.md"}) {
		t.Errorf("%v, %v", sections, err)
	}
	if got, err := Unlisted(fsys); err != nil || !slices.Equal(got, []string{"docs/c.md"}) {
		t.Errorf("unlisted: %v, %v", got, err)
	}
	fsys[List].Data = append(fsys[List].Data, "## Empty\n"...)
	if _, err := Contents(fsys); err == nil || !strings.Contains(err.Error(), `"Empty"`) {
		t.Errorf("a section without pages: %v", err)
	}
}

// Stage writes pages, pictures and settings. A page of the site has no links to source files.
func TestStage(t *testing.T) {
	dir := t.TempDir()
	page := "# A\n<!-- begin table -->\n| a | `x \\| y` |\n|---|---|\n<!-- end -->\n[`verbs`](../verbs) [the doc](../verbs/doc.go) ![p](images/p.svg) [b](b.md#x)\n"
	if err := Stage(files(List, list, "README.md", "# Top\n", "docs/a.md", page, "docs/b.md", "# B\n", "docs/images/p.svg", "<svg/>"), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"pages/docs/a.md":         "# A\n\n| a | `x | y` |\n|---|---|\n\n`verbs` the doc (`verbs/doc.go`) ![p](images/p.svg) [b](b.md#x)\n",
		"pages/docs/images/p.svg": "<svg/>",
		"pages/README.md":         "# Top\n",
	} {
		if got, err := os.ReadFile(dir + "/" + name); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	config, err := os.ReadFile(dir + "/mkdocs.yml")
	if err != nil || !strings.Contains(string(config), `"docs/b.md"`) {
		t.Errorf("%v\n%s", err, config)
	}
	for _, name := range []string{"main.html", "site.css", "mkdocs_theme.yml"} {
		if _, err := os.Stat(dir + "/theme/" + name); err != nil {
			t.Error(err)
		}
	}
}

// CheckSite finds each fault of a site, and reports nothing else.
func TestCheckSite(t *testing.T) {
	site := files(
		"index.html", `<link href="site.css"><h1 id="top">T</h1><a href="docs/a.html#one">a</a> <a href="#top">t</a> <a href="https://example.com">w</a> <a href="docs/a.html#old">o</a><p>x <code>- y</code> - z</p>`,
		"site.css", "", "404.html", `<a href="/nowhere">n</a>`,
		"docs/a.html", `<link href="a.css"><a name="old"></a><h2 id="one">One</h2><img src="p.svg"><script src="https://example.com/x.js"></script><a href="../index.html#bottom">b</a> <a href="..">c</a>`+
			"<p>words\n- a list\n| a | table |\n\n# a heading</p>")
	got, err := CheckSite(site)
	want := []string{
		"docs/a.html: there is no ../index.html#bottom",
		"docs/a.html: there is no ..",
		"docs/a.html: there is no a.css",
		"docs/a.html: there is no p.svg",
		"docs/a.html loads https://example.com/x.js from the network",
		"docs/a.html shows Markdown: - a list",
		"docs/a.html shows Markdown: | a | table |",
		"docs/a.html shows Markdown: # a heading",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%s", err, strings.Join(got, "\n"))
	}
}
