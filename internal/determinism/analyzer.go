package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer applies the rules to the code that the checker runs: see [isChecked].
var Analyzer = &analysis.Analyzer{
	Name: "determinism",
	Doc: `code that the checker runs must depend only on what its host decides

The rules hold for a package that imports host or verbs of verbatim, or something that is written against them, and
neither the simulator, the checker nor a card: it is taken for a protocol. The comment //verbatim:checked puts any other
package under the rules, such as one that a protocol uses, and //verbatim:unchecked with a reason takes a package out. A
range over a map whose order does not matter has a comment //lint:ordered with the reason.`,
	Run: run,
}

// module is the path of this module.
const module = "github.com/verbatim-rdma/verbatim"

// Folders of this module, each with all below it.
var (
	// interfaces are the packages against which a protocol is written.
	interfaces = []string{"verbs", "host", "coord", "kit", "cluster", "protocol"}
	// beside are the packages that run and check a protocol.
	beside = []string{"verbs/sim", "verbs/hw", "verbs/soft", "verbs/verbstest", "host/oshost", "coord/etcd", "explore", "litmus", "bench", "report", "cmd"}
	// own are the folders of this module that the analyzer checks. Cards and hosts are not among them, because they
	// implement the interfaces. Package lint checks the simulator.
	own = []string{"protocol", "kit", "cluster", "coord", "examples"}
)

// Comments of packages.
const (
	checked   = "//verbatim:checked"
	unchecked = "//verbatim:unchecked"
)

func run(pass *analysis.Pass) (any, error) {
	c := &Code{Name: pass.Pkg.Path(), Fset: pass.Fset, Info: pass.TypesInfo}
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.Position(f.FileStart).Filename, "_test.go") {
			c.Files = append(c.Files, f)
		}
	}
	switch says, at := comment(c.Files); {
	case says == unchecked:
		pass.Reportf(at, "%s has no reason; say who runs the package, if not the checker", unchecked)
		return nil, nil
	case strings.HasPrefix(says, unchecked), says == "" && !isProtocol(pass.Pkg):
		return nil, nil
	}
	for _, rule := range []func(*Code) []Finding{Bypasses, MapRanges, Variables} {
		for _, x := range rule(c) {
			pass.Reportf(x.Pos, "%s", x.Text)
		}
	}
	return nil, nil
}

// comment returns the first comment of a package that says whether it is checked, and its place.
func comment(files []*ast.File) (string, token.Pos) {
	for _, f := range files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if text := strings.TrimSpace(c.Text); text == checked || text == unchecked || strings.HasPrefix(text, unchecked+" ") {
					return text, c.Pos()
				}
			}
		}
	}
	return "", token.NoPos
}

// isProtocol reports whether a package is written against the interfaces of a card and a host, and imports none of
// their implementations.
func isProtocol(pkg *types.Package) bool {
	if at, here := strings.CutPrefix(pkg.Path(), module+"/"); here && (!isBelow(at, own) || isBelow(at, beside)) {
		return false
	}
	against := false
	for _, p := range pkg.Imports() {
		switch at, here := strings.CutPrefix(p.Path(), module+"/"); {
		case !here:
		case isBelow(at, beside):
			return false
		case isBelow(at, interfaces):
			against = true
		}
	}
	return against
}

// isBelow reports whether a path is one of these folders, or below one.
func isBelow(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}
