package litmus

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrTest is wrapped by every error about a litmus test's text.
var ErrTest = errors.New("litmus: bad test")

// Error says where a text is wrong, and how to mend it.
type Error struct {
	File      string
	Line, Col int
	Text      string // what was expected and what was found
	Hint      string // may be empty
	Source    string // the line
}

// Unwrap returns [ErrTest].
func (e *Error) Unwrap() error { return ErrTest }

// Error returns FILE:LINE:COLUMN: TEXT, then the line with a caret below it.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Line, e.Col, e.Text)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if line, caret := excerpt(e.Source, e.Col); strings.TrimSpace(line) != "" {
		fmt.Fprintf(&b, "\n  %s\n  %s^", line, strings.Repeat(" ", caret))
	}
	return b.String()
}

const excerptWidth = 90

// excerpt is the part of a line around a column, and what stands before it there.
func excerpt(line string, col int) (string, int) {
	runes := []rune(line)
	at := max(0, min(col-1, len(runes)))
	from := max(0, at-excerptWidth+20)
	to := min(len(runes), from+excerptWidth)
	return strings.Map(printable, string(runes[from:to])), at - from
}

func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsMark(r), !unicode.IsPrint(r):
		return '?'
	}
	return r
}

// didYouMean suggests the name nearest to s.
func didYouMean(s string, names []string) string {
	s = strings.ToLower(s[:min(len(s), 64)])
	best, distance := "", (len(s)+1)/3+1
	for _, n := range names {
		if d := edits(s, strings.ToLower(n[:min(len(n), 64)])); d < distance && d < max(len(n), 2) {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// edits counts the bytes to insert, delete or replace between a and b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			if a[i] != b[j] {
				diagonal++
			}
			row[j+1] = min(diagonal, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}

// oneOf is a list for people: a, b or c.
func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
