package lang

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// parser parses a file line by line. Within a line, toks are its words.
type parser struct {
	file string
	test *Test
	l    line
	at   int
	seen map[string]bool
	cur  *Thread
	out  *Outcome
}

// bail carries the first error out of the parser.
type bail struct{ err *Error }

// Ext is the extension of litmus test files.
const Ext = ".litmus"

// Parse reads a test; file is its name in errors. Every error is an [*Error]. It checks the
// grammar; package litmus, which runs tests, checks the names.
func Parse(file string, text []byte) (t *Test, err error) {
	p := &parser{file: file, test: &Test{File: file, text: string(text)}, seen: map[string]bool{}}
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(bail)
			if !ok {
				panic(r)
			}
			if b.err.File == "" {
				b.err.File = file
			}
			t, err = nil, b.err
		}
	}()
	if len(text) > MaxFile {
		panic(bail{&Error{Line: 1, Col: 1, Text: fmt.Sprintf("the file has %d bytes; a test has at most %d", len(text), MaxFile)}})
	}
	if !utf8.Valid(text) {
		panic(bail{&Error{Line: 1 + bytes.Count(text[:invalidAt(text)], []byte("\n")), Col: 1, Text: "the file is not UTF-8 text"}})
	}
	num := 0
	for text := range strings.Lines(string(text)) {
		num++
		l, lerr := lexLine(num, strings.TrimRight(text, "\r\n"))
		if lerr != nil {
			panic(bail{lerr})
		}
		if len(l.tokens) == 0 {
			continue
		}
		p.l, p.at = l, 0
		p.line()
	}
	p.complete()
	return p.test, nil
}

func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return 0
}

// ErrorAt is an error about the test at a place in it.
func (t *Test) ErrorAt(at Pos, text, hint string) *Error {
	e := &Error{File: t.File, Line: max(at.Line, 1), Col: max(at.Col, 1), Text: text, Hint: hint}
	n := e.Line
	for l := range strings.Lines(t.text) {
		if n--; n == 0 {
			e.Source = strings.TrimRight(l, "\r\n")
		}
	}
	return e
}

var sections = []string{"litmus", "doc", "source", "rule", "profiles", "faults", "hosts", "dram", "pmem", "mr", "cq", "qp", "show",
	"thread", "recover", "exists"}

// line parses one line: a section, or a part of the current thread or outcome.
func (p *parser) line() {
	t := p.peek()
	if p.test.Name == "" && t.text != "litmus" {
		p.failAt(t, "the first line is `litmus NAME`", "")
	}
	if p.out != nil && p.isVerdict() {
		p.verdict()
		return
	}
	if t.kind == tokName && p.section(t.text) {
		return
	}
	switch {
	case p.cur != nil:
		if len(p.cur.Body) >= MaxStmts {
			p.failAt(t, fmt.Sprintf("thread %s has more than %d statements", p.cur.Name, MaxStmts), "")
		}
		p.cur.Body = append(p.cur.Body, p.statement(0))
		p.end()
	case p.out != nil:
		p.failAt(t, "a verdict is `PROFILE Y` or `PROFILE N`, and the profiles are *, "+strings.Join(faults.ProfileNames(), ", ")+
			" and these with a knob turned; found "+t.String(), mistake.Suggest(t.text, append(faults.ProfileNames(), sections...)))
	default:
		p.failAt(t, fmt.Sprintf("expected a section (%s), found %v", strings.Join(sections, ", "), t), mistake.Suggest(t.text, sections))
	}
}

// section parses a line that begins with the name of a section.
func (p *parser) section(name string) bool {
	switch name {
	case "litmus":
		p.once(name)
		p.next()
		p.test.Name = p.name("the name of the test")
	case "doc":
		p.test.Doc = strings.Join(strings.Fields(p.test.Doc+" "+p.rest()), " ")
		return p.over()
	case "source":
		p.once(name)
		p.test.Source = p.rest()
		return p.over()
	case "rule":
		p.next()
		for ok := true; ok; ok = p.peek().kind != tokEnd {
			p.test.Rules = append(p.test.Rules, p.name("the identifier of a rule, such as completion-order"))
			p.accept(",")
		}
	case "profiles":
		p.once(name)
		p.profiles()
		return p.over()
	case "faults":
		p.once(name)
		p.budget()
		return p.over()
	case "hosts":
		p.once(name)
		p.next()
		for ok := true; ok; ok = p.peek().kind != tokEnd {
			p.test.Hosts = append(p.test.Hosts, p.name("the name of a host"))
			p.accept(",")
		}
	case "dram", "pmem":
		p.memory()
	case "mr":
		p.mr()
	case "cq":
		m := CQ{Pos: p.pos()}
		p.next()
		m.Name = p.name("the name of a completion queue")
		p.word("on")
		m.Host = p.name("a host")
		p.test.CQs = append(p.test.CQs, m)
	case "qp":
		p.qp()
	case "show":
		p.next()
		for ok := true; ok; ok = p.peek().kind != tokEnd {
			p.test.Show = append(p.test.Show, p.term())
			p.accept(",")
		}
	case "thread", "recover":
		p.thread(name == "recover")
		p.end()
		return true
	case "exists":
		p.exists()
		p.end()
		return true
	default:
		return false
	}
	p.end()
	return p.over()
}

// over finishes the current thread or outcome.
func (p *parser) over() bool {
	p.cur, p.out = nil, nil
	return true
}

func (p *parser) once(name string) {
	if p.seen[name] {
		p.failAt(p.peek(), "there is a second `"+name+"`", "")
	}
	p.seen[name] = true
}

// complete checks for the mandatory parts of a file.
func (p *parser) complete() {
	t := p.test
	missing := func(what, example string) {
		panic(bail{&Error{Line: max(p.l.num, 1), Col: 1, Text: "the file ends and has no `" + what + "`", Hint: "add `" + example + "`"}})
	}
	switch {
	case t.Name == "":
		missing("litmus", "litmus NAME")
	case t.Doc == "":
		missing("doc", "doc One sentence that states the question.")
	case t.Source == "":
		missing("source", "source notes 3, test 3")
	case len(t.Rules) == 0:
		missing("rule", "rule completion-order")
	case len(t.Hosts) == 0:
		missing("hosts", "hosts A B")
	case len(t.Threads) == 0:
		missing("thread", "thread A")
	case len(t.Outcomes) == 0:
		missing("exists", "exists r1 == 1")
	}
}

// profiles reads a list of profiles.
func (p *parser) profiles() {
	for _, name := range strings.Fields(strings.ReplaceAll(p.rest(), ",", " ")) {
		prof, err := faults.ProfileByName(name)
		if err != nil {
			p.failText(name, strings.TrimPrefix(err.Error(), "faults: "))
		}
		p.test.Profiles = append(p.test.Profiles, prof.Name)
	}
	if len(p.test.Profiles) == 0 {
		p.failAt(p.peek(), "`profiles` without a profile", "")
	}
}

// budget reads the file's budget of faults.
func (p *parser) budget() {
	text := p.rest()
	b, err := faults.ParseBudget(text)
	if err != nil {
		p.failText(text, strings.TrimPrefix(strings.Split(err.Error(), "\n")[0], "faults: "))
	}
	p.test.Faults = b.String()
}

// isVerdict reports whether the line is a profile followed by Y or N.
func (p *parser) isVerdict() bool {
	f := strings.Fields(p.l.bare)
	return len(f) == 2 && (f[1] == "Y" || f[1] == "N")
}

func (p *parser) verdict() {
	f := strings.Fields(p.l.bare)
	v := Verdict{Pos: p.pos(), Profile: f[0], Reached: f[1] == "Y", Why: p.l.comment}
	if v.Profile != "*" {
		prof, err := faults.ProfileByName(v.Profile)
		if err != nil {
			p.failText(f[0], strings.TrimPrefix(err.Error(), "faults: "))
		}
		v.Profile = prof.Name
	}
	for _, x := range p.out.Verdicts {
		if x.Profile == v.Profile {
			p.failText(f[0], "there is a second verdict for "+v.Profile)
		}
	}
	p.out.Verdicts = append(p.out.Verdicts, v)
}

// accessFlags are the names of access flags in a test.
var accessFlags = []struct {
	name string
	flag verbs.Access
}{
	{"write", verbs.RemoteWrite}, {"read", verbs.RemoteRead}, {"atomic", verbs.RemoteAtomic},
	{"flush-global", verbs.FlushGlobal}, {"flush-persistent", verbs.FlushPersistent},
}

func accessNames() []string {
	out := []string{"none", "all"}
	for _, a := range accessFlags {
		out = append(out, a.name)
	}
	return out
}

// access reads a list like write|read, or none.
func (p *parser) access() *verbs.Access {
	var a verbs.Access
	for {
		t := p.next()
		switch flag := accessFlag(t.text); {
		case t.text == "all":
			a = AllAccess
		case flag != 0:
			a |= flag
		case t.text != "none":
			p.failAt(t, fmt.Sprintf("expected access flags (%s), found %v", mistake.OneOf(accessNames()), t), mistake.Suggest(t.text, accessNames()))
		}
		if !p.accept("|") {
			return &a
		}
	}
}

// ParseAccess reads a list of flags that the parser has checked, such as that of an [Option].
func ParseAccess(text string) verbs.Access {
	var a verbs.Access
	for name := range strings.SplitSeq(text, "|") {
		if name == "all" {
			return AllAccess
		}
		a |= accessFlag(name)
	}
	return a
}

func accessFlag(name string) verbs.Access {
	for _, f := range accessFlags {
		if f.name == name {
			return f.flag
		}
	}
	return 0
}

// AllAccess is what a block and a QP let the peer do unless the test says otherwise.
const AllAccess = verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic | verbs.FlushGlobal | verbs.FlushPersistent
