package determinism

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Variables rejects state outside of what a caller made. In the simulator, worlds
// on different cores would share it.
func Variables(c *Code) []Finding {
	var found []Finding
	written := writtenVariables(c)
	for _, f := range c.Files {
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					obj := c.Info.Defs[name]
					if obj == nil || name.Name == "_" {
						continue
					}
					if text := variableMend(obj, written[obj]); text != "" {
						found = append(found, Finding{name.Pos(), fmt.Sprintf("package-level variable %s: %s", name.Name, text)})
					}
				}
			}
		}
	}
	return found
}

func variableMend(obj types.Object, written bool) string {
	isError := types.Identical(obj.Type(), types.Universe.Lookup("error").Type())
	switch {
	case written:
		return "it is written to, so runs and hosts share it; make it a field of a struct that the caller makes"
	case isError:
		return ""
	case !isTable(obj.Type()):
		return "hosts of one run would share it; make it a constant, or a field of a struct that the caller makes"
	case obj.Exported():
		return "another package could change it; unexport it, or return a copy from a function"
	}
	return ""
}

// isTable reports whether a variable of type t can be a table of constants.
func isTable(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Array, *types.Slice, *types.Map:
		return true
	case *types.Pointer: // *crc32.Table
		_, ok := t.Elem().Underlying().(*types.Array)
		return ok
	case *types.Struct: // binary.LittleEndian
		return t.NumFields() == 0
	}
	return false
}

// writtenVariables finds the package-level variables that the code assigns to, whole or
// in part, or whose address it takes.
func writtenVariables(c *Code) map[types.Object]bool {
	written := map[types.Object]bool{}
	mark := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if obj := rootVariable(c.Info, e); obj != nil {
				written[obj] = true
			}
		}
	}
	for _, f := range c.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				mark(n.Lhs...)
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.RangeStmt:
				mark(n.Key, n.Value)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.CallExpr:
				if slices.Contains([]string{"copy", "clear", "delete"}, builtin(c.Info, n)) {
					mark(n.Args[0])
				}
			}
			return true
		})
	}
	return written
}
