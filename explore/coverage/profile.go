package coverage

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

// Profile records which statements of some files were reached.
type Profile struct {
	files []*cover.Profile // by name, each once
}

// newProfile takes the files of protocols: of all that [Build] counts, they are those that are not of the main package.
func newProfile(files []*cover.Profile) *Profile {
	p := &Profile{}
	for _, f := range files {
		if path.Dir(f.FileName) != source.Running().Package {
			p.merge(f)
		}
	}
	return p
}

// Union returns the statements that any of the profiles reached.
func Union(all []*Profile) *Profile {
	out := &Profile{}
	for _, p := range all {
		for _, f := range p.files {
			out.merge(f)
		}
	}
	return out
}

func (p *Profile) merge(f *cover.Profile) {
	i, found := slices.BinarySearchFunc(p.files, f.FileName, func(a *cover.Profile, name string) int { return strings.Compare(a.FileName, name) })
	if !found {
		p.files = slices.Insert(p.files, i, &cover.Profile{FileName: f.FileName, Mode: f.Mode, Blocks: slices.Clone(f.Blocks)})
		return
	}
	to := p.files[i]
	for _, b := range f.Blocks {
		at := slices.IndexFunc(to.Blocks, func(x cover.ProfileBlock) bool {
			return x.StartLine == b.StartLine && x.StartCol == b.StartCol && x.EndLine == b.EndLine && x.EndCol == b.EndCol
		})
		if at < 0 {
			to.Blocks = append(to.Blocks, b)
		} else {
			to.Blocks[at].Count += b.Count
		}
	}
}

// State is the coverage of a line.
type State uint8

// The states of lines.
const (
	Nothing State = iota // no statement begins or continues there
	Reached
	Partly // some of its statements were never reached
	Never
)

// File is a file and the lines of it that were reached.
type File struct {
	Name                string // in the source tree
	Statements, Reached int
	// Lines are its lines from the first on, and States what became of them; both are
	// empty if the file could not be read.
	Lines  []string
	States []State
}

// Files returns the files of a profile. read reads a file of the source tree.
func (p *Profile) Files(read func(name string) ([]byte, error)) []File {
	var out []File
	for _, f := range p.files {
		x := File{Name: strings.TrimPrefix(f.FileName, source.Running().Module+"/")}
		for _, b := range f.Blocks {
			x.Statements += b.NumStmt
			if b.Count > 0 {
				x.Reached += b.NumStmt
			}
		}
		if text, err := read(x.Name); err == nil {
			x.Lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			x.States = states(x.Lines, f.Blocks)
		}
		out = append(out, x)
	}
	return out
}

// states returns the state of each line. It considers only blocks that have code in the line.
func states(lines []string, blocks []cover.ProfileBlock) []State {
	out := make([]State, len(lines))
	for _, b := range blocks {
		for n := b.StartLine; n <= b.EndLine && n <= len(lines); n++ {
			from, to := 0, len(lines[n-1])
			if n == b.StartLine {
				from = min(b.StartCol-1, to)
			}
			if n == b.EndLine {
				to = min(b.EndCol-1, to)
			}
			if !isCode(lines[n-1][min(from, to):to]) {
				continue
			}
			now := Never
			if b.Count > 0 {
				now = Reached
			}
			switch out[n-1] {
			case Nothing, now:
				out[n-1] = now
			default:
				out[n-1] = Partly
			}
		}
	}
	return out
}

// isCode: there is more in a part of a line than braces and a comment.
func isCode(text string) bool {
	text, _, _ = strings.Cut(text, "//")
	return strings.Trim(text, " \t{}()") != ""
}

// Range is some lines in a row.
type Range struct{ First, Last int }

// Never returns the lines that were never reached. Lines without code between two of them
// belong to them.
func (f *File) Never() []Range {
	var out []Range
	open := false
	for i, s := range f.States {
		switch {
		case s == Never && open:
			out[len(out)-1].Last = i + 1
		case s == Never:
			out, open = append(out, Range{i + 1, i + 1}), true
		case s != Nothing:
			open = false
		}
	}
	return out
}
