package lang

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a test. They keep a search short and errors clear; nobody needs more.
const (
	MaxFile     = 1 << 20 // bytes
	MaxHosts    = 8
	MaxThreads  = 16
	MaxStmts    = 200 // in a thread
	MaxBlocks   = 64
	MaxSize     = 1 << 16 // bytes of a block
	MaxQPs      = 32
	MaxOutcomes = 1000
	maxNesting  = 40
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokSymbol
)

// token is a word of a line.
type token struct {
	kind  tokenKind
	text  string
	num   uint64
	col   int  // in characters, from 1
	space bool // blanks stand before it
}

func (t token) String() string {
	if t.kind == tokEnd {
		return "the end of the line"
	}
	return strconv.Quote(t.text)
}

// line is a line of the file: its words, and its text for errors and for the
// sections that take a text.
type line struct {
	num     int
	text    string // as it stands
	tokens  []token
	comment string // after #, trimmed
	bare    string // without the comment, trimmed
}

var symbols = []string{"<-", "->", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ":", ",", "=",
	"+", "@", "*", ".", "|"}

// lexLine cuts a line into words; freeText lines are cut only in two.
func lexLine(num int, text string) (line, *Error) {
	l := line{num: num, text: text}
	body, comment, _ := strings.Cut(text, "#")
	l.comment, l.bare = strings.TrimSpace(comment), strings.TrimSpace(body)
	first, _ := splitWord(l.bare)
	if first == "" {
		return l, nil
	}
	if freeText[first] {
		l.tokens = []token{{kind: tokName, text: first, col: column(text, strings.Index(text, first))}}
		return l, nil
	}
	for at := 0; at < len(body); {
		c := body[at]
		if c == ' ' || c == '\t' || c == '\r' {
			at++
			continue
		}
		t := token{col: column(body, at), space: at > 0 && (body[at-1] == ' ' || body[at-1] == '\t')}
		n := 0
		switch {
		case isLetter(c):
			n = nameLength(body[at:])
			t.kind, t.text = tokName, body[at:at+n]
		case isDigit(c):
			n = 1
			for at+n < len(body) && (isLetter(body[at+n]) || isDigit(body[at+n])) {
				n++
			}
			t.kind, t.text = tokNumber, body[at:at+n]
			v, err := strconv.ParseUint(t.text, 0, 64)
			if err != nil {
				return l, &Error{Line: num, Col: t.col, Source: text,
					Text: fmt.Sprintf("%s is not a number of at most 64 bits", strconv.Quote(t.text)),
					Hint: "numbers are like 17, 0x1f or 0b101"}
			}
			t.num = v
		default:
			if n = symbolAt(body[at:]); n == 0 {
				r, _ := utf8.DecodeRuneInString(body[at:])
				return l, &Error{Line: num, Col: t.col, Source: text,
					Text: fmt.Sprintf("no statement has a %s", strconv.QuoteRune(r))}
			}
			t.kind, t.text = tokSymbol, body[at:at+n]
		}
		l.tokens = append(l.tokens, t)
		at += n
	}
	return l, nil
}

// freeText are the sections that take the rest of their line as it is.
var freeText = map[string]bool{"doc": true, "source": true, "faults": true, "profiles": true}

// splitWord cuts the first word off.
func splitWord(s string) (first, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

func column(text string, at int) int { return utf8.RuneCountInString(text[:max(at, 0)]) + 1 }

// nameLength is the length of the name at the start of s: a dash is a part of it
// only before a letter or a digit.
func nameLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n]) || s[n] == '-' && n > 0 && n+1 < len(s) && (isLetter(s[n+1]) || isDigit(s[n+1]))) {
		n++
	}
	return n
}

func symbolAt(s string) int {
	for _, x := range symbols {
		if strings.HasPrefix(s, x) {
			return len(x)
		}
	}
	return 0
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
