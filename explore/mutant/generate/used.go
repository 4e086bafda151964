package generate

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// used returns the functions of the kit packages that a protocol uses: those that its own packages name,
// and those that these name in turn. A bug in an unused function of a kit is not a bug of the protocol.
// Calls through an interface do not name the method; in a kit, only methods that make texts are called so.
func used(own, kit []*packages.Package) map[string]bool {
	var todo []string
	for _, p := range own {
		for _, file := range p.Syntax {
			todo = append(todo, named(p, file)...)
		}
	}
	names := map[string][]string{} // for each function of kit, the functions that it names
	for _, p := range kit {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name != "init" {
					names[fullName(p, f)] = named(p, f)
				} else {
					todo = append(todo, named(p, d)...)
				}
			}
		}
	}
	out := map[string]bool{}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !out[x] {
			out[x] = true
			todo = append(todo, names[x]...)
		}
	}
	return out
}

// named returns the functions and methods that a part of a package names.
func named(p *packages.Package, part ast.Node) (out []string) {
	ast.Inspect(part, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if f, ok := p.TypesInfo.Uses[id].(*types.Func); ok {
				out = append(out, f.Origin().FullName())
			}
		}
		return true
	})
	return out
}

func fullName(p *packages.Package, d *ast.FuncDecl) string {
	return p.TypesInfo.Defs[d.Name].(*types.Func).FullName()
}
