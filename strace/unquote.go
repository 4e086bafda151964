package strace

import (
	"bytes"
	"strconv"
	"strings"
)

// stringArg decodes a string argument. short means that strace left out the
// end of it ("abc"...). at is the byte of text that is wrong, if any.
func stringArg(text []byte) (data []byte, short bool, bad *scanError) {
	if len(text) == 0 || text[0] != '"' {
		return nil, false, &scanError{0, "expected a string, not " + brief(text), false}
	}
	end, bad := skipString(text, 0)
	if bad != nil {
		return nil, false, bad
	}
	data, bad = unescape(text[1 : end-1])
	if bad != nil {
		bad.at++ // the opening quote
		return nil, false, bad
	}
	return data, bytes.HasPrefix(text[end:], []byte("...")), nil
}

// simpleEscapes are the letters that strace (and C) write after a backslash.
var simpleEscapes = map[byte]byte{
	'n': '\n', 't': '\t', 'r': '\r', 'v': '\v', 'f': '\f', 'a': '\a', 'b': '\b', 'e': 0x1b,
	'"': '"', '\\': '\\', '\'': '\'',
}

// unescape undoes strace's escapes: letters, up to three octal digits, and
// two hexadecimal digits (-x, -xx).
func unescape(text []byte) ([]byte, *scanError) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			out = append(out, text[i])
			i++
			continue
		}
		c, n := oneEscape(text[i+1:])
		if n == 0 {
			return nil, &scanError{i, "unknown escape " + brief(text[i:min(i+4, len(text))]), false}
		}
		out = append(out, c)
		i += 1 + n
	}
	return out, nil
}

// oneEscape decodes what follows a backslash, n bytes of it; 0 if it cannot.
func oneEscape(rest []byte) (c byte, n int) {
	if len(rest) == 0 {
		return 0, 0
	}
	if c, ok := simpleEscapes[rest[0]]; ok {
		return c, 1
	}
	base, from, to := 8, 0, 0
	if rest[0] == 'x' {
		base, from, to = 16, 1, min(3, len(rest))
		if to != 3 {
			return 0, 0
		}
	} else {
		for to < min(3, len(rest)) && rest[to] >= '0' && rest[to] <= '7' {
			to++
		}
	}
	v, err := strconv.ParseUint(string(rest[from:to]), base, 8)
	if err != nil {
		return 0, 0
	}
	return byte(v), to
}

// note returns the text that -y wrote after the number of a descriptor, decoded (-xx
// writes it in hexadecimal), without a device's inner note. deleted is set if
// the file had no name any more.
func noteText(text []byte) (name string, deleted bool) {
	plain, bad := unescape(text)
	if bad != nil {
		return "", false
	}
	name = string(plain)
	if i := strings.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	return strings.CutSuffix(name, " (deleted)")
}

// argNote returns the note of a descriptor argument, "" if there is none.
func argNote(a arg) (name string, deleted bool) {
	i := bytes.IndexByte(a.text, '<')
	if i < 0 || a.text[len(a.text)-1] != '>' {
		return "", false
	}
	return noteText(a.text[i+1 : len(a.text)-1])
}

// intArg decodes a number at the front of an argument: "3", "3</tmp/x>",
// "0x10", "AT_FDCWD</tmp>" (as atCwd).
func intArg(a arg) (int64, bool) {
	if bytes.HasPrefix(a.text, []byte("AT_FDCWD")) {
		return atCwd, true
	}
	end := 0
	for end < len(a.text) && a.text[end] != '<' && a.text[end] != ' ' {
		end++
	}
	n, err := strconv.ParseInt(string(a.text[:end]), 0, 64)
	return n, err == nil
}

// atCwd is the number of AT_FDCWD.
const atCwd = -100

// hasFlag looks for a word in "A|B|C".
func hasFlag(text []byte, flag string) bool {
	for _, w := range bytes.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ' ' || r == '=' || r == '{' || r == ',' || r == '}' }) {
		if string(w) == flag {
			return true
		}
	}
	return false
}
