package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// waitNames are the methods of cards, hosts and the controller in which others act meanwhile.
var waitNames = []string{"Wait", "Gather", "Accept", "Call", "Sleep", "Lock"}

// waiting are the functions of a package that may wait: they call something that waits.
func waiting(p *packages.Package) map[*types.Func]bool {
	out := map[*types.Func]bool{}
	for changed := true; changed; {
		changed = false
		for _, file := range p.Syntax {
			for _, decl := range file.Decls {
				d, ok := decl.(*ast.FuncDecl)
				if !ok || d.Body == nil {
					continue
				}
				f, ok := p.TypesInfo.Defs[d.Name].(*types.Func)
				if m := (&maker{p: p, waits: out}); ok && !out[f] && m.waitsIn(d.Body) {
					out[f], changed = true, true
				}
			}
		}
	}
	return out
}

// waitsIn reports whether something in n waits. It ignores function literals, which run later.
func (m *maker) waitsIn(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if f := m.callee(x); f != nil {
				outside := f.Pkg() != nil && f.Pkg() != m.p.Types && f.Signature().Recv() != nil
				found = found || m.waits[f] || outside && slices.Contains(waitNames, f.Name())
			}
		}
		return !found
	})
	return found
}

// kept makes the mutants about values that may change during a wait.
func (m *maker) kept(list []ast.Stmt, c inspector.Cursor) {
	for i, s := range list {
		if i+1 == len(list) || !m.waitsIn(s) {
			continue
		}
		done := map[string]bool{}
		for _, later := range list[i+1:] {
			at, ok := c.FindNode(later)
			if !ok {
				continue
			}
			at.Inspect(nil, func(c inspector.Cursor) bool {
				if !m.mutable(c) {
					return false
				}
				switch x := c.Node().(type) {
				case *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					m.stale(s, x, c, done)
				case *ast.Ident:
					m.reread(list[:i], x, c, done)
				}
				return true
			})
		}
	}
}

// stale makes the mutant that uses a field as it was before statement s, which waits. The field is
// read in advance only if the mutant is active: its pointer may be nil.
func (m *maker) stale(s ast.Stmt, x *ast.SelectorExpr, c inspector.Cursor, done map[string]bool) {
	text, name := m.of(x), m.typeName(m.typeOf(x))
	if !isRead(c) || done[text] || !m.isPath(x) || name == "" || !m.sameAt(x, s.Pos()) {
		return
	}
	done[text] = true
	n := m.add(schema.Stale, x, text, text+" of before line "+fmt.Sprint(m.line(s.Pos())))
	m.inFront(s, fmt.Sprintf("var vm_old%d %s; if vm_on(%d) { vm_old%d = %s }\n", n, name, n, n, text))
	m.around(x, outer, fmt.Sprintf("vm_pick(%d, vm_old%d, ", n, n), ")")
}

// reread makes the mutant that rereads, after a wait, a value that was kept in a variable.
func (m *maker) reread(before []ast.Stmt, x *ast.Ident, c inspector.Cursor, done map[string]bool) {
	v, ok := m.p.TypesInfo.Uses[x].(*types.Var)
	if !ok || !isRead(c) || done[x.Name] {
		return
	}
	name := m.typeName(v.Type())
	from := m.definition(before, v)
	if from == nil || name == "" || !m.sameAt(from, x.Pos()) {
		return
	}
	done[x.Name] = true
	n := m.add(schema.Reread, x, x.Name, m.of(from))
	m.around(x, outer, fmt.Sprintf("vm_again(%d, %s(", n, conversion(name)), fmt.Sprintf("), func() %s { return %s })", name, m.of(from)))
}

// conversion returns a type in the form of a conversion.
func conversion(name string) string {
	if strings.ContainsAny(name, "*[(<{ ") {
		return "(" + name + ")"
	}
	return name
}

// definition returns the expression that one of the statements assigns to a variable, if it can be
// reevaluated: fields, or a load from memory.
func (m *maker) definition(list []ast.Stmt, v *types.Var) ast.Expr {
	for _, s := range list {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		id, ok := a.Lhs[0].(*ast.Ident)
		if !ok || m.p.TypesInfo.Defs[id] != v {
			continue
		}
		if call, ok := a.Rhs[0].(*ast.CallExpr); ok {
			if f := m.callee(call); f == nil || f.Signature().Recv() == nil || !strings.HasPrefix(f.Name(), "Load") {
				return nil
			}
			return call
		}
		if sel, ok := a.Rhs[0].(*ast.SelectorExpr); ok && m.isPath(sel) {
			return sel
		}
	}
	return nil
}

// isPath reports whether x is a variable, or a field reached from one.
func (m *maker) isPath(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		_, ok := m.p.TypesInfo.Uses[x].(*types.Var)
		return ok
	case *ast.SelectorExpr:
		s := m.p.TypesInfo.Selections[x]
		return s != nil && s.Kind() == types.FieldVal && m.isPath(x.X)
	}
	return false
}

// sameAt reports whether the names in x mean the same at another place of the file.
func (m *maker) sameAt(x ast.Expr, at token.Pos) bool {
	scope := m.p.Types.Scope().Innermost(at)
	same := scope != nil
	ast.Inspect(x, func(n ast.Node) bool {
		switch y := n.(type) {
		case *ast.SelectorExpr:
			same = same && m.sameAt(y.X, at)
			return false
		case *ast.Ident:
			if same {
				_, there := scope.LookupParent(y.Name, at)
				same = there == m.p.TypesInfo.Uses[y]
			}
		}
		return same
	})
	return same
}

// isRead reports whether an expression is only read: it is not assigned to, and its address is not
// taken.
func isRead(c inspector.Cursor) bool {
	switch k, _ := c.ParentEdge(); k {
	case edge.BinaryExpr_X, edge.BinaryExpr_Y, edge.CallExpr_Args, edge.ReturnStmt_Results, edge.AssignStmt_Rhs, edge.IfStmt_Cond, edge.KeyValueExpr_Value,
		edge.RangeStmt_X, edge.SwitchStmt_Tag, edge.IndexExpr_Index, edge.ForStmt_Cond:
		return true
	}
	return false
}
