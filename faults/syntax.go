package faults

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrSyntax is the cause of every error of [ParseBudget].
var ErrSyntax = errors.New("syntax error")

// SyntaxError is what [ParseBudget] returns for a text that is not a budget.
type SyntaxError struct {
	Input      string // the whole text
	Column     int    // where the mistake is, in characters, from 1; one past the end if something is missing there
	Expected   string // what could have stood there
	Found      string // what stands there
	Suggestion string // what was perhaps meant; may be empty
}

// Unwrap returns [ErrSyntax].
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// Error returns three lines: what is wrong, the input, and a caret under the
// column.
func (e *SyntaxError) Error() string {
	suggestion := ""
	if e.Suggestion != "" {
		suggestion = "; did you mean " + e.Suggestion + "?"
	}
	line, caret := excerpt(e.Input, e.Column)
	return fmt.Sprintf("faults: %v at column %d: expected %s, found %s%s\n  %s\n  %s^",
		ErrSyntax, e.Column, e.Expected, e.Found, suggestion, line, strings.Repeat(" ", caret))
}

// excerptWidth is how much of a long input an error shows on each side of the
// mistake.
const excerptWidth = 60

// excerpt returns the input around the column on one line, and how many
// characters of it stand before the column.
func excerpt(input string, column int) (line string, caret int) {
	runes := []rune(input)
	at := max(0, min(column-1, len(runes)))
	from, to := max(0, at-excerptWidth), min(len(runes), at+excerptWidth)
	head, tail := "", ""
	if from > 0 {
		head = "..."
	}
	if to < len(runes) {
		tail = "..."
	}
	return head + strings.Map(printable, string(runes[from:to])) + tail, len(head) + at - from
}

// printable keeps the caret in place: every character takes one column.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsMark(r), !unicode.IsPrint(r):
		return '?'
	}
	return r
}
