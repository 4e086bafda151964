package mutant

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	suite "golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/packages"
)

// analyses are the analyses of go vet that an edit of a protocol can have something to do with.
var analyses = []*analysis.Analyzer{
	appends.Analyzer, assign.Analyzer, bools.Analyzer, copylock.Analyzer, defers.Analyzer, errorsas.Analyzer, ifaceassert.Analyzer,
	loopclosure.Analyzer, lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, stringintconv.Analyzer,
	unmarshal.Analyzer, unreachable.Analyzer, unusedresult.Analyzer,
}

// Every patch applies to the code as it is, and what comes out is correct Go that go vet has
// nothing to say about. The packages that the protocol imports are read once for all: the go
// command would take ten times as long.
func TestPatchesApply(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	vetters := map[string]*vetter{} // by folder
	for _, protocol := range protocols {
		all, err := List("", protocol.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.Class == "" {
				t.Errorf("%s: the header names no Class of violations that catch it", m.Name)
			}
			files, err := m.apply(root)
			if err != nil {
				t.Error(err)
				continue
			}
			folder := path.Dir(m.files[0].NewName)
			if vetters[folder] == nil {
				vetters[folder] = newVetter(t, root, folder)
			}
			for _, x := range vetters[folder].vet(t, files) {
				t.Errorf("%s makes bad code: %s", m.Name, x)
			}
		}
	}
}

// A patch that makes bad code is found.
func TestVetter(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	v := newVetter(t, root, "internal/source")
	for text, want := range map[string]string{
		"func f() int { return \"\" }":          "cannot use",
		"func f() { x := 1 }":                   "declared and not used",
		"func f(a bool) bool { return a && a }": "redundant and",
		"func f() { fmt.Printf(\"%d\", \"\") }": "wrong type",
		"func f() {}":                           "",
	} {
		text = "package source\n\nimport \"fmt\"\n\nvar _ = fmt.Sprint\n\n" + text + "\n"
		got := strings.Join(v.vet(t, map[string][]byte{"internal/source/source.go": []byte(text)}), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if found := v.vet(t, map[string][]byte{"other/other.go": nil}); len(found) != 1 {
		t.Errorf("a file of another package: %q", found)
	}
}

// vetter looks at variants of a package.
type vetter struct {
	folder string
	p      *packages.Package // as it is
}

func newVetter(t *testing.T, root, folder string) *vetter {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Context: t.Context(), Dir: root, Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports |
		packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo}, "./"+folder)
	if err != nil || len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		t.Fatal(folder, err, pkgs)
	}
	return &vetter{folder, pkgs[0]}
}

// Import implements types.Importer.
func (v *vetter) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := v.p.Imports[path]; p != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("the package as it is does not import %s: load it", path)
}

// vet is what is wrong with the package if some of its files are other ones.
func (v *vetter) vet(t *testing.T, files map[string][]byte) (found []string) {
	t.Helper()
	x := &packages.Package{ID: v.p.ID, Name: v.p.Name, PkgPath: v.p.PkgPath, Fset: token.NewFileSet(), TypesSizes: v.p.TypesSizes,
		TypesInfo: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{}}}
	report := func(err error) { found = append(found, err.Error()) }
	for _, name := range v.p.GoFiles {
		short := v.folder + "/" + filepath.Base(name)
		var source any // nil: the file itself
		if text, ok := files[short]; ok {
			source = text
			delete(files, short)
		}
		file, err := parser.ParseFile(x.Fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			report(err)
		}
		x.Syntax = append(x.Syntax, file)
	}
	for name := range files { //lint:ordered an error for each
		report(fmt.Errorf("%s is no file of %s: vet that too", name, v.folder))
	}
	if len(found) == 0 {
		config := types.Config{Importer: v, Error: report, Sizes: x.TypesSizes}
		x.Types, _ = config.Check(x.PkgPath, x.Fset, x.Syntax, x.TypesInfo)
	}
	if len(found) > 0 {
		return found
	}
	graph, err := suite.Analyze(analyses, []*packages.Package{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range graph.Roots {
		if x.Err != nil {
			report(x.Err)
		}
		for _, d := range x.Diagnostics {
			report(fmt.Errorf("%s: %s", x.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return found
}
