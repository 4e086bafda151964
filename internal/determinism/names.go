package determinism

import (
	"go/ast"
	"go/types"
)

// isPackageFunc reports whether obj is a function, not a method, of package pkg.
func isPackageFunc(obj types.Object, pkg string) bool {
	f, ok := obj.(*types.Func)
	return ok && f.Pkg() != nil && f.Pkg().Path() == pkg && f.Signature().Recv() == nil
}

// coreType returns the underlying type of e, also where it is a type parameter
// whose types all have the same one.
func coreType(info *types.Info, e ast.Expr) types.Type {
	t := info.TypeOf(e)
	if t == nil {
		return nil
	}
	if param, ok := types.Unalias(t).(*types.TypeParam); ok {
		constraint := param.Constraint().Underlying().(*types.Interface)
		for i := range constraint.NumEmbeddeds() {
			embedded := constraint.EmbeddedType(i)
			if union, ok := embedded.(*types.Union); ok && union.Len() > 0 {
				embedded = union.Term(0).Type()
			}
			if _, ok := embedded.Underlying().(*types.Interface); !ok {
				return embedded.Underlying()
			}
		}
	}
	return t.Underlying()
}

// rootVariable returns the package-level variable that e is, or is a part of.
func rootVariable(info *types.Info, e ast.Expr) types.Object {
	id := rootIdent(info, e)
	if id == nil {
		return nil
	}
	obj, ok := info.Uses[id].(*types.Var)
	if !ok || obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return nil
	}
	return obj
}

// rootIdent is x for expressions such as x.f[i] and pkg.x, nil where no name is at the root.
func rootIdent(info *types.Info, e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			if pkg := identOf(x.X); pkg != nil {
				if _, ok := info.Uses[pkg].(*types.PkgName); ok {
					return x.Sel
				}
			}
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// builtin returns the name of the built-in function that call calls, or empty.
func builtin(info *types.Info, call *ast.CallExpr) string {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// calledFunc is "pkg.Name" for a call of a package's function, else empty.
func calledFunc(info *types.Info, call *ast.CallExpr) string {
	return functionName(info, functionIdent(call.Fun))
}

// functionIdent is the name of a function in an expression that may have its package and type arguments.
func functionIdent(fun ast.Expr) *ast.Ident {
	switch x := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		return functionIdent(x.X)
	case *ast.IndexListExpr:
		return functionIdent(x.X)
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.Ident:
		return x
	}
	return nil
}

// functionName is "pkg.Name" for the name of a package's function, else empty.
func functionName(info *types.Info, id *ast.Ident) string {
	if id == nil {
		return ""
	}
	obj := info.Uses[id]
	if obj == nil || obj.Pkg() == nil || !isPackageFunc(obj, obj.Pkg().Path()) {
		return ""
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// names reports whether a statement names an object.
func names(info *types.Info, s ast.Stmt, obj types.Object) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && info.Uses[id] == obj
		return !found
	})
	return found
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}
