package programs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var errText = errors.New("no such program")

func (p *Program) header(text string) error {
	for _, w := range strings.Fields(text) {
		regime, timed := strings.CutPrefix(w, "timers=")
		switch {
		case strings.Contains(w, "<="):
			p.Faults = append(p.Faults, w)
		case timed:
			p.Timers = regime
		case slices.Contains(settings, w):
			p.Set = append(p.Set, w)
		case p.Profile == "":
			p.Profile = w
		default:
			return fmt.Errorf("%w: word %q", errText, w)
		}
	}
	return nil
}

func (p *Program) host(text string) error {
	head, code, ok := strings.Cut(text, ":")
	words := strings.Fields(head)
	if !ok || len(words) == 0 {
		return fmt.Errorf("%w: a host has a name and a colon", errText)
	}
	name, copies, several := strings.Cut(words[0], "*")
	h := Host{Name: name}
	if several {
		n, err := strconv.Atoi(copies)
		if err != nil || n < 1 {
			return fmt.Errorf("%w: %q copies", errText, copies)
		}
		h.Copies = n
	}
	for _, w := range words[1:] {
		switch w {
		case "daemon":
			h.Daemon = true
		case "again":
			h.Again = true
		default:
			return fmt.Errorf("%w: a host that is %q", errText, w)
		}
	}
	r := &reader{words: lex(code)}
	for {
		acts, err := r.acts()
		if err != nil {
			return err
		}
		h.Lives = append(h.Lives, acts)
		if r.next() != "/" {
			break
		}
	}
	if r.at <= len(r.words) {
		return fmt.Errorf("%w: more than an end", errText)
	}
	p.Hosts = append(p.Hosts, h)
	return nil
}

// lex splits code into words and signs.
func lex(code string) []string {
	for _, sign := range []string{";", "{", "}", "/"} {
		code = strings.ReplaceAll(code, sign, " "+sign+" ")
	}
	return strings.Fields(code)
}

// reader reads acts.
type reader struct {
	words []string
	at    int
}

func (r *reader) peek() string {
	if r.at < len(r.words) {
		return r.words[r.at]
	}
	return ""
}

func (r *reader) next() string {
	w := r.peek()
	r.at++
	return w
}

func isSign(w string) bool { return w == "" || w == ";" || w == "{" || w == "}" || w == "/" }

func (r *reader) acts() ([]Act, error) {
	var out []Act
	for {
		switch r.peek() {
		case ";":
			r.at++
			continue
		case "", "}", "/":
			return out, nil
		}
		a, err := r.act()
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
}

func (r *reader) act() (Act, error) {
	var a Act
	if v, ok := strings.CutPrefix(r.peek(), "?"); ok {
		n, err := strconv.Atoi(v)
		if err != nil {
			return a, fmt.Errorf("%w: condition %q", errText, v)
		}
		a.If = n + 1
		r.at++
	}
	a.Do = r.next()
	k, ok := table[a.Do]
	if !ok {
		return a, fmt.Errorf("%w: act %q", errText, a.Do)
	}
	for _, c := range k.takes {
		if err := r.take(c, &a); err != nil {
			return a, fmt.Errorf("%s: %w", a.Do, err)
		}
	}
	if !isSign(r.peek()) || r.peek() == "{" {
		return a, fmt.Errorf("%w: %q after %s", errText, r.peek(), a.Do)
	}
	return a, nil
}

// take reads one argument of an act.
func (r *reader) take(c rune, a *Act) (err error) {
	switch c {
	case 't':
		a.To = r.next()
	case 'a':
		w := r.next()
		if a.At = strings.Index(wordNames, w); a.At < 0 || len(w) != 1 {
			return fmt.Errorf("%w: word %q", errText, w)
		}
	case 'v':
		a.V, err = readValue(r.next())
	case 'w':
		a.W, err = readValue(r.next())
	case 'f':
		if !isSign(r.peek()) {
			a.Flags = r.next()
		}
	case 'b':
		if r.next() != "{" {
			return fmt.Errorf("%w: it takes a body in braces", errText)
		}
		if a.Body, err = r.acts(); err == nil && r.next() != "}" {
			return fmt.Errorf("%w: a brace is not closed", errText)
		}
	}
	return err
}

func readValue(w string) (int, error) {
	if w == "_" {
		return Last, nil
	}
	v, err := strconv.Atoi(w)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%w: value %q", errText, w)
	}
	return v, nil
}
