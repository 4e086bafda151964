package strace

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons for which Parse gives no Trace. Every error of Parse wraps one
// of them, or is an error of the reader.
var (
	// ErrNotStrace: the text does not look like strace output.
	ErrNotStrace = errors.New("not strace output")
	// ErrEmpty: the trace has no lines.
	ErrEmpty = errors.New("empty trace")
	// ErrSyntax: a line of strace output is damaged.
	ErrSyntax = errors.New("damaged line")
	// ErrCutOff: the text ends in the middle of a line.
	ErrCutOff = errors.New("trace cut off")
	// ErrTruncatedString: strace shortened the bytes of a write.
	ErrTruncatedString = errors.New("shortened data")
	// ErrUnknownFD: the log seems to be behind a descriptor without a name.
	ErrUnknownFD = errors.New("descriptor of unknown origin")
	// ErrUnknownOffset: the offset of a write in the log is unknown.
	ErrUnknownOffset = errors.New("unknown file position")
	// ErrUnknownContent: a file of unknown content became the log.
	ErrUnknownContent = errors.New("unknown file content")
	// ErrUnsupported: the log is changed in a way that strace does not show.
	ErrUnsupported = errors.New("unsupported way of writing")
	// ErrNoFile: no file of the trace is the one asked for.
	ErrNoFile = errors.New("no such file in the trace")
	// ErrNoWrites: nothing was written to a file.
	ErrNoWrites = errors.New("no writes")
	// ErrTooLarge: a limit of Options is passed.
	ErrTooLarge = errors.New("too large")
	// ErrBadOptions: Options contradict themselves.
	ErrBadOptions = errors.New("bad options")
)

// ParseError describes where a trace is wrong, what is wrong, and how to fix it.
type ParseError struct {
	Line int    // of the trace, from 1; 0: not about one line
	Col  int    // byte of the line, from 1; 0: not about one byte
	Mend string // what the user can do about it
	Err  error  // wraps one of the sentinels
}

// Error returns "strace: line 3, column 7: what is wrong; how to mend it".
func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString("strace: ")
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d", e.Line)
		if e.Col > 0 {
			fmt.Fprintf(&b, ", column %d", e.Col)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	if e.Mend != "" {
		b.WriteString("; " + e.Mend)
	}
	return b.String()
}

// Unwrap returns the wrapped reason.
func (e *ParseError) Unwrap() error { return e.Err }

// errAt makes a ParseError. what is only built here, where it is needed.
func errAt(line, col int, sentinel error, mend, what string, args ...any) *ParseError {
	return &ParseError{
		Line: line, Col: col, Mend: mend,
		Err: fmt.Errorf("%w: %s", sentinel, fmt.Sprintf(what, args...)),
	}
}

// Advice that several errors share.
const (
	mendOutput = "record into a file of its own with -o, so that it contains nothing else"
	mendString = "record again with -s 1000000"
	mendStart  = "record again with the program started by strace (not attached with -p), with -f and all calls of the package's documentation"
	mendRaise  = "record a shorter run, or raise the limit in Options"
	mendLine   = "record again, or remove the line if it is not strace's"
)

// brief shows the beginning of foreign text in an error without spilling it.
func brief(text []byte) string {
	const most = 40
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q...", text[:most])
}
