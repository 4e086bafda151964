package view

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// around is how many lines before and after a line of the protocol are shown.
const around = 3

// maxLine bounds how much of a long line of source is shown, in bytes.
const maxLine = 200

// sources collects the lines of the protocol that events name.
type sources struct {
	list  []Source
	index map[string]int
	read  func(string) ([]byte, error)
	files map[string][]string
}

func newSources(read func(string) ([]byte, error)) *sources {
	return &sources{list: []Source{}, index: map[string]int{}, files: map[string][]string{}, read: read}
}

// at is the index of a line, which may be in the list already; -1 if it is none.
func (s *sources) at(name, file string) int {
	if name == "" {
		return -1
	}
	if i, ok := s.index[name]; ok {
		return i
	}
	x := Source{Name: name, Lines: []string{}}
	_, number, _ := strings.Cut(name, ":")
	x.Line, _ = strconv.Atoi(number)
	if lines := s.lines(file); x.Line > 0 && x.Line <= len(lines) {
		from, to := max(x.Line-around, 1), min(x.Line+around, len(lines))
		x.First = from
		for _, l := range lines[from-1 : to] {
			x.Lines = append(x.Lines, shortened(l))
		}
	}
	s.index[name] = len(s.list)
	s.list = append(s.list, x)
	return s.index[name]
}

// lines are the lines of a file, or none if it cannot be read.
func (s *sources) lines(file string) []string {
	lines, ok := s.files[file]
	if !ok && s.read != nil && file != "" {
		if text, err := s.read(file); err == nil && utf8.Valid(text) {
			lines = strings.Split(strings.ReplaceAll(string(text), "\t", "    "), "\n")
		}
		s.files[file] = lines
	}
	return lines
}

func shortened(l string) string {
	if len(l) <= maxLine {
		return l
	}
	return strings.ToValidUTF8(l[:maxLine], "") + "…"
}
