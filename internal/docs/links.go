package docs

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// link matches a link or a picture. Its groups are the ! of a picture, the text, and the target.
var link = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^)\s]+)\)`)

// code matches blocks and pieces of code. A link inside code is plain text.
var code = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")

// DeadLinks returns the targets of a page's links whose file or heading does not exist.
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

// foreign reports whether a target is outside the repository.
func foreign(target string) bool {
	return strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:")
}

// resolve returns the file that a link of a page names. The empty target is the page itself.
func resolve(page, target string) string {
	if target == "" {
		return page
	}
	return path.Join(path.Dir(page), target)
}

// places returns the anchors of the headings of a page. As on GitHub, they have lower-case
// letters, and hyphens instead of spaces.
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

// fence matches a block of code: a line in it that begins with # is not a heading.
var fence = regexp.MustCompile("(?ms)^```.*?^```")
