package determinism

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Variables rejects package-level state. In the simulator, worlds on different cores
// would share it.
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
					_, isWritten := written[obj]
					delete(written, obj)
					if text := variableMend(obj, isWritten); text != "" {
						found = append(found, Finding{name.Pos(), fmt.Sprintf("package-level variable %s: %s", name.Name, text)})
					}
				}
			}
		}
	}
	for obj, pos := range written {
		found = append(found, Finding{pos, fmt.Sprintf("package-level variable %s.%s: it is written to, so runs and hosts share it; let the caller pass what is to be changed", obj.Pkg().Name(), obj.Name())})
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Compare(a.Pos, b.Pos) })
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

// changers are functions that change their first argument.
var changers = []string{"copy", "clear", "delete", "maps.Copy", "maps.Insert", "maps.DeleteFunc", "slices.Reverse",
	"slices.Sort", "slices.SortFunc", "slices.SortStableFunc"}

// writtenVariables finds the package-level variables that the code assigns to, whole or
// in part, or whose address it takes, of any package, and where it does so first.
func writtenVariables(c *Code) map[types.Object]token.Pos {
	written := map[types.Object]token.Pos{}
	mark := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if obj := rootVariable(c.Info, e); obj != nil && written[obj] == token.NoPos {
				written[obj] = e.Pos()
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
				if slices.Contains(changers, cmp.Or(builtin(c.Info, n), calledFunc(c.Info, n))) && len(n.Args) > 0 {
					mark(n.Args[0])
				}
			}
			return true
		})
	}
	return written
}
