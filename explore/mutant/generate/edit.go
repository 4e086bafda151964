package generate

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
)

// Where a text stands that goes around a node, if several go around nodes of one extent.
const (
	inner     = iota // the operands of an operator that has become a call
	middle           // what such a call is an operand of
	outer            // what stands for the value as a whole
	returning        // around a result
	statement        // around a statement
	before           // in front of a statement and all that is around it
)

// edits are the texts to be put into a file. They only go around nodes and in the place of
// operators, so those of a node and those of its parts do not meet.
type edits struct {
	source []byte
	at     *token.File
	all    []edit
}

// edit puts a text between the bytes at from and to, whose place it takes.
type edit struct {
	from, to int
	text     string
	closing  bool
	other    int // where the node ends, or for a closing text begins
	level    int
}

// around puts texts around a node.
func (e *edits) around(n ast.Node, level int, open, closing string) {
	from, to := e.at.Offset(n.Pos()), e.at.Offset(n.End())
	e.all = append(e.all, edit{from, from, open, false, to, level}, edit{to, to, closing, true, from, level})
}

// inPlace puts a text in the place of length bytes.
func (e *edits) inPlace(p token.Pos, length int, text string) {
	from := e.at.Offset(p)
	e.all = append(e.all, edit{from: from, to: from + length, text: text})
}

// of is the source of a node.
func (e *edits) of(n ast.Node) string {
	return string(e.source[e.at.Offset(n.Pos()):e.at.Offset(n.End())])
}

// text is the file with all edits.
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

// compare puts closing texts before opening ones at the same place, and of these the inner
// one first and the outer one first.
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
