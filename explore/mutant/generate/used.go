package generate

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// used are the functions of the packages of kit that a protocol comes to: those that its own packages name,
// and those that these name in turn. What it does not use of a kit is no mistake of the protocol. Who
// calls a method through an interface does not name it: there are none in a kit but those that make texts.
func used(own, kit []*packages.Package) map[string]bool {
	var todo []string
	for _, p := range own {
		for _, file := range p.Syntax {
			todo = append(todo, named(p, file)...)
		}
	}
	names := map[string][]string{} // of each function of kit, those that it names
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

// named are the functions and methods that a part of a package names.
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
