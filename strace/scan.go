package strace

import (
	"bytes"
	"strconv"
)

// call is one finished system call of a trace.
type call struct {
	name string
	args []arg
	ret  int64
	unkn bool   // the result is "?"
	note []byte // what -y says of the result, without < and >
	line int    // where the call ended
}

// arg is one argument as strace wrote it. col is its column, 0 if the call
// was written in two parts.
type arg struct {
	text []byte
	col  int
}

// scanError is a fault in the text of a call, at a byte of it.
type scanError struct {
	at   int
	what string
	cut  bool // the text ended too early
}

// scanCall takes a call apart. text begins with the call's name; open is
// where its "(" is.
func scanCall(text []byte, open int) (*call, *scanError) {
	c := &call{name: string(text[:open])}
	i := open + 1
	start := i
	for depth := 0; ; {
		if i >= len(text) {
			return nil, &scanError{i, "the call's arguments are not closed", true}
		}
		switch text[i] {
		case '"':
			end, bad := skipString(text, i)
			if bad != nil {
				return nil, bad
			}
			i = end
			continue
		case '/':
			if bytes.HasPrefix(text[i:], []byte("/*")) {
				i = skipComment(text, i)
				continue
			}
		case '<':
			if isNote(text, i) {
				end, bad := skipNote(text, i)
				if bad != nil {
					return nil, bad
				}
				i = end
				continue
			}
		case '(', '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				c.addArg(text, start, i)
				start = i + 1
			}
		case ')':
			if depth == 0 {
				c.addArg(text, start, i)
				return c, c.scanResult(text, i+1)
			}
			depth--
		}
		i++
	}
}

func (c *call) addArg(text []byte, from, to int) {
	from = skipSpaces(text, from)
	if from >= to && len(c.args) == 0 {
		return // no arguments at all
	}
	c.args = append(c.args, arg{bytes.TrimRight(text[min(from, to):to], " "), from + 1})
}

// skipString returns the end of the string that begins at i.
func skipString(text []byte, i int) (int, *scanError) {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '"':
			return j + 1, nil
		}
	}
	return 0, &scanError{i, "the string that begins here is not closed", true}
}

func skipComment(text []byte, i int) int {
	if end := bytes.Index(text[i+2:], []byte("*/")); end >= 0 {
		return i + 2 + end + 2
	}
	return len(text)
}

// isNote distinguishes the "<" of -y, right after a number or AT_FDCWD, from others.
func isNote(text []byte, i int) bool {
	if i == 0 || i+1 < len(text) && text[i+1] == '<' || text[i-1] == '<' {
		return false
	}
	return isDigit(text[i-1]) || text[i-1] == 'D'
}

// skipNote returns the end of the note of -y that begins at i. A device has a
// note in its note (</dev/null<char 1:3>>); a connection has an arrow in
// brackets (<TCP:[10.0.0.1:1->10.0.0.2:2]>). strace writes "<" and ">" in the
// names of files as numbers, so they do not confuse.
func skipNote(text []byte, i int) (int, *scanError) {
	depth, brackets := 0, 0
	isPath := i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '\\')
	for j := i; j < len(text); j++ {
		switch c := text[j]; {
		case c == '[' && !isPath:
			brackets++
		case c == ']' && !isPath:
			brackets--
		case brackets > 0:
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth == 0 {
				return j + 1, nil
			}
		}
	}
	return 0, &scanError{i, "the comment that begins here is not closed", true}
}

// scanResult takes what follows the arguments: " = 12", " = 3</tmp/x>",
// " = -1 ENOENT (No such file or directory)" or " = ?".
func (c *call) scanResult(text []byte, i int) *scanError {
	i = skipSpaces(text, i)
	if i >= len(text) {
		return &scanError{i, "the call has no result", true}
	}
	if text[i] != '=' {
		return &scanError{i, `"=" and a result must follow the call`, false}
	}
	i = skipSpaces(text, i+1)
	if i >= len(text) {
		return &scanError{i, "the call has no result", true}
	}
	if text[i] == '?' {
		c.unkn = true
		return nil
	}
	end := i
	for end < len(text) && text[end] != ' ' && text[end] != '<' {
		end++
	}
	n, err := strconv.ParseInt(string(text[i:end]), 0, 64)
	if err != nil {
		// An address may be beyond int64; no call of interest gives one.
		u, err := strconv.ParseUint(string(text[i:end]), 0, 64)
		if err != nil {
			return &scanError{i, "the result is not a number", false}
		}
		n = int64(u >> 1)
	}
	c.ret = n
	if end < len(text) && text[end] == '<' {
		stop, bad := skipNote(text, end)
		if bad != nil {
			return bad
		}
		c.note = text[end+1 : stop-1]
	}
	return nil
}
