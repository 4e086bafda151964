package generate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// file makes the mutants of a file, in its functions only. Package-level variables are never
// assigned, and their uses have mutants.
func (m *maker) file(in *inspector.Inspector) {
	for c := range in.Root().Preorder((*ast.FuncDecl)(nil)) {
		d := c.Node().(*ast.FuncDecl)
		if d.Body == nil || onlyText(d) || m.uses != nil && !m.uses[fullName(m.p, d)] {
			continue
		}
		m.function = functionName(m.p.Name, d)
		c.ChildAt(edge.FuncDecl_Body, -1).Inspect(nil, m.node)
	}
}

// onlyText: the function makes text for people.
func onlyText(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"String", "GoString", "Error", "Format"}, d.Name.Name)
}

// node makes the mutants of one node, and reports whether to continue below it.
func (m *maker) node(c inspector.Cursor) bool {
	if !m.mutable(c) {
		return false
	}
	switch n := c.Node().(type) {
	case *ast.BlockStmt:
		if len(n.List) > 0 && !isClause(n.List[0]) {
			m.statements(c, n.List)
		}
		m.ending(c, n)
	case *ast.CaseClause:
		m.statements(c, n.Body)
	case *ast.CommClause:
		m.statements(c, n.Body)
	case *ast.ReturnStmt:
		m.returned(n)
	case ast.Expr:
		m.expression(c, n)
		return !m.isConstant(n) // a constant has no parts
	}
	return true
}

// mutable reports whether mutants of the node compile and can make a difference.
func (m *maker) mutable(c inspector.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.GenDecl: // a constant or a type takes constants; a variable of a function is rare
		return n.Tok == token.VAR
	case *ast.CallExpr:
		return !m.makesText(n)
	}
	switch k, i := c.ParentEdge(); k {
	case edge.CallExpr_Args:
		return i < 2 || !m.isBuiltin(c.Parent().Node().(*ast.CallExpr), "make") // room to grow makes no difference
	case edge.ArrayType_Len, edge.Field_Type, edge.CompositeLit_Type, edge.TypeAssertExpr_Type, edge.ValueSpec_Type, edge.FuncLit_Type:
		return false // Go requires a constant or a type there
	case edge.SelectorExpr_Sel:
		return false
	case edge.KeyValueExpr_Key: // names of fields, and constant keys of array elements
		return false
	case edge.CaseClause_List: // a changed case label selects another branch, which any run shows
		s, ok := c.Parent().Parent().Parent().Node().(*ast.SwitchStmt)
		return ok && s.Tag == nil
	}
	return true
}

// textual lists the packages whose functions only make text.
var textual = []string{"fmt", "errors", "log"}

// makesText reports whether a call makes an error or a log line: its arguments change only text
// for people.
func (m *maker) makesText(n *ast.CallExpr) bool {
	f := m.callee(n)
	switch {
	case f == nil:
		return m.isBuiltin(n, "panic")
	case f.Signature().Recv() != nil:
		return f.Name() == "Logf" || f.Name() == "Log"
	}
	if f.Pkg() == nil || !slices.Contains(textual, f.Pkg().Path()) {
		return false
	}
	return f.Name() == "New" || f.Name() == "Errorf" || strings.HasPrefix(f.Name(), "Print")
}

// isBuiltin reports whether a call is of the builtin function of that name.
func (m *maker) isBuiltin(n *ast.CallExpr, name string) bool {
	id, ok := n.Fun.(*ast.Ident)
	return ok && id.Name == name && m.p.TypesInfo.Uses[id] == types.Universe.Lookup(name)
}

// callee returns the function or method that a call names, or nil.
func (m *maker) callee(n *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	f, _ := m.p.TypesInfo.Uses[id].(*types.Func)
	return f
}

// ending adds a terminating statement to a function with results, so that it compiles whatever
// statements are omitted. It is never reached: a return that is not early is never omitted.
func (m *maker) ending(c inspector.Cursor, n *ast.BlockStmt) {
	var t *ast.FuncType
	switch f := c.Parent().Node().(type) {
	case *ast.FuncDecl:
		t = f.Type
	case *ast.FuncLit:
		t = f.Type
	}
	if t == nil || t.Results == nil || len(n.List) == 0 {
		return
	}
	if _, plain := n.List[len(n.List)-1].(*ast.ReturnStmt); !plain {
		m.inPlace(n.Rbrace, 0, `; panic("the mutant has no result") `)
	}
}

func (m *maker) isConstant(n ast.Expr) bool { return m.p.TypesInfo.Types[n].Value != nil }

func (m *maker) typeOf(n ast.Expr) types.Type { return m.p.TypesInfo.TypeOf(n) }

// typeName returns the name of a type in the file, or empty if the file cannot name it.
func (m *maker) typeName(t types.Type) string {
	good := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == m.p.Types {
			return ""
		}
		as := m.imports[p.Path()]
		if as == "" || as == "_" || as == "." {
			good = false
		}
		return as
	})
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != m.p.Types && !named.Obj().Exported() || !good || strings.Contains(text, "invalid") {
		return ""
	}
	return text
}

// constant makes the mutants of a constant that is not part of another one.
func (m *maker) constant(n ast.Expr) {
	info := m.p.TypesInfo.Types[n]
	basic, ok := info.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || basic.Info()&types.IsUntyped != 0 {
		return
	}
	name := m.typeName(info.Type)
	if name == "" {
		return // the helper could not be called
	}
	if isDuration(info.Type) {
		m.wait(n)
		return
	}
	value, exact := constant.Int64Val(constant.ToInt(info.Value))
	if !exact {
		return // larger than any count in a protocol
	}
	var alts []alternative
	switch list := enumeration(info.Type); {
	case len(list) < 2:
		alts = oneMoreOrLess(value, basic)
	case areFlags(list):
		alts = m.withoutFlags(n, value)
	default:
		alts = []alternative{next(list, value, info.Type)}
	}
	if len(alts) == 0 {
		return
	}
	first, texts := 0, ""
	for i, a := range alts {
		x := m.add(a.op, n, m.of(n), a.text)
		if i == 0 {
			first = x
		}
		texts += fmt.Sprintf(", %d", a.value)
	}
	m.around(n, outer, fmt.Sprintf("vm_const[%s](%d, ", name, first), texts+")")
}

// alternative is the replacement of a constant.
type alternative struct {
	op    schema.Operator
	value int64
	text  string
}

func oneMoreOrLess(value int64, t *types.Basic) []alternative {
	var out []alternative
	for _, v := range []int64{value + 1, value - 1} {
		if value != math.MaxInt64 && value != math.MinInt64 && fits(v, t) {
			out = append(out, alternative{schema.Constant, v, fmt.Sprint(v)})
		}
	}
	return out
}

// fits reports whether a type can represent a value. If it cannot, the mutant does not compile.
func fits(v int64, t *types.Basic) bool {
	bits := map[types.BasicKind]int{types.Int8: 8, types.Int16: 16, types.Int32: 32, types.Uint8: 8, types.Uint16: 16, types.Uint32: 32}[t.Kind()]
	switch unsigned := t.Info()&types.IsUnsigned != 0; {
	case unsigned:
		return v >= 0 && (bits == 0 || v < 1<<bits)
	case bits > 0:
		return v >= -1<<(bits-1) && v < 1<<(bits-1)
	}
	return true
}

// enumeration returns the constants of a type in its package, in the order of their values.
func enumeration(t types.Type) []*types.Const {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	var out []*types.Const
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), t) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *types.Const) int { return int(valueOf(a) - valueOf(b)) })
	return out
}

func valueOf(c *types.Const) int64 {
	v, _ := constant.Int64Val(constant.ToInt(c.Val()))
	return v
}

// areFlags reports whether the constants are bits that can be combined.
func areFlags(list []*types.Const) bool {
	for _, c := range list {
		if v := valueOf(c); v <= 0 || v&(v-1) != 0 {
			return false
		}
	}
	return true
}

// withoutFlags returns the alternatives to a combination of flags that omit one of them.
func (m *maker) withoutFlags(n ast.Expr, value int64) []alternative {
	var out []alternative
	var visit func(ast.Expr)
	visit = func(x ast.Expr) {
		x = ast.Unparen(x)
		if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.OR {
			visit(b.X)
			visit(b.Y)
			return
		}
		if v, _ := constant.Int64Val(constant.ToInt(m.p.TypesInfo.Types[x].Value)); value&^v != value {
			out = append(out, alternative{schema.Flag, value &^ v, "without " + m.of(x)})
		}
	}
	visit(n)
	return out
}

// next returns the next constant of a list, cyclically. Among the operations of cards, an Atomic
// becomes a Write, the likeliest mistake.
func next(list []*types.Const, value int64, t types.Type) alternative {
	op := schema.Enum
	i := slices.IndexFunc(list, func(c *types.Const) bool { return valueOf(c) > value })
	if strings.HasSuffix(t.String(), "/verbs.Opcode") {
		op = schema.Opcode
		if at := slices.IndexFunc(list, func(c *types.Const) bool { return valueOf(c) == value }); at >= 0 && slices.Contains([]string{"OpCompareSwap", "OpFetchAdd", "OpAtomicWrite"}, list[at].Name()) {
			i = slices.IndexFunc(list, func(c *types.Const) bool { return c.Name() == "OpWrite" })
		}
	}
	to := list[max(i, 0)]
	return alternative{op, valueOf(to), to.Name()}
}

func isDuration(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time" && named.Obj().Name() == "Duration"
}

// wait makes the mutants of a duration.
func (m *maker) wait(n ast.Expr) {
	if v := m.p.TypesInfo.Types[n].Value; v != nil && constant.Sign(v) == 0 {
		return // a duration of 0 does not wait
	}
	first := m.add(schema.Wait, n, m.of(n), "0")
	m.add(schema.Wait, n, m.of(n), "half of it, or 1ms instead of forever")
	m.around(n, outer, fmt.Sprintf("vm_wait(%d, ", first), ")")
}
