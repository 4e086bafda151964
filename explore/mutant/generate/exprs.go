package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// expression makes the mutants of an expression as a whole.
func (m *maker) expression(c inspector.Cursor, n ast.Expr) {
	if !m.p.TypesInfo.Types[n].IsValue() {
		return // a type, a package or the name of a function
	}
	if m.isConstant(n) {
		m.constant(n)
		return
	}
	if k, _ := c.ParentEdge(); k == edge.CallExpr_Args && isDuration(m.typeOf(n)) {
		m.wait(n)
	}
	switch x := n.(type) {
	case *ast.BinaryExpr:
		m.binary(c, x)
	case *ast.CallExpr:
		m.call(c, x)
	}
	if m.isLeaf(c, n) {
		m.negate(n)
	}
}

// negate makes the mutant that negates n.
func (m *maker) negate(n ast.Expr) {
	x := m.add(schema.Negate, n, m.of(n), "!("+m.of(n)+")")
	m.around(n, outer, "((", fmt.Sprintf(") != vm_on(%d))", x))
}

// isLeaf reports whether n is an operand of a condition, or the result of a function. Compound
// conditions have the mutants of their operators, and `!x` is negated at x.
func (m *maker) isLeaf(c inspector.Cursor, n ast.Expr) bool {
	basic, ok := m.typeOf(n).(*types.Basic)
	if !ok || basic.Info()&types.IsBoolean == 0 {
		return false // a bool of another name could not be compared with one
	}
	switch x := n.(type) {
	case *ast.BinaryExpr:
		return x.Op != token.LAND && x.Op != token.LOR
	case *ast.ParenExpr:
		return false
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return false
		}
	}
	k, _ := c.ParentEdge()
	switch k {
	case edge.IfStmt_Cond, edge.ForStmt_Cond, edge.CaseClause_List, edge.ReturnStmt_Results, edge.UnaryExpr_X:
		return k != edge.UnaryExpr_X || c.Parent().Node().(*ast.UnaryExpr).Op == token.NOT
	case edge.BinaryExpr_X, edge.BinaryExpr_Y:
		op := c.Parent().Node().(*ast.BinaryExpr).Op
		return op == token.LAND || op == token.LOR
	}
	return false
}

// helper is the function that replaces an operator, and the operator of the mutant.
type helper struct {
	op   schema.Operator
	name string
	to   string
}

var helpers = map[token.Token]helper{
	token.LSS: {schema.Boundary, "vm_less", "<="}, token.LEQ: {schema.Boundary, "vm_leq", "<"},
	token.GTR: {schema.Boundary, "vm_greater", ">="}, token.GEQ: {schema.Boundary, "vm_geq", ">"},
	token.ADD: {schema.Arithmetic, "vm_add", "-"}, token.SUB: {schema.Arithmetic, "vm_sub", "+"}, token.MUL: {schema.Arithmetic, "vm_mul", "+"},
	token.OR: {schema.Arithmetic, "vm_or", "&"}, token.AND: {schema.Arithmetic, "vm_and", "|"},
}

func (m *maker) binary(c inspector.Cursor, n *ast.BinaryExpr) {
	after := func(op string) string { return m.of(n.X) + " " + op + " " + m.of(n.Y) }
	switch n.Op {
	case token.LAND:
		x := m.add(schema.Logic, n, m.of(n), after("||"))
		m.around(n, inner, "((", fmt.Sprintf(") || vm_on(%d) && (%s))", x, m.of(n.Y)))
		m.inPlace(n.OpPos, 2, fmt.Sprintf(") && (vm_on(%d) || ", x))
	case token.LOR:
		x := m.add(schema.Logic, n, m.of(n), after("&&"))
		m.around(n, inner, "((", "))")
		m.inPlace(n.OpPos, 2, fmt.Sprintf(") && (!vm_on(%d) || (%s)) || !vm_on(%d) && (", x, m.of(n.Y), x))
	case token.EQL, token.NEQ:
		m.compared(n)
	default:
		m.operator(n, after)
	}
}

// operator makes the mutant of an operator that a helper can replace: one with two operands of
// the same type.
func (m *maker) operator(n *ast.BinaryExpr, after func(string) string) {
	h, ok := helpers[n.Op]
	if !ok {
		return
	}
	x, y := m.typeOf(n.X), m.typeOf(n.Y)
	t, ok := x.Underlying().(*types.Basic)
	if !ok || !types.Identical(x, y) {
		return
	}
	switch {
	case h.op == schema.Boundary && t.Info()&types.IsOrdered == 0, h.op == schema.Arithmetic && t.Info()&types.IsInteger == 0:
		return
	}
	number := m.add(h.op, n, m.of(n), after(h.to))
	// The type is inferred from the operand that is not a constant: both have the same type.
	m.around(n, inner, fmt.Sprintf("%s(%d, ", h.name, number), ")")
	m.inPlace(n.OpPos, len(n.Op.String()), ",")
}

// compared makes the mutants of a comparison of an error with nil, or of a status with
// success: the comparison has the result for success.
func (m *maker) compared(n *ast.BinaryExpr) {
	op := schema.Success
	switch {
	case isError(m.typeOf(n.X)) && m.p.TypesInfo.Types[n.Y].IsNil():
	case isStatus(m.typeOf(n.X)):
		op = schema.Status
	default:
		return
	}
	if n.Op == token.NEQ {
		x := m.add(op, n, m.of(n), "false")
		m.around(n, middle, "((", fmt.Sprintf(") && !vm_on(%d))", x))
		return
	}
	x := m.add(op, n, m.of(n), "true")
	m.around(n, middle, "((", fmt.Sprintf(") || vm_on(%d))", x))
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

func isStatus(t types.Type) bool { return t != nil && strings.HasSuffix(t.String(), "/verbs.Status") }

var locking = regexp.MustCompile(`(?i)lock|acquire`)

// call makes the mutant that omits a call and treats it as successful. A call that is a
// statement is handled there.
func (m *maker) call(c inspector.Cursor, n *ast.CallExpr) {
	k, _ := c.ParentEdge()
	if k == edge.ExprStmt_X || k == edge.DeferStmt_Call || k == edge.GoStmt_Call || m.p.TypesInfo.Types[n.Fun].IsType() {
		return
	}
	f := m.callee(n)
	switch t := m.typeOf(n); {
	case isError(t):
		if f != nil && f.Pkg() != nil && f.Pkg().Path() == "errors" {
			return // it only wraps other errors
		}
		op := schema.Call
		if f != nil && f.Name() == "Err" && strings.HasSuffix(f.Signature().Recv().Type().String(), "/verbs.WC") {
			op = schema.Status
		}
		x := m.add(op, n, m.of(n), "nil")
		m.around(n, outer, fmt.Sprintf("vm_call(%d, func() error { return ", x), " })")
	case f != nil && types.Identical(t, types.Typ[types.Bool]) && locking.MatchString(f.Name()):
		x := m.add(schema.Lock, n, m.of(n), "true")
		m.around(n, middle, fmt.Sprintf("vm_held(%d, func() bool { return ", x), " })")
	}
}

// returned makes the mutants that return success instead of an error.
func (m *maker) returned(n *ast.ReturnStmt) {
	for _, r := range n.Results {
		if !isError(m.typeOf(r)) || m.p.TypesInfo.Types[r].IsNil() {
			continue
		}
		x := m.add(schema.Success, r, "return "+m.of(r), "return nil")
		m.around(r, returning, fmt.Sprintf("vm_err(%d, ", x), ")")
	}
}
