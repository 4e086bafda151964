package lang

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
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
	return b.String() + mistake.Excerpt(e.Source, e.Col)
}
