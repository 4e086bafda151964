package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

const (
	maxFileLines = 700
	maxFuncLines = 120
)

// checkLength keeps files and functions short enough to be read.
func checkLength(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		for _, f := range p.Files {
			if f.Lines > maxFileLines {
				found = append(found, Finding{f.Name, maxFileLines + 1,
					"the file has more than 700 lines; move a part that can be named into a file of its own"})
			}
			for _, decl := range f.AST.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				n := r.fset.Position(fn.End()).Line - r.fset.Position(fn.Pos()).Line + 1
				if n > maxFuncLines {
					found = append(found, r.finding(fn.Pos(),
						"%s has %d lines, more than 120; move steps that can be named into functions of their own", fn.Name.Name, n))
				}
			}
		}
	}
	return found
}

// checkSleep keeps the wall clock out of tests.
func checkSleep(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		for _, f := range p.Files {
			clock := importedAs(f, "time")
			if !f.Test || clock == "" {
				continue
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if x := identOfSelector(sel, ok); x == clock && sel.Sel.Name == "Sleep" {
					found = append(found, r.finding(sel.Pos(),
						"time.Sleep in a test: it is slow when it works and fails on a slow machine; wait for the event itself, or run in the simulator, whose host.Host.Sleep costs nothing"))
				}
				return true
			})
		}
	}
	return found
}

func identOfSelector(sel *ast.SelectorExpr, ok bool) string {
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		return x.Name
	}
	return ""
}

// importedAs returns the name under which f imports the package, empty if it does not.
func importedAs(f *File, imp string) string {
	for _, spec := range f.AST.Imports {
		switch {
		case importPath(spec) != imp:
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return imp[strings.LastIndex(imp, "/")+1:]
		}
	}
	return ""
}

// wellKnown are methods that an interface of the standard library describes.
var wellKnown = []string{
	"String", "GoString", "Format", "Error", "Unwrap", "Is", "As", "Len", "Less", "Swap", "Push", "Pop",
	"MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON", "MarshalBinary", "UnmarshalBinary",
}

// checkComments requires a comment on every package and on every exported name
// that a reader of the documentation sees.
func checkComments(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		code := p.Code()
		if len(code) == 0 {
			continue
		}
		if !slices.ContainsFunc(code, func(f *File) bool { return f.AST.Doc.Text() != "" }) {
			found = append(found, r.finding(code[0].AST.Package,
				"package %s has no comment; say in a doc.go what it is for, from top to bottom", p.Path))
		}
		for _, f := range code {
			for _, decl := range f.AST.Decls {
				for _, name := range undocumented(decl) {
					found = append(found, r.finding(name.Pos(),
						"exported %s has no comment; say above it what it does, or unexport it", name.Name))
				}
			}
		}
	}
	return found
}

// undocumented returns the exported names of decl without a comment. The
// comment of a group holds for every name in it.
func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || visibleMethod(d)) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil || d.Tok == token.IMPORT {
			return nil
		}
		var names []*ast.Ident
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && s.Comment == nil {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if s.Doc == nil && s.Comment == nil {
					names = append(names, s.Names...)
				}
			}
		}
		return slices.DeleteFunc(names, func(n *ast.Ident) bool { return !n.IsExported() })
	}
	return nil
}

func visibleMethod(d *ast.FuncDecl) bool {
	if slices.Contains(wellKnown, d.Name.Name) || len(d.Recv.List) == 0 {
		return false
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
