package docs

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// link is a link or a picture of a page: its text, and its target, which may name a heading.
var link = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^)\s]+)\)`)

// code is text in which no renderer looks for links: blocks and pieces of code.
var code = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")

// DeadLinks returns the targets of a page's links that name no file of fsys, or no heading in it.
func DeadLinks(fsys fs.FS, page string) ([]string, error) {
	text, err := fs.ReadFile(fsys, page)
	if err != nil {
		return nil, err
	}
	var dead []string
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), "x"), -1) {
		file, place, _ := strings.Cut(m[3], "#")
		if foreign(file) {
			continue
		}
		target := resolve(page, file)
		info, err := fs.Stat(fsys, target)
		if err != nil || info.IsDir() && place != "" {
			dead = append(dead, m[3])
			continue
		}
		if place == "" {
			continue
		}
		b, err := fs.ReadFile(fsys, target)
		if err != nil {
			return nil, err
		}
		if !places(string(b))[place] {
			dead = append(dead, m[3])
		}
	}
	return dead, nil
}

// foreign reports whether a target is outside of the repository.
func foreign(target string) bool {
	return strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:")
}

// resolve returns the file that a link of a page leads to; the empty target is the page itself.
func resolve(page, target string) string {
	if target == "" {
		return page
	}
	return path.Join(path.Dir(page), target)
}

// places are the names by which links can reach the headings of a page: as on GitHub, small
// letters, and hyphens for spaces.
func places(page string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(fence.ReplaceAllString(page, "")) {
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

// fence is a block of code, in which a line that begins with # is no heading.
var fence = regexp.MustCompile("(?ms)^```.*?^```")
