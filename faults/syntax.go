package faults

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// ErrSyntax is the cause of every error of [ParseBudget].
var ErrSyntax = errors.New("syntax error")

// SyntaxError is the error of [ParseBudget] for a text that is not a budget.
type SyntaxError struct {
	Input      string // the whole text
	Column     int    // where the error is, in characters, from 1; one past the end if something is missing there
	Expected   string // what could have stood there
	Found      string // what stands there
	Suggestion string // what was perhaps meant; may be empty
}

// Unwrap returns [ErrSyntax].
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// Error describes the error, and shows the input with a caret under the column.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("faults: %v at column %d: %s",
		ErrSyntax, e.Column, wanted(e.Expected, e.Found, e.Suggestion)) + mistake.Excerpt(e.Input, e.Column)
}

// wanted describes the error at one place of a text.
func wanted(expected, found, suggestion string) string {
	text := "expected " + expected + ", found " + found
	if suggestion != "" {
		text += "; did you mean " + suggestion + "?"
	}
	return text
}
