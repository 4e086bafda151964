package generate

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
)

// The order of texts that surround nodes of the same extent.
const (
	inner     = iota // the operands of an operator that has become a call
	middle           // an expression with such a call as an operand
	outer            // the value as a whole
	returning        // around a result
	statement        // around a statement
	before           // before a statement and everything around it
)

// edits are the texts to insert into a file. They only surround nodes and replace operators, so
// the edits of a node and of its parts do not overlap.
type edits struct {
	source []byte
	at     *token.File
	all    []edit
}

// edit replaces the bytes between from and to by a text.
type edit struct {
	from, to int
	text     string
	closing  bool
	other    int // the end of the node; for a closing text, its start
	level    int
}

// around inserts texts before and after a node.
func (e *edits) around(n ast.Node, level int, open, closing string) {
	from, to := e.at.Offset(n.Pos()), e.at.Offset(n.End())
	e.all = append(e.all, edit{from, from, open, false, to, level}, edit{to, to, closing, true, from, level})
}

// inPlace replaces length bytes by a text.
func (e *edits) inPlace(p token.Pos, length int, text string) {
	from := e.at.Offset(p)
	e.all = append(e.all, edit{from: from, to: from + length, text: text})
}

// of returns the source of a node.
func (e *edits) of(n ast.Node) string {
	return string(e.source[e.at.Offset(n.Pos()):e.at.Offset(n.End())])
}

// text returns the file with all edits.
func (m *maker) text() []byte {
	slices.SortStableFunc(m.all, edit.compare)
	var out []byte
	done := 0
	for _, x := range m.all {
		out = append(out, m.source[done:x.from]...)
		out = append(out, x.text...)
		done = x.to
	}
	return append(out, m.source[done:]...)
}

// compare orders edits at the same position: closing texts before opening ones, the inner closing
// text first, and the outer opening text first.
func (x edit) compare(y edit) int {
	if c := cmp.Compare(x.from, y.from); c != 0 {
		return c
	}
	switch {
	case x.closing && y.closing:
		return cmp.Or(cmp.Compare(y.other, x.other), cmp.Compare(x.level, y.level))
	case x.closing:
		return -1
	case y.closing:
		return 1
	}
	return cmp.Or(cmp.Compare(y.other, x.other), cmp.Compare(y.level, x.level))
}
