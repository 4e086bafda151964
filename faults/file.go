package faults

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// MaxFile is the largest size of a profile's file, in bytes.
const MaxFile = 64 << 10

// ErrProfileFile is the cause of every error about the text of a profile.
var ErrProfileFile = errors.New("not a profile")

// FileError is an error in the text of a profile.
type FileError struct {
	Line, Column int    // where it is, from 1; the column in characters
	Text         string // the line
	Expected     string // what could have stood there
	Found        string // what stands there
	Suggestion   string // what was perhaps meant; may be empty
}

// Unwrap returns [ErrProfileFile].
func (e *FileError) Unwrap() error { return ErrProfileFile }

// Error reports where the error is and what was expected, and shows the line.
func (e *FileError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s",
		e.Line, e.Column, wanted(e.Expected, e.Found, e.Suggestion)) + mistake.Excerpt(e.Text, e.Column)
}

// Named is a profile from a file.
type Named struct {
	// Title is the name in the file. The profile itself is named after the profile that
	// it modifies, as `strong+Placement=AnyOrder`, so that its results can be
	// reproduced without the file.
	Title   string
	Profile Profile
}

// ParseProfile reads the text of a profile. Each line is a word and a value, separated
// by blanks; a # begins a comment, and empty lines are ignored.
//
//	name mycard          # optional
//	base strong          # a named profile: what the card is like otherwise
//	Placement AnyOrder   # a knob and its value, in any order
//
// A base must come before the knobs, and no word may occur twice. Words and values may
// be in any case. An error about the text is a [*FileError], which wraps
// [ErrProfileFile].
func ParseProfile(text string) (Named, error) {
	p := &profileParser{seen: map[string]int{}}
	for line := range strings.Lines(text) {
		p.line++
		p.text = strings.TrimRight(line, "\r\n")
		if err := p.take(); err != nil {
			return Named{}, err
		}
	}
	if p.profile.Name == "" {
		p.line++
		p.text = ""
		return Named{}, p.fail(1, "a line `base PROFILE` ("+strings.Join(ProfileNames(), ", ")+")", "end of file", "")
	}
	return Named{p.title, p.profile}, nil
}

type profileParser struct {
	line    int
	text    string
	title   string
	profile Profile
	seen    map[string]int // the lines of the words so far, in lower case
}

// field is a run of non-blank characters, and its column.
type field struct {
	text   string
	column int
}

func fieldsOf(line string) []field {
	var out []field
	column, inside := 0, false
	for _, r := range line {
		column++
		switch {
		case r == '#':
			return out
		case unicode.IsSpace(r):
			inside = false
		case inside:
			out[len(out)-1].text += string(r)
		default:
			out, inside = append(out, field{string(r), column}), true
		}
	}
	return out
}

// take parses one line.
func (p *profileParser) take() error {
	f := fieldsOf(p.text)
	if len(f) == 0 {
		return nil
	}
	word := strings.ToLower(f[0].text)
	if at := p.seen[word]; at > 0 {
		return p.fail(f[0].column, "each word once", fmt.Sprintf("%s again, as in line %d", quoted(f[0].text), at), "")
	}
	p.seen[word] = p.line
	k, err := knobByName(word)
	if err != nil && word != "name" && word != "base" {
		words := p.words()
		return p.fail(f[0].column, strings.Join(words, ", "), quoted(f[0].text), mistake.Nearest(word, words))
	}
	what := map[string]string{"name": "a name", "base": "a profile (" + strings.Join(ProfileNames(), ", ") + ")"}[word]
	if what == "" {
		what = "a value of " + k.name + " (" + k.legal + ")"
	}
	end := len([]rune(p.text)) + 1
	switch {
	case len(f) == 1:
		return p.fail(end, what, "end of line", "")
	case len(f) > 2:
		return p.fail(f[2].column, "end of line, or # and a comment", quoted(f[2].text), "")
	}
	return p.set(word, what, k, f)
}

// words returns the words that a line can begin with.
func (p *profileParser) words() []string {
	words := []string{"name", "base"}
	for _, k := range knobs {
		words = append(words, k.name)
	}
	return words
}

func (p *profileParser) set(word, what string, k knob, f []field) error {
	value := f[1]
	switch word {
	case "name":
		if !validName(value.text) {
			return p.fail(value.column, "a name (letters, digits and _ . * / -)", quoted(value.text), "")
		}
		p.title = value.text
		return nil
	case "base":
		base, ok := namedProfile(strings.ToLower(value.text))
		if !ok {
			return p.fail(value.column, what, quoted(value.text), mistake.Nearest(value.text, ProfileNames()))
		}
		p.profile = base
		return nil
	}
	if p.profile.Name == "" {
		return p.fail(f[0].column, "a line `base PROFILE` before the knobs", quoted(f[0].text), "")
	}
	turned, err := p.profile.WithKnob(k.name, value.text)
	if err != nil {
		return p.fail(value.column, what, quoted(value.text), mistake.Nearest(value.text, strings.Split(k.legal, ", ")))
	}
	p.profile = turned
	return nil
}

func (p *profileParser) fail(column int, expected, found, suggestion string) error {
	return &FileError{Line: p.line, Column: column, Text: p.text, Expected: expected, Found: found, Suggestion: suggestion}
}

func quoted(word string) string { return fmt.Sprintf("%q", shorten(word)) }

// Text returns the profile in the form that [ParseProfile] reads.
func (n Named) Text() string {
	var b strings.Builder
	if n.Title != "" {
		fmt.Fprintf(&b, "name %s\n", n.Title)
	}
	base, turned, _ := strings.Cut(n.Profile.Name, "+")
	fmt.Fprintf(&b, "base %s\n", base)
	for turn := range strings.SplitSeq(turned, "+") {
		if knob, value, ok := strings.Cut(turn, "="); ok {
			fmt.Fprintf(&b, "%s %s\n", knob, value)
		}
	}
	return b.String()
}

// IsFile reports whether a profile given on a command line is a file name: it contains
// a slash or ends in .profile. Names of profiles do neither.
func IsFile(given string) bool {
	return strings.ContainsAny(given, `/\`) || strings.HasSuffix(given, ".profile")
}

// FindProfile returns the profile that a command line names: a file if [IsFile] reports
// true, otherwise a name for [ProfileByName]. ProfileByName accepts the name of the
// result in either case.
func FindProfile(given string) (Profile, error) {
	if !IsFile(given) {
		return ProfileByName(given)
	}
	st, err := os.Stat(given)
	if err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	if !st.Mode().IsRegular() || st.Size() > MaxFile {
		return Profile{}, fmt.Errorf("%s: %w: not a regular file, or larger than %d bytes", given, ErrProfileFile, MaxFile)
	}
	text, err := os.ReadFile(given)
	if err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	n, err := ParseProfile(string(text))
	if err != nil {
		return Profile{}, fmt.Errorf("%s: %w", given, err)
	}
	return n.Profile, nil
}
