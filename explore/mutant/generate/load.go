package generate

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// ErrSource: the source cannot be read, or is not correct Go.
var ErrSource = errors.New("generate: the source of the packages")

// load reads the packages with their types. Those that they import come from the compiler's
// export data, which is far quicker than their sources.
func load(ctx context.Context, root string, dirs []string) ([]*packages.Package, error) {
	patterns := make([]string, len(dirs))
	for i, d := range dirs {
		patterns[i] = "./" + filepath.ToSlash(d)
	}
	cfg := &packages.Config{Context: ctx, Dir: root, Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
		packages.NeedImports | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax}
	pkgs, err := packages.Load(cfg, patterns...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("%w: %w", ErrSource, e)
		}
		if len(p.Syntax) == 0 {
			return nil, fmt.Errorf("%w: %s has no Go files", ErrSource, p.PkgPath)
		}
	}
	return pkgs, nil
}

func newMaker(set *schema.Set, root string, p *packages.Package, file *ast.File, ordinals map[string]int) (*maker, error) {
	full := p.Fset.Position(file.Package).Filename
	name, err := filepath.Rel(root, full)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, err)
	}
	source, err := os.ReadFile(full)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, err)
	}
	m := &maker{set: set, p: p, ast: file, name: name, full: full, ordinals: ordinals, imports: map[string]string{}}
	m.edits = edits{source: source, at: p.Fset.File(file.Package)}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSource, err)
		}
		as := p.Imports[path].Name
		if spec.Name != nil {
			as = spec.Name.Name
		}
		m.imports[path] = as
	}
	return m, nil
}
