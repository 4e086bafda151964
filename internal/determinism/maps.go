package determinism

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

const (
	mapMend       = "collect the keys, slices.Sort them, and range over those"
	orderedPrefix = "//lint:ordered"
)

// MapRanges finds what depends on the order of a map, which differs
// from run to run. In a protocol a loop may gather what no order changes; the
// simulator does not range over maps at all.
func MapRanges(c *Code) []Finding {
	var found []Finding
	for _, f := range c.Files {
		w := mapWalk{c: c, reasons: orderedLines(c, f)}
		ast.Inspect(f, w.visit)
		found = append(found, w.found...)
	}
	return found
}

type mapWalk struct {
	c       *Code
	reasons map[int]string // by the line of the loop
	follows map[ast.Stmt][]ast.Stmt
	sorted  map[*ast.Ident]bool // Keys in slices.Sorted(maps.Keys(m))
	found   []Finding
}

func (w *mapWalk) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		w.noteFollowing(n.List)
	case *ast.CaseClause:
		w.noteFollowing(n.Body)
	case *ast.CallExpr:
		w.noteSorted(n)
	case *ast.Ident:
		w.name(n)
	case *ast.RangeStmt:
		if _, ok := coreType(w.c.Info, n.X).(*types.Map); ok {
			w.rangeOver(n)
		}
	}
	return true
}

func (w *mapWalk) noteFollowing(list []ast.Stmt) {
	if w.follows == nil {
		w.follows = map[ast.Stmt][]ast.Stmt{}
	}
	for i, s := range list {
		w.follows[s] = list[i+1:]
	}
}

// noteSorted notes maps.Keys and its like where they are sorted at once.
func (w *mapWalk) noteSorted(call *ast.CallExpr) {
	if !strings.HasPrefix(calledFunc(w.c.Info, call), "slices.Sorted") || len(call.Args) == 0 {
		return
	}
	if keys, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok {
		if w.sorted == nil {
			w.sorted = map[*ast.Ident]bool{}
		}
		w.sorted[functionIdent(keys.Fun)] = true
	}
}

// inMapOrder are the functions that give the entries of a map, or call a function with them, in its order.
var inMapOrder = []string{"maps.Keys", "maps.Values", "maps.All", "maps.DeleteFunc", "maps.EqualFunc",
	"golang.org/x/exp/maps.Keys", "golang.org/x/exp/maps.Values"}

// name finds these functions, whether they are called or only named.
func (w *mapWalk) name(id *ast.Ident) {
	if name := functionName(w.c.Info, id); slices.Contains(inMapOrder, name) && !w.sorted[id] {
		w.report(id.Pos(), name+" gives an order that differs from run to run; range over slices.Sorted(maps.Keys(m))")
	}
}

func (w *mapWalk) rangeOver(loop *ast.RangeStmt) {
	c := commuting{info: w.c.Info, loop: loop, key: identOf(loop.Key)}
	if !w.c.Simulator && c.holds() && w.sortedAfter(loop, c.appended) {
		return
	}
	what := "range over a map: the order differs from run to run, and the loop's effect can depend on it; "
	if w.c.Simulator {
		what = "range over a map in the simulator: the order differs from run to run; "
	}
	w.report(loop.Pos(), what+mapMend)
}

// sortedAfter reports whether each slice that the loop appends to is sorted by
// a later statement of the same block, before anything else names it.
func (w *mapWalk) sortedAfter(loop *ast.RangeStmt, appended []types.Object) bool {
	return !slices.ContainsFunc(appended, func(obj types.Object) bool {
		later := w.follows[loop]
		i := slices.IndexFunc(later, func(s ast.Stmt) bool { return names(w.c.Info, s, obj) })
		return i < 0 || !w.sorts(later[i], obj)
	})
}

// sorts reports whether a statement sorts a slice.
func (w *mapWalk) sorts(s ast.Stmt, obj types.Object) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := calledFunc(w.c.Info, call)
	arg, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	return ok && w.c.Info.Uses[arg] == obj && (strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort."))
}

func (w *mapWalk) report(pos token.Pos, text string) {
	reason, ok := w.reasons[w.c.Fset.Position(pos).Line]
	switch {
	case ok && reason != "":
	case ok:
		w.found = append(w.found, Finding{pos, orderedPrefix + " has no reason; say why the order does not matter"})
	default:
		w.found = append(w.found, Finding{pos, fmt.Sprintf("%s (or, if no order can matter, say why in a comment %s)", text, orderedPrefix)})
	}
}

// orderedLines returns the reasons in the comments, for the line of each comment and the line after it.
func orderedLines(c *Code, f *ast.File) map[int]string {
	reasons := map[int]string{}
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if reason, ok := strings.CutPrefix(comment.Text, orderedPrefix); ok {
				line := c.Fset.Position(comment.Pos()).Line
				reasons[line], reasons[line+1] = strings.TrimSpace(reason), strings.TrimSpace(reason)
			}
		}
	}
	return reasons
}
