package strace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// lineReader yields the lines of a trace, none longer than max.
type lineReader struct {
	br  *bufio.Reader
	buf []byte
	n   int // lines given
	max int
}

// next returns a line without its terminator, valid until the next call, and whether
// it had one. After the last line the error is io.EOF.
func (l *lineReader) next() (line []byte, ended bool, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.br.ReadSlice('\n')
		if len(l.buf)+len(part) > l.max {
			return nil, false, errAt(l.n+1, 0, ErrTooLarge, mendRaise,
				"the line is longer than %d bytes (MaxLine)", l.max)
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			l.n++
			return bytes.TrimRight(l.buf, "\r\n"), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			l.n++
			return l.buf, false, nil
		case errors.Is(err, io.EOF):
			return nil, false, io.EOF
		default:
			return nil, false, fmt.Errorf("strace: reading line %d: %w", l.n+1, err)
		}
	}
}

// maxPID is the largest process number of Linux. A larger number in front of
// a line is a time in seconds.
const maxPID = 1 << 22

// splitPrefix takes what strace writes in front of an event: the process
// ("1234 ", "1234<name> " or "[pid  1234] "), the time (-t, -tt, -ttt, -r),
// the number of the call (-n) and the instruction pointer (-i). at is where
// the event begins. pid is 0 if the line names no process.
func splitPrefix(line []byte) (pid, at int) {
	i := skipSpaces(line, 0)
	pid, i = takePID(line, i)
	for {
		i = skipSpaces(line, i)
		end := prefixField(line, i)
		if end == i {
			return pid, i
		}
		i = end
	}
}

func takePID(line []byte, i int) (pid, next int) {
	if rest, ok := bytes.CutPrefix(line[i:], []byte("[pid ")); ok {
		j := skipSpaces(rest, 0)
		k := skipDigits(rest, j)
		end := bytes.IndexByte(rest[k:], ']')
		if n, err := strconv.Atoi(string(rest[j:k])); err == nil && n <= maxPID && end >= 0 {
			return n, i + len("[pid ") + k + end + 1
		}
		return 0, i
	}
	k := skipDigits(line, i)
	n, err := strconv.Atoi(string(line[i:k]))
	if err != nil || n > maxPID || k >= len(line) {
		return 0, i
	}
	if line[k] == '<' { // -Y puts the program's name after the number
		if end := bytes.Index(line[k:], []byte("> ")); end >= 0 {
			return n, k + end + 1
		}
	}
	if line[k] == ' ' {
		return n, k
	}
	return 0, i
}

// prefixField returns the end of the time, call number or pointer that begins
// at i, or i if there is none. A time may be bare or "(+     0.000012)".
func prefixField(line []byte, i int) int {
	if i >= len(line) {
		return i
	}
	switch c := line[i]; {
	case c == '(' && i+1 < len(line) && line[i+1] == '+', c == '[' && !bytes.HasPrefix(line[i:], []byte("[ Process")):
		closing := byte(')')
		if c == '[' {
			closing = ']'
		}
		if end := bytes.IndexByte(line[i:], closing); end >= 0 {
			return i + end + 1
		}
	case c >= '0' && c <= '9':
		j := i
		for j < len(line) && (isDigit(line[j]) || line[j] == ':' || line[j] == '.') {
			j++
		}
		if j < len(line) && line[j] == ' ' {
			return j
		}
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func skipDigits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func skipSpaces(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

// isDecoration recognizes lines that strace adds and that are not events: its own
// messages, stack traces (-k) and dumps (-e write=...).
func isDecoration(line, event []byte) bool {
	if len(event) == 0 || bytes.HasPrefix(line, []byte(" | ")) || bytes.HasPrefix(line, []byte(" > ")) {
		return true
	}
	for _, p := range []string{"strace: ", "Process ", "[ Process "} {
		if bytes.HasPrefix(event, []byte(p)) {
			return true
		}
	}
	return false
}
