package docs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// List is the page that lists all pages, in the order in which a newcomer should read them.
const List = "docs/README.md"

// Section is a part of the list, with its pages.
type Section struct {
	Title string
	Pages []string // as paths in the repository
}

// Contents reads the list of pages. A page belongs to the first section that links to it, and no link counts twice.
func Contents(fsys fs.FS) ([]Section, error) {
	text, err := fs.ReadFile(fsys, List)
	if err != nil {
		return nil, err
	}
	var out []Section
	seen := map[string]bool{List: true}
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			out = append(out, Section{Title: strings.TrimSpace(title)})
		}
		if len(out) == 0 {
			continue // links of the introduction do not count
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			file, _, _ := strings.Cut(m[3], "#")
			if page := resolve(List, file); path.Ext(page) == ".md" && !foreign(file) && !seen[page] {
				seen[page] = true
				out[len(out)-1].Pages = append(out[len(out)-1].Pages, page)
			}
		}
	}
	for _, s := range out {
		if len(s.Pages) == 0 {
			return nil, fmt.Errorf("%s: the section %q lists no page", List, s.Title)
		}
	}
	return out, nil
}

// Unlisted returns the pages of the folder docs that the list does not name.
func Unlisted(fsys fs.FS) ([]string, error) {
	sections, err := Contents(fsys)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{List: true}
	for _, s := range sections {
		for _, p := range s.Pages {
			listed[p] = true
		}
	}
	all, err := fs.Glob(fsys, "docs/*.md")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range all {
		if !listed[p] {
			out = append(out, p)
		}
	}
	return out, nil
}
