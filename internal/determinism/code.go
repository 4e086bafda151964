// Package determinism has the rules for code that the checker runs: its behaviour must depend only on its arguments and
// on the choices that its host.Host makes. Otherwise a run cannot be repeated, and a verdict says nothing.
//
// Package lint applies the rules to this module, and [Analyzer] to any other.
package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Code is a package as the rules see it.
type Code struct {
	Name  string // in messages
	Fset  *token.FileSet
	Files []*ast.File // without tests
	Info  *types.Info
	// Simulator: it makes the choices, for worlds of one thread each.
	Simulator bool
}

// Finding is a place that breaks a rule.
type Finding struct {
	Pos  token.Pos
	Text string // what is wrong; what to do instead
}
