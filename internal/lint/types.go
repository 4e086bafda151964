package lint

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Exports gives the types of packages outside the module, from the export data
// that the go command keeps in its build cache.
type Exports struct {
	dir   string
	files map[string]string
	gc    types.Importer
}

// NewExports makes an importer of everything that the module in dir can import.
func NewExports(dir string) *Exports {
	e := &Exports{dir: dir, files: map[string]string{}}
	e.gc = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if e.files[path] == "" {
			return nil, fmt.Errorf("lint: no export data for %s", path)
		}
		return os.Open(e.files[path])
	})
	return e
}

// Import implements types.Importer.
func (e *Exports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	return e.gc.Import(path)
}

// fetch asks the go command for the paths not known yet.
func (e *Exports) fetch(paths []string) error {
	args := []string{"list", "-e", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
	known := len(args)
	for _, p := range paths {
		if _, ok := e.files[p]; !ok && p != "C" && p != "unsafe" {
			args = append(args, p)
		}
	}
	if len(args) == known {
		return nil
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = e.dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("lint: go list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			e.files[path] = file
		}
	}
	return nil
}

// foreignImports returns the packages of other modules that must be known to check
// the types of the deterministic packages.
func (r *Repo) foreignImports() []string {
	foreign := map[string]bool{}
	seen := map[*Package]bool{}
	var visit func(*Package)
	visit = func(p *Package) {
		if p == nil || seen[p] {
			return
		}
		seen[p] = true
		for _, f := range p.built() {
			for _, path := range f.Imports() {
				if rel, ok := r.local(path); ok {
					visit(r.byPath[rel])
				} else {
					foreign[path] = true
				}
			}
		}
	}
	for _, p := range r.Packages {
		if deterministic(p.Path) {
			visit(p)
		}
	}
	return slices.Sorted(maps.Keys(foreign))
}

// built returns the files of p that a plain go build compiles.
func (p *Package) built() []*File {
	return slices.DeleteFunc(p.Code(), func(f *File) bool { return !f.Built })
}

// Import implements types.Importer over the module and what it imports.
func (r *Repo) Import(path string) (*types.Package, error) {
	rel, ok := r.local(path)
	if !ok {
		return r.std.Import(path)
	}
	p := r.byPath[rel]
	if p == nil {
		return nil, fmt.Errorf("no package %s", path)
	}
	r.typed(p)
	return p.types, nil
}

// typed returns what go/types knows of p. On code that does not compile it is
// incomplete, and [checkTypes] reports it.
func (r *Repo) typed(p *Package) *types.Info {
	if p.info != nil {
		return p.info
	}
	p.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf := types.Config{Importer: r, FakeImportC: true, Error: func(err error) {
		if p.broken == nil {
			p.broken = err
		}
	}}
	var files []*ast.File
	for _, f := range p.built() {
		files = append(files, f.AST)
	}
	p.types, _ = conf.Check(r.Module+"/"+p.Path, r.fset, files, p.info) // the first error is in p.broken
	return p.info
}

// checkTypes reports the deterministic packages that the other rules could not read.
func checkTypes(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		if !deterministic(p.Path) {
			continue
		}
		r.typed(p)
		if p.broken != nil {
			found = append(found, Finding{p.Path, 0,
				fmt.Sprintf("does not compile, so its rules cannot be checked: %v; fix that first", p.broken)})
		}
	}
	return found
}

func opener(fsys fs.FS) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) { return fsys.Open(name) }
}
