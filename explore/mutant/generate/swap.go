package generate

import (
	"go/ast"
	"go/token"
	"strings"
)

// canSwap reports whether the statements can change places, and whether that can matter.
func (m *maker) canSwap(a, b ast.Stmt) bool {
	return m.moves(a) && m.moves(b) && m.of(a) != m.of(b) && m.meet(a, b)
}

// moves reports whether a statement can be moved within its list: it must not declare anything for
// the statements after it, nor have a label, which would then occur twice. Only a loop or a condition
// may return: statements after a plain return never run.
func (m *maker) moves(s ast.Stmt) bool {
	switch x := s.(type) {
	case *ast.ExprStmt:
		call, ok := x.X.(*ast.CallExpr)
		return ok && !m.makesText(call)
	case *ast.AssignStmt:
		return x.Tok != token.DEFINE
	case *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt:
		return true
	case *ast.IfStmt, *ast.RangeStmt:
		return !hasLabel(s)
	case *ast.ForStmt:
		return x.Cond != nil && !hasLabel(s)
	}
	return false
}

func hasLabel(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if _, ok := n.(*ast.LabeledStmt); ok {
			found = true
		}
		return !found
	})
	return found
}

// meet reports whether the order of two statements can matter: one of them makes a call or may
// return, or one writes what the other reads or writes.
func (m *maker) meet(a, b ast.Stmt) bool {
	if m.acts(a) || m.acts(b) {
		return true
	}
	return m.writesInto(a, b) || m.writesInto(b, a)
}

// acts reports whether a statement makes a call, which may do anything, or leaves a block, so that
// later statements do not run.
func (m *maker) acts(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			_, builtin := ast.Unparen(x.Fun).(*ast.Ident)
			pure := m.p.TypesInfo.Types[x.Fun].IsType() || builtin && m.p.TypesInfo.Types[x.Fun].IsBuiltin()
			found = found || !pure
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.SendStmt:
			found = true
		}
		return !found
	})
	return found
}

// writesInto reports whether a assigns to an expression of b, to a part of one, or to a variable
// that contains one. It compares source text.
func (m *maker) writesInto(a, b ast.Stmt) bool {
	var targets []string
	ast.Inspect(a, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				targets = append(targets, m.of(l))
			}
		case *ast.IncDecStmt:
			targets = append(targets, m.of(x.X))
		}
		return true
	})
	meets := false
	ast.Inspect(b, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			for _, t := range targets {
				text := m.of(x)
				meets = meets || text == t || partOf(text, t) || partOf(t, text)
			}
		}
		return !meets
	})
	return meets
}

// partOf reports whether an expression is a field or an element of another one, by their source
// text.
func partOf(text, whole string) bool {
	rest, ok := strings.CutPrefix(text, whole)
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
}
