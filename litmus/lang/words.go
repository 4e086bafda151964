package lang

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// peek is the next word of the line.
func (p *parser) peek() token { return p.ahead(0) }

func (p *parser) ahead(n int) token {
	if p.at+n < len(p.l.tokens) {
		return p.l.tokens[p.at+n]
	}
	return token{kind: tokEnd, col: utf8.RuneCountInString(strings.TrimRight(p.l.text, " \t\r")) + 1}
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

// accept takes the symbol or word if it is next.
func (p *parser) accept(text string) bool {
	if t := p.peek(); t.kind != tokEnd && t.text == text {
		p.at++
		return true
	}
	return false
}

// symbol takes a symbol that must be next.
func (p *parser) symbol(text string) {
	if !p.accept(text) {
		p.failAt(p.peek(), fmt.Sprintf("expected %q, found %v", text, p.peek()), "")
	}
}

// word takes a word that must be next.
func (p *parser) word(text string) {
	t := p.peek()
	if !p.accept(text) {
		p.failAt(t, fmt.Sprintf("expected `%s`, found %v", text, t), mistake.Suggest(t.text, []string{text}))
	}
}

// name takes a name; what says of what.
func (p *parser) name(what string) string {
	t := p.next()
	if t.kind != tokName {
		p.failAt(t, fmt.Sprintf("expected %s, found %v", what, t), "")
	}
	if len(t.text) > 60 {
		p.failAt(t, "a name has at most 60 characters", "")
	}
	return t.text
}

// number takes a number of at most limit.
func (p *parser) number(what string, limit uint64) uint64 {
	t := p.next()
	if t.kind != tokNumber {
		p.failAt(t, fmt.Sprintf("expected %s, found %v", what, t), "")
	}
	if t.num > limit {
		p.failAt(t, fmt.Sprintf("%s is %d; it can be at most %d", what, t.num, limit), "")
	}
	return t.num
}

func (p *parser) end() {
	if t := p.peek(); t.kind != tokEnd {
		p.failAt(t, fmt.Sprintf("expected the end of the line, found %v", t), "")
	}
}

// rest is the text after the first word of the line, without comments.
func (p *parser) rest() string {
	_, rest := splitWord(p.l.bare)
	return rest
}

func (p *parser) pos() Pos { return Pos{p.l.num, p.peek().col} }

func (p *parser) failAt(t token, text, hint string) {
	panic(bail{&Error{Line: p.l.num, Col: t.col, Text: text, Hint: hint, Source: p.l.text}})
}

// failText points at a part of the line.
func (p *parser) failText(part, text string) {
	panic(bail{&Error{Line: p.l.num, Col: column(p.l.text, strings.Index(p.l.text, part)), Text: text, Source: p.l.text}})
}
