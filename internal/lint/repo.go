package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Repo is a module as the rules see it: everything is read and parsed once.
type Repo struct {
	Module   string
	Packages []*Package        // by path
	Texts    map[string][]byte // every file that is not binary

	fset   *token.FileSet
	byPath map[string]*Package
	std    types.Importer
}

// Package is the Go files of one folder.
type Package struct {
	Path  string // relative to the module's root, "." for the root
	Files []*File

	types  *types.Package
	info   *types.Info
	broken error // why types is not complete
}

// File is one Go file.
type File struct {
	Name  string // relative to the module's root
	AST   *ast.File
	Lines int
	Test  bool
	Built bool // part of a build without tags on this machine
}

// Load reads the module in fsys. Packages of other modules come from exports,
// which is asked once for all of them.
func Load(fsys fs.FS, exports *Exports) (*Repo, error) {
	r := &Repo{
		Texts:  map[string][]byte{},
		fset:   token.NewFileSet(),
		byPath: map[string]*Package{},
		std:    exports,
	}
	if err := r.read(fsys); err != nil {
		return nil, err
	}
	r.Module = moduleOf(r.Texts["go.mod"])
	if r.Module == "" {
		return nil, fmt.Errorf("lint: no module line in go.mod")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		if path.Ext(name) == ".go" && !ignoredByGo(name) {
			if err := r.parse(fsys, name); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(r.Packages, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return r, exports.fetch(r.foreignImports())
}

// read fills Texts. Folders at the root that .gitignore names are not read.
func (r *Repo) read(fsys fs.FS) error {
	skip := map[string]bool{".git": true}
	if ignore, err := fs.ReadFile(fsys, ".gitignore"); err == nil {
		for line := range strings.Lines(string(ignore)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "/") && strings.HasSuffix(line, "/") {
				skip[strings.Trim(line, "/")] = true
			}
		}
	}
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skip[name]:
			return fs.SkipDir
		case !d.Type().IsRegular(), name == ".git": // in a worktree it is a file, and names a path
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if !bytes.Contains(text[:min(len(text), 8000)], []byte{0}) {
			r.Texts[name] = text
		}
		return nil
	})
}

// ignoredByGo reports whether go list would pass over the file.
func ignoredByGo(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "testdata" || part == "vendor" || part[0] == '_' || part[0] == '.' {
			return true
		}
	}
	return false
}

func (r *Repo) parse(fsys fs.FS, name string) error {
	text := r.Texts[name]
	syntax, err := parser.ParseFile(r.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ctx := build.Default
	ctx.JoinPath = path.Join
	ctx.OpenFile = opener(fsys)
	dir, base := path.Split(name)
	built, err := ctx.MatchFile(path.Clean(dir), base)
	if err != nil {
		return err
	}
	p := r.byPath[path.Clean(dir)]
	if p == nil {
		p = &Package{Path: path.Clean(dir)}
		r.byPath[p.Path] = p
		r.Packages = append(r.Packages, p)
	}
	p.Files = append(p.Files, &File{
		Name:  name,
		AST:   syntax,
		Lines: bytes.Count(text, []byte("\n")),
		Test:  strings.HasSuffix(name, "_test.go"),
		Built: built,
	})
	return nil
}

func moduleOf(gomod []byte) string {
	for line := range strings.Lines(string(gomod)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// local returns the path inside the module, or false for other modules.
func (r *Repo) local(importPath string) (string, bool) {
	if importPath == r.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, r.Module+"/")
}

// finding makes a finding at pos.
func (r *Repo) finding(pos token.Pos, format string, args ...any) Finding {
	p := r.fset.Position(pos)
	return Finding{p.Filename, p.Line, fmt.Sprintf(format, args...)}
}

// Code returns the files of p that are not tests.
func (p *Package) Code() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}

// Imports returns the paths that f imports.
func (f *File) Imports() []string {
	paths := make([]string, len(f.AST.Imports))
	for i, spec := range f.AST.Imports {
		paths[i] = importPath(spec)
	}
	return paths
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // the parser has refused such a file
	}
	return p
}
