package mutant

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Errors, to be tested with errors.Is.
var (
	// ErrPatch: a patch is malformed or does not apply.
	ErrPatch = errors.New("mutant: bad patch")
	// ErrSource: the source tree of the program, or the go command, is missing.
	ErrSource = errors.New("mutant: mutants are built from source: run in the source tree, with the go command installed")
	// ErrUnknown: there is no such protocol or mutant.
	ErrUnknown = errors.New("mutant: no such mutant")
	// ErrControl: a scenario of the unmodified code is not verified.
	ErrControl = errors.New("mutant: not verified without a mutant")
	// ErrTool: the go command failed, or the command verbatim that it built.
	ErrTool = errors.New("mutant: a command failed")
)

// Mutant is a deliberate bug.
type Mutant struct {
	Name    string // of the file, without .patch
	Title   string // the bug in a few words
	Breaks  string // what goes wrong
	Paper   string // the sections of the paper that it breaks
	Rule    string // of the semantics, if it breaks the simulator
	Finding string // the number of the finding in docs/findings.md, or empty
	// Scenario is the one to search first, because the bug is in its subject;
	// or empty.
	Scenario string
	// Class is the reason for which it must be caught: the class of the violation, or
	// several, separated by commas; for a mutant of the simulator "too weak" or "too
	// strong"; for a mutant of the checker the class that its yardstick reports.
	Class string
	// CaughtBy is the yardstick that must catch a mutant of the checker. Its input is
	// Program, a small program, or Test, a package and the name of a test.
	CaughtBy, Program, Test string
	Path                    string // of the patch
	files                   []*gitdiff.File
}

// List reads the mutants of a protocol, in the order of their names. dir is the
// source tree; empty means the one around the working directory.
func List(dir, protocol string) ([]*Mutant, error) {
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(root, "testdata", "mutants", filepath.Base(protocol), "*.patch"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: testdata/mutants/%s has no patches", ErrUnknown, protocol)
	}
	var out []*Mutant
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m, err := parse(strings.TrimSuffix(filepath.Base(path), ".patch"), text)
		if err != nil {
			return nil, err
		}
		m.Path = path
		out = append(out, m)
	}
	return out, nil
}

// parse reads a patch file.
func parse(name string, text []byte) (*Mutant, error) {
	bad := func(err error) (*Mutant, error) { return nil, fmt.Errorf("%w: %s: %w", ErrPatch, name, err) }
	head, diff, found := bytes.Cut(text, []byte("\n\n"))
	if !found {
		return bad(errors.New("there is no blank line between the header and the diff"))
	}
	h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(head, "\n\n"...)))).ReadMIMEHeader()
	if err != nil {
		return bad(fmt.Errorf("the header: %w", err))
	}
	m := &Mutant{Name: name, Title: h.Get("Title"), Breaks: h.Get("Breaks"), Paper: h.Get("Paper"), Rule: h.Get("Rule"),
		Finding: h.Get("Finding"), Scenario: h.Get("Scenario"), Class: h.Get("Class"),
		CaughtBy: h.Get("Caught-By"), Program: h.Get("Program"), Test: h.Get("Test")}
	if m.Title == "" || m.Breaks == "" || m.Paper == "" && m.Rule == "" {
		return bad(errors.New("the header must have Title, Breaks and Paper, or Rule instead of Paper"))
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(diff))
	if err != nil {
		return bad(err)
	}
	if len(files) == 0 {
		return bad(errors.New("there is no diff"))
	}
	for i, f := range files {
		if f.IsNew || f.IsDelete || f.IsRename || f.IsCopy || f.IsBinary || !filepath.IsLocal(f.OldName) || f.OldName != f.NewName {
			return bad(fmt.Errorf("%s: a mutant may only change files of the source tree, not add, remove or rename them", f.NewName))
		}
		if slices.ContainsFunc(files[:i], func(g *gitdiff.File) bool { return g.OldName == f.OldName }) {
			return bad(fmt.Errorf("%s is changed by two sections: put their hunks into one", f.NewName))
		}
	}
	m.files = files
	return m, nil
}

// apply returns the files that the mutant changes, with their new content, by their
// paths in the source tree.
func (m *Mutant) apply(root string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, f := range m.files {
		text, err := os.ReadFile(filepath.Join(root, f.OldName))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrPatch, m.Name, err)
		}
		lines := slices.Collect(strings.Lines(string(text)))
		lines, err = applyFile(lines, f.TextFragments)
		if err != nil {
			return nil, fmt.Errorf("%w: %s does not apply to %s: %w", ErrPatch, m.Name, f.OldName, err)
		}
		out[f.OldName] = []byte(strings.Join(lines, ""))
	}
	return out, nil
}

// applyFile applies the hunks of one file.
func applyFile(lines []string, hunks []*gitdiff.TextFragment) ([]string, error) {
	var out []string
	done := 0 // lines that are already in out
	for i, h := range hunks {
		var before, after []string
		for _, l := range h.Lines {
			if l.Old() {
				before = append(before, l.Line)
			}
			if l.New() {
				after = append(after, l.Line)
			}
		}
		at, err := place(lines, before, done)
		if err != nil {
			return nil, fmt.Errorf("hunk %d (%s): %w", i+1, strings.TrimSpace(h.Header()), err)
		}
		out = append(append(out, lines[done:at]...), after...)
		done = at + len(before)
	}
	return append(out, lines[done:]...), nil
}

// place returns the position of the lines of before, searching from line from.
func place(lines, before []string, from int) (int, error) {
	var places []int
	for at := from; len(before) > 0 && at+len(before) <= len(lines); at++ {
		if slices.Equal(lines[at:at+len(before)], before) {
			places = append(places, at)
		}
	}
	switch len(places) {
	case 1:
		return places[0], nil
	case 0:
		return 0, errors.New("its lines no longer exist; remake the patch" + lost(lines, before))
	}
	return 0, fmt.Errorf("its lines occur %d times; give it more context", len(places))
}

// lost names the first line of before that is not in lines.
func lost(lines, before []string) string {
	for _, l := range before {
		if !slices.Contains(lines, l) {
			return fmt.Sprintf(" (%q is gone)", strings.TrimSpace(l))
		}
	}
	return ""
}
