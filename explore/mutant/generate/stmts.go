package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"math"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// statements makes the mutants of a list of statements.
func (m *maker) statements(c inspector.Cursor, list []ast.Stmt) {
	unless := make([][]int, len(list)) // the mutants without statement i
	for i, s := range list {
		if op := m.canGo(c, list, i); op != "" {
			unless[i] = append(unless[i], m.add(op, s, m.of(s), ""))
		}
		if i+1 < len(list) && m.canSwap(s, list[i+1]) {
			x := m.add(schema.Swap, s, m.of(s)+"; "+m.of(list[i+1]), m.of(list[i+1])+"; "+m.of(s))
			unless[i+1] = append(unless[i+1], x)
			m.inFront(s, fmt.Sprintf("if vm_on(%d) { %s }\n", x, m.of(list[i+1])))
		}
	}
	m.kept(list, c)
	for i, s := range list {
		// Inserted lines would shift line numbers, by which runs and panics are shown.
		m.inFront(s, fmt.Sprintf("\n//line %s:%d\n", m.full, m.line(s.Pos())))
		if len(unless[i]) > 0 {
			cond := ""
			for _, x := range unless[i] {
				cond += fmt.Sprintf(" && !vm_on(%d)", x)
			}
			m.around(s, statement, "if "+cond[len(" && "):]+" { ", " }")
		}
	}
}

// inFront inserts a text before a statement, after those already inserted there.
func (m *maker) inFront(s ast.Stmt, text string) {
	from := m.at.Offset(s.Pos())
	m.all = append(m.all, edit{from: from, to: from, text: text, other: math.MaxInt, level: before})
}

// canGo returns the operator that omits statement i of a list, or empty. A statement that declares
// something cannot be omitted: its uses would not compile.
func (m *maker) canGo(c inspector.Cursor, list []ast.Stmt, i int) schema.Operator {
	switch s := list[i].(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && !m.makesText(call) {
			return schema.Statement
		}
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE && !allBlank(s.Lhs) {
			return schema.Statement
		}
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.RangeStmt:
		return schema.Statement
	case *ast.ForStmt:
		if s.Cond != nil { // without one there is no way past it
			return schema.Statement
		}
	case *ast.BranchStmt:
		if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
			return schema.Statement
		}
	case *ast.ReturnStmt:
		if goesOn(c) {
			return schema.Return
		}
	}
	return ""
}

// allBlank: `_ = x` does nothing.
func allBlank(list []ast.Expr) bool {
	for _, x := range list {
		if id, ok := x.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

// goesOn reports whether the function has statements after the list c, so that a return at the
// end of c is early. Omitting a return that is not early either does not compile or changes
// nothing.
func goesOn(c inspector.Cursor) bool {
	for ; ; c = c.Parent() {
		switch c.Node().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		}
		switch k, i := c.ParentEdge(); k {
		case edge.BlockStmt_List:
			if n := c.Parent().Node().(*ast.BlockStmt); i+1 < len(n.List) && !isClause(n.List[i+1]) {
				return true
			}
		case edge.CaseClause_Body:
			if i+1 < len(c.Parent().Node().(*ast.CaseClause).Body) {
				return true
			}
		case edge.CommClause_Body:
			if i+1 < len(c.Parent().Node().(*ast.CommClause).Body) {
				return true
			}
		}
	}
}

func isClause(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}
