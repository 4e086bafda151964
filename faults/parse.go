package faults

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

const none = "none" // the empty budget

// ParseBudget parses a budget; the package documentation has the grammar. The
// empty budget is nil. An error is a [*SyntaxError], which wraps [ErrSyntax].
func ParseBudget(s string) (Budget, error) {
	p := &parser{input: s, runes: []rune(s)}
	b, err := p.budget()
	if err != nil {
		return nil, err // a nil Budget, never half of one
	}
	return b, nil
}

// parser is a recursive-descent parser without lookahead; at is the index of
// the next character.
type parser struct {
	input string
	runes []rune
	at    int
}

func (p *parser) budget() (Budget, error) {
	if p.skipSpace(); p.atEnd() {
		return nil, nil
	}
	if p.word() == none {
		p.at += len(none)
		return nil, p.end("end of input after " + none)
	}
	var b Budget
	for {
		p.skipSpace()
		start := p.at
		if len(b) == MaxRules {
			return nil, p.fail(fmt.Sprintf("at most %d rules", MaxRules), "")
		}
		r, err := p.rule()
		if err != nil {
			return nil, err
		}
		if first := b.find(r); first >= 0 {
			p.at = start
			return nil, p.failFound("rules that differ", fmt.Sprintf("%s again, as in rule %d", r.subject(), first+1), "")
		}
		b = append(b, r)
		if !p.accept(',') {
			return b, p.end(`"," or end of input`)
		}
	}
}

// find returns the index of the rule that bounds the same as r, or -1.
func (b Budget) find(r Rule) int {
	for i, o := range b {
		if o.sameSubject(r) {
			return i
		}
	}
	return -1
}

func (p *parser) rule() (Rule, error) {
	kind, err := p.kind()
	if err != nil {
		return Rule{}, err
	}
	hosts, err := p.hosts(kind)
	if err != nil {
		return Rule{}, err
	}
	if err := p.expect("<=", p.nearBound()); err != nil {
		return Rule{}, err
	}
	count, err := p.count()
	return Rule{Kind: kind, Hosts: hosts, Max: count}, err
}

func (p *parser) kind() (Kind, error) {
	name := p.word()
	kind, err := ParseKind(name)
	if err != nil {
		expected := "a fault kind (" + strings.Join(KindNames(), ", ") + ")"
		return 0, p.fail(expected, mistake.Nearest(name, KindNames()))
	}
	p.at += len(name)
	return kind, nil
}

// hosts parses the patterns with their parentheses.
func (p *parser) hosts(kind Kind) ([]string, error) {
	if err := p.expect("(", ""); err != nil {
		return nil, err
	}
	var hosts []string
	for {
		host, err := p.pattern()
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
		if len(hosts) == kind.Arity() {
			break
		}
		if !p.accept(',') {
			return nil, p.fail(fmt.Sprintf(`"," and a second host (%v takes two)`, kind), "")
		}
	}
	if !p.accept(')') {
		return nil, p.fail(fmt.Sprintf(`")" (%v takes %s)`, kind, hostCount(kind.Arity())), "")
	}
	return hosts, nil
}

func hostCount(n int) string {
	if n == 1 {
		return "one host"
	}
	return strconv.Itoa(n) + " hosts"
}

func (p *parser) pattern() (string, error) {
	p.skipSpace()
	start := p.at
	for !p.atEnd() && isNameChar(p.runes[p.at]) {
		p.at++
	}
	if p.at == start {
		return "", p.fail("a host name or pattern (letters, digits and _ . * / -)", "")
	}
	return string(p.runes[start:p.at]), nil
}

func (p *parser) count() (int, error) {
	p.skipSpace()
	start, n := p.at, 0
	for !p.atEnd() && isDigit(p.runes[p.at]) {
		n = min(n*10+int(p.runes[p.at]-'0'), MaxCount+1)
		p.at++
	}
	if p.at == start || n > MaxCount {
		p.at = start
		return 0, p.fail(fmt.Sprintf("a count from 0 to %d", MaxCount), "")
	}
	return n, nil
}

// nearBound returns "<=" if the next word looks like a misspelt one.
func (p *parser) nearBound() string {
	if p.skipSpace(); !p.atEnd() && strings.ContainsRune("<=≤:", p.runes[p.at]) {
		return "<="
	}
	return ""
}

func (p *parser) atEnd() bool { return p.at == len(p.runes) }

func (p *parser) skipSpace() {
	for !p.atEnd() && (p.runes[p.at] == ' ' || p.runes[p.at] == '\t') {
		p.at++
	}
}

// accept consumes the character c if it comes next after spaces.
func (p *parser) accept(c rune) bool {
	if p.skipSpace(); p.atEnd() || p.runes[p.at] != c {
		return false
	}
	p.at++
	return true
}

// expect consumes the token, which contains no spaces.
func (p *parser) expect(token, suggestion string) error {
	p.skipSpace()
	for i, c := range []rune(token) {
		if p.at+i >= len(p.runes) || p.runes[p.at+i] != c {
			return p.fail(strconv.Quote(token), suggestion)
		}
	}
	p.at += len(token)
	return nil
}

// end fails unless only spaces are left.
func (p *parser) end(expected string) error {
	if p.skipSpace(); p.atEnd() {
		return nil
	}
	return p.fail(expected, "")
}

// word returns the name or number that comes next, without consuming it.
func (p *parser) word() string {
	end := p.at
	for end < len(p.runes) && (isNameChar(p.runes[end]) || unicode.IsLetter(p.runes[end])) {
		end++
	}
	return string(p.runes[p.at:end])
}

// fail returns an error with the next word as the thing found.
func (p *parser) fail(expected, suggestion string) error {
	found := "end of input"
	if word := p.word(); word != "" {
		found = strconv.Quote(shorten(word))
	} else if !p.atEnd() {
		found = strconv.Quote(string(p.runes[p.at]))
	}
	return p.failFound(expected, found, suggestion)
}

func (p *parser) failFound(expected, found, suggestion string) error {
	return &SyntaxError{Input: p.input, Column: p.at + 1, Expected: expected, Found: found, Suggestion: suggestion}
}

// shorten keeps an error readable when a word is very long.
func shorten(word string) string {
	const most = 60
	if runes := []rune(word); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return word
}
