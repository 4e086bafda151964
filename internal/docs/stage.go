package docs

import (
	"embed"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// theme contains the template of a page. The themes of MkDocs load scripts, and some load them from the network.
//
//go:embed theme
var theme embed.FS

// alone matches a line that is only a comment, such as the lines around a table that a test writes. MkDocs treats the
// lines after it as part of the comment, up to an empty line.
var alone = regexp.MustCompile(`(?m)^<!-- .* -->$`)

// row matches a row of a table. GitHub needs a backslash before a bar in code in a table; MkDocs would show the
// backslash.
var row = regexp.MustCompile(`(?m)^\|.*$`)

// Stage writes the input of MkDocs into dir: mkdocs.yml, the theme, and the pages and pictures in the folder pages.
func Stage(fsys fs.FS, dir string) error {
	sections, err := Contents(fsys)
	if err != nil {
		return err
	}
	names := []string{List}
	for _, s := range sections {
		names = append(names, s.Pages...)
	}
	pictures, err := fs.Glob(fsys, "docs/images/*")
	if err != nil {
		return err
	}
	for _, name := range append(names, pictures...) {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			text = []byte(forSite(name, string(text)))
		}
		if err := write(filepath.Join(dir, "pages", filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	if err := os.CopyFS(dir, theme); err != nil {
		return err
	}
	// MkDocs reads YAML, and JSON is YAML.
	text, err := json.MarshalIndent(settings(sections), "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, "mkdocs.yml"), text)
}

// settings returns the settings of MkDocs. A browser opens the site from disk, so no page may need a server or load
// anything from the network. There is no search, because the search of MkDocs needs a server.
func settings(sections []Section) map[string]any {
	nav := []any{map[string]string{"All pages": List}}
	for _, s := range sections {
		nav = append(nav, map[string]any{s.Title: s.Pages})
	}
	return map[string]any{
		"site_name":           "Verbatim",
		"docs_dir":            "pages",
		"site_dir":            "html",
		"strict":              true,
		"use_directory_urls":  false,
		"plugins":             []any{},
		"theme":               map[string]any{"name": nil, "custom_dir": "theme"},
		"markdown_extensions": []any{"sane_lists", map[string]any{"toc": map[string]any{"permalink": "#"}}},
		"nav":                 nav,
	}
}

// forSite converts a page of the repository for the site. The site has no source files, so a link to one becomes its
// path.
func forSite(page, text string) string {
	text = alone.ReplaceAllString(text, "")
	text = row.ReplaceAllStringFunc(text, func(r string) string {
		return code.ReplaceAllStringFunc(r, func(c string) string { return strings.ReplaceAll(c, `\|`, "|") })
	})
	return link.ReplaceAllStringFunc(text, func(l string) string {
		m := link.FindStringSubmatch(l)
		file, _, _ := strings.Cut(m[3], "#")
		if m[1] == "!" || foreign(file) || file == "" || path.Ext(file) == ".md" {
			return l
		}
		if name := resolve(page, file); strings.Trim(m[2], "`") != name {
			return m[2] + " (`" + name + "`)"
		}
		return m[2]
	})
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}
