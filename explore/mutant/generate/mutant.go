package generate

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// Generate makes all mutants of the packages in folders dirs of the source tree root, and of the
// functions that these use of the packages in folders kit.
func Generate(ctx context.Context, root string, dirs []string, kit ...string) (*schema.Set, error) {
	own, err := load(ctx, root, dirs)
	if err != nil {
		return nil, err
	}
	var shared []*packages.Package
	if len(kit) > 0 {
		if shared, err = load(ctx, root, kit); err != nil {
			return nil, err
		}
	}
	uses := used(own, shared)
	set := &schema.Set{Files: map[string][]byte{}}
	ordinals := map[string]int{}
	for i, p := range slices.Concat(own, shared) {
		waits := waiting(p)
		for _, file := range p.Syntax {
			m, err := newMaker(set, root, p, file, ordinals)
			if err != nil {
				return nil, err
			}
			m.waits = waits
			if i >= len(own) {
				m.uses = uses
			}
			m.file(inspector.New([]*ast.File{file}))
			set.Files[m.name] = m.text()
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSource, err)
		}
		set.Files[filepath.Join(dir, supportFile)] = support(p.Name)
	}
	return set, nil
}

// maker makes the mutants of one file.
type maker struct {
	edits
	set      *schema.Set
	p        *packages.Package
	ast      *ast.File
	name     string // from the root
	full     string
	ordinals map[string]int
	function string
	imports  map[string]string // the names under which the file has other packages
	waits    map[*types.Func]bool
	uses     map[string]bool // the functions that have mutants; nil: all
}

// add makes a mutant, and returns its number.
func (m *maker) add(op schema.Operator, at ast.Node, before, after string) int {
	key := m.function + ":" + string(op)
	m.ordinals[key]++
	return m.set.Add(schema.Mutant{ID: fmt.Sprintf("%s:%d", key, m.ordinals[key]), Operator: op, Function: m.function,
		File: filepath.ToSlash(m.name), Line: m.line(at.Pos()), Before: oneLine(before), After: oneLine(after)})
}

func (m *maker) line(p token.Pos) int { return m.p.Fset.Position(p).Line }

// maxText bounds the source text that a result shows.
const maxText = 160

// oneLine joins text into one line, and shortens it.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxText {
		text = string(r[:maxText]) + "…"
	}
	return text
}

// functionName returns the name of a function in an ID: ncl.File.Record for a method.
func functionName(pkg string, d *ast.FuncDecl) string {
	parts := []string{pkg}
	if d.Recv != nil && len(d.Recv.List) == 1 {
		parts = append(parts, receiver(d.Recv.List[0].Type))
	}
	return strings.Join(append(parts, d.Name.Name), ".")
}

func receiver(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return "_"
}
