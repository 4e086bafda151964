package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// commuting decides whether the iterations of a loop over a map commute: they call
// nothing, and everything they write outside the loop is a sum of integers, a minimum
// or maximum, an entry of a map under the loop's own key, or a slice that is sorted
// afterwards. What is gathered in two ways depends on the order, such as a sum that is also a maximum.
type commuting struct {
	info     *types.Info
	loop     *ast.RangeStmt
	key      *ast.Ident
	appended []types.Object
	gathers  map[types.Object]int // how often the gathering itself names a variable
	how      map[types.Object]string
}

// holds reports whether the iterations commute. No iteration may read what others
// gather: the count so far depends on the order.
func (c *commuting) holds() bool {
	c.gathers, c.how = map[types.Object]int{}, map[types.Object]string{}
	if !c.block(c.loop.Body) {
		return false
	}
	ast.Inspect(c.loop.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if _, gathered := c.gathers[c.info.Uses[id]]; gathered {
				c.gathers[c.info.Uses[id]]--
			}
		}
		return true
	})
	for _, left := range c.gathers {
		if left < 0 {
			return false
		}
	}
	return true
}

// gather notes that e is gathered into by a statement that names it times times, and reports whether that is the only way.
func (c *commuting) gather(e ast.Expr, how string, times int) bool {
	id := rootIdent(c.info, e)
	if id == nil {
		return false
	}
	obj := c.info.Uses[id]
	if obj == nil || c.inside(obj) {
		return true
	}
	c.gathers[obj] += times
	was := c.how[obj]
	c.how[obj] = how
	return was == "" || was == how
}

func (c *commuting) block(b *ast.BlockStmt) bool {
	return !slices.ContainsFunc(b.List, func(s ast.Stmt) bool { return !c.stmt(s) })
}

func (c *commuting) stmt(s ast.Stmt) bool {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
		return true
	case *ast.BlockStmt:
		return c.block(s)
	case *ast.IfStmt:
		return c.stmt(s.Init) && c.pure(s.Cond) && c.block(s.Body) && c.stmt(s.Else)
	case *ast.RangeStmt:
		_, overMap := coreType(c.info, s.X).(*types.Map)
		_, overFunc := coreType(c.info, s.X).(*types.Signature)
		return !overMap && !overFunc && c.pure(s.X) && s.Tok != token.ASSIGN && c.block(s.Body)
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE
	case *ast.IncDecStmt:
		return c.sum(s.X, "+")
	case *ast.AssignStmt:
		return c.assign(s)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && builtin(c.info, call) == "delete" && c.pure(call.Args...) && c.gather(call.Args[0], "delete", 1)
	}
	return false
}

func (c *commuting) assign(s *ast.AssignStmt) bool {
	switch s.Tok {
	case token.DEFINE:
		return c.pure(s.Rhs...)
	case token.ADD_ASSIGN, token.SUB_ASSIGN:
		return c.sum(s.Lhs[0], "+") && c.pure(s.Rhs[0])
	case token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
		return c.sum(s.Lhs[0], s.Tok.String()) && c.pure(s.Rhs[0])
	case token.ASSIGN:
		if len(s.Lhs) != len(s.Rhs) {
			return false
		}
		for i := range s.Lhs {
			if !c.set(s.Lhs[i], s.Rhs[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// sum reports whether x can take a sum, or a similar result, in any order: an integer, not a float or
// a string.
func (c *commuting) sum(x ast.Expr, how string) bool {
	basic, ok := coreType(c.info, x).(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0 && c.pure(x) && c.gather(x, how, 1)
}

// set judges lhs = rhs.
func (c *commuting) set(lhs, rhs ast.Expr) bool {
	if id := identOf(lhs); id != nil && (id.Name == "_" || c.inside(c.info.Uses[id])) {
		return c.pure(rhs)
	}
	if index, ok := lhs.(*ast.IndexExpr); ok {
		key := identOf(index.Index)
		_, isMap := coreType(c.info, index.X).(*types.Map)
		return isMap && key != nil && c.key != nil && c.info.Uses[key] == c.info.Defs[c.key] &&
			c.pure(index.X, rhs) && c.gather(index.X, "entry", 1)
	}
	id := identOf(lhs)
	call, ok := rhs.(*ast.CallExpr)
	if id == nil || !ok || !c.pure(call.Args...) {
		return false
	}
	obj := c.info.Uses[id]
	isSelf := func(e ast.Expr) bool { x := identOf(e); return x != nil && c.info.Uses[x] == obj }
	switch how := builtin(c.info, call); how {
	case "min", "max":
		return slices.ContainsFunc(call.Args, isSelf) && c.gather(id, how, 2)
	case "append":
		c.appended = append(c.appended, obj)
		return isSelf(call.Args[0]) && c.gather(id, how, 2)
	}
	return false
}

// inside reports whether obj is a variable of the loop's body, new in every iteration.
func (c *commuting) inside(obj types.Object) bool {
	return obj != nil && c.loop.Body.Pos() <= obj.Pos() && obj.Pos() < c.loop.Body.End()
}

// pure reports whether the expressions call nothing but conversions and
// built-in functions without effect.
func (c *commuting) pure(exprs ...ast.Expr) bool {
	pure := true
	for _, e := range exprs {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				isType := c.info.Types[n.Fun].IsType()
				pure = pure && (isType || slices.Contains([]string{"len", "cap", "min", "max"}, builtin(c.info, n)))
			case *ast.FuncLit:
				pure = false
			case *ast.UnaryExpr:
				pure = pure && n.Op != token.ARROW && n.Op != token.AND
			}
			return pure
		})
	}
	return pure
}
