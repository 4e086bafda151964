package lint

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/token"
	"go/types"
	"io"
	"path"
	"slices"
	"strings"
)

// A package is deterministic if its behaviour depends only on its arguments and on the
// choices that its host.Host makes.
func deterministic(pkg string) bool {
	l := layerOf(pkg)
	return l != nil && (l.name == "protocol" || l.name == "cluster" || l.name == "verbs/sim" || l.name == "coord")
}

func isProtocol(pkg string) bool {
	l := layerOf(pkg)
	return l != nil && l.name == "protocol"
}

func isSimulator(pkg string) bool {
	l := layerOf(pkg)
	return l != nil && l.name == "verbs/sim"
}

// banned is something that a deterministic package may not use.
type banned struct {
	why, protocol, sim string // what to do instead; sim is empty where the simulator may use it
}

const (
	simClock = "use the world's virtual clock"
	simRand  = "make it a choice of the world"
	simPlain = "use plain variables: a world has one thread"
)

// bannedImports are the packages that a deterministic package may not import. A name
// that ends in /... includes the packages below.
var bannedImports = map[string]banned{
	"math/rand":    {"its numbers are not recorded choices", "use host.Host.Rand", simRand},
	"math/rand/v2": {"its numbers are not recorded choices", "use host.Host.Rand", simRand},
	"crypto/rand":  {"its numbers are not recorded choices", "use host.Host.Rand", simRand},
	"hash/maphash": {"its seed differs from run to run", "use hash/crc32 or hash/fnv", "use hash/fnv"},
	"sync":         {"the scheduler cannot see who waits", "use host.Mutex and host.Cond", simPlain},
	"sync/atomic":  {"the scheduler cannot see who waits", "use host.Mutex, or host.Region for words that a card reaches", simPlain},
	"context":      {"it waits on channels and the wall clock", "pass a timeout, as host.Host.Call takes one", "pass a timeout"},
	"os/...":       {"it reaches past the host", "use host.Host.OpenPMEM for what must last and arguments for settings", "take it as an argument"},
	"net/...":      {"it reaches past the host", "use host.Host.Call and host.Host.Listen", "deliver messages inside the world"},
	"syscall":      {"it reaches past the host", "use the methods of host.Host", "take it as an argument"},
	"log/...":      {"it writes past the host", "use host.Host.Logf", "use the world's log"},
	"runtime/...":  {"it shows the scheduler of the Go runtime", "use the methods of host.Host", ""},
	"unsafe":       {"memory that a card reaches is shown through its region", "use host.Region", ""},
	"C":            {"it reaches past the host", "put the binding into verbs/hw", "put the binding into verbs/hw"},
}

const timers = "give the call that waits a timeout, or start a task that sleeps"

// bannedTime are the functions of package time that read the clock or wait.
// Durations and constants are fine.
var bannedTime = map[string]banned{
	"Now":       {"it reads the wall clock", "use host.Host.Now", simClock},
	"Since":     {"it reads the wall clock", "use host.Host.Now", simClock},
	"Until":     {"it reads the wall clock", "use host.Host.Now", simClock},
	"Sleep":     {"it waits on the wall clock", "use host.Host.Sleep", simClock},
	"After":     {"it waits on the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"AfterFunc": {"it waits on the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"Tick":      {"it waits on the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"NewTimer":  {"it waits on the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
	"NewTicker": {"it waits on the wall clock", timers + " (host.Host.Go, host.Host.Sleep)", simClock},
}

var (
	bannedGo      = banned{"the scheduler does not know its goroutine", "use host.Host.Go", "make a coroutine with iter.Pull"}
	bannedChannel = banned{"the scheduler cannot see who waits", "use a slice under a host.Mutex and a host.Cond", simPlain}
)

// mend is what to do instead in package pkg, empty if it may stay.
func (b banned) mend(pkg string) string {
	if isSimulator(pkg) {
		return b.sim
	}
	return b.protocol
}

// checkDeterminism looks for everything that bypasses the host: other packages, the
// clock, goroutines and channels.
func checkDeterminism(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		if !deterministic(p.Path) {
			continue
		}
		report := func(pos token.Pos, what string, b banned) {
			if mend := b.mend(p.Path); mend != "" {
				found = append(found, r.finding(pos, "%s in %s: %s; %s", what, p.Path, b.why, mend))
			}
		}
		info := r.typed(p)
		for _, f := range p.Code() {
			for _, spec := range f.AST.Imports {
				if b, ok := bannedImport(importPath(spec)); ok {
					report(spec.Pos(), "import of "+importPath(spec), b)
				}
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				if what, b := bannedNode(info, n); what != "" {
					report(n.Pos(), what, b)
				}
				return true
			})
		}
	}
	return found
}

func bannedImport(imp string) (banned, bool) {
	if b, ok := bannedImports[imp]; ok {
		return b, true
	}
	for dir := imp; dir != "."; dir = path.Dir(dir) {
		if b, ok := bannedImports[dir+"/..."]; ok {
			return b, true
		}
	}
	return banned{}, false
}

func bannedNode(info *types.Info, n ast.Node) (string, banned) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement", bannedGo
	case *ast.SelectStmt:
		return "select statement", bannedChannel
	case *ast.SendStmt:
		return "send on a channel", bannedChannel
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive from a channel", bannedChannel
		}
	case *ast.ChanType:
		return "channel type", bannedChannel
	case *ast.RangeStmt:
		if _, ok := coreType(info, n.X).(*types.Chan); ok {
			return "range over a channel", bannedChannel
		}
	case *ast.Ident:
		if obj := info.Uses[n]; isPackageFunc(obj, "time") {
			return "time." + obj.Name(), bannedTime[obj.Name()]
		}
	}
	return "", banned{}
}

// isPackageFunc reports whether obj is a function, not a method, of package pkg.
func isPackageFunc(obj types.Object, pkg string) bool {
	f, ok := obj.(*types.Func)
	return ok && f.Pkg() != nil && f.Pkg().Path() == pkg && f.Signature().Recv() == nil
}

// coreType returns the underlying type of e, also where it is a type parameter
// whose types all have the same one.
func coreType(info *types.Info, e ast.Expr) types.Type {
	t := info.TypeOf(e)
	if t == nil {
		return nil
	}
	if param, ok := types.Unalias(t).(*types.TypeParam); ok {
		constraint := param.Constraint().Underlying().(*types.Interface)
		for i := range constraint.NumEmbeddeds() {
			embedded := constraint.EmbeddedType(i)
			if union, ok := embedded.(*types.Union); ok && union.Len() > 0 {
				embedded = union.Term(0).Type()
			}
			if _, ok := embedded.Underlying().(*types.Interface); !ok {
				return embedded.Underlying()
			}
		}
	}
	return t.Underlying()
}

// checkBuildTags wants every file of a protocol in every build.
func checkBuildTags(r *Repo) []Finding {
	const mend = "a protocol is the same code on every backend; ask verbs.Device.Attr what differs, and put code that must differ into verbs/sim or verbs/hw"
	var found []Finding
	for _, p := range r.Packages {
		if !isProtocol(p.Path) {
			continue
		}
		for _, f := range p.Code() {
			for _, group := range f.AST.Comments {
				for _, c := range group.List {
					if c.Pos() < f.AST.Package && (constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text)) {
						found = append(found, r.finding(c.Pos(), "build tag in a protocol; %s", mend))
					}
				}
			}
			if namedForMachine(path.Base(f.Name)) {
				found = append(found, r.finding(f.AST.Package, "the file's name limits it to one kind of machine; %s", mend))
			}
		}
	}
	return found
}

// namedForMachine reports whether a name such as log_arm64.go is a build
// constraint: on a machine of no known kind it would not be built.
func namedForMachine(name string) bool {
	ctx := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	match, err := ctx.MatchFile("", name)
	return err == nil && !match
}

// checkVariables rejects state outside of what a caller made. In the simulator, worlds
// on different cores would share it.
func checkVariables(r *Repo) []Finding {
	var found []Finding
	for _, p := range r.Packages {
		if !deterministic(p.Path) {
			continue
		}
		info := r.typed(p)
		written := writtenVariables(p, info)
		for _, f := range p.Code() {
			for _, decl := range f.AST.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok || gen.Tok != token.VAR {
					continue
				}
				for _, spec := range gen.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						obj := info.Defs[name]
						if obj == nil || name.Name == "_" {
							continue
						}
						if text := variableMend(obj, written[obj]); text != "" {
							found = append(found, r.finding(name.Pos(), "package-level variable %s: %s", name.Name, text))
						}
					}
				}
			}
		}
	}
	return found
}

func variableMend(obj types.Object, written bool) string {
	isError := types.Identical(obj.Type(), types.Universe.Lookup("error").Type())
	switch {
	case written:
		return "it is written to, so runs and hosts share it; make it a field of a struct that the caller makes"
	case isError:
		return ""
	case !isTable(obj.Type()):
		return "hosts of one run would share it; make it a constant, or a field of a struct that the caller makes"
	case obj.Exported():
		return "another package could change it; unexport it, or return a copy from a function"
	}
	return ""
}

// isTable reports whether a variable of type t can be a table of constants.
func isTable(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Array, *types.Slice, *types.Map:
		return true
	case *types.Pointer: // *crc32.Table
		_, ok := t.Elem().Underlying().(*types.Array)
		return ok
	case *types.Struct: // binary.LittleEndian
		return t.NumFields() == 0
	}
	return false
}

// writtenVariables finds the package-level variables that p assigns to, whole or
// in part, or whose address it takes.
func writtenVariables(p *Package, info *types.Info) map[types.Object]bool {
	written := map[types.Object]bool{}
	mark := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if obj := rootVariable(info, e); obj != nil {
				written[obj] = true
			}
		}
	}
	for _, f := range p.Code() {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				mark(n.Lhs...)
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.RangeStmt:
				mark(n.Key, n.Value)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.CallExpr:
				if slices.Contains([]string{"copy", "clear", "delete"}, builtin(info, n)) {
					mark(n.Args[0])
				}
			}
			return true
		})
	}
	return written
}

// rootVariable returns the package-level variable that e is, or is a part of.
func rootVariable(info *types.Info, e ast.Expr) types.Object {
	id := rootIdent(e)
	if id == nil {
		return nil
	}
	obj, ok := info.Uses[id].(*types.Var)
	if !ok || obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return nil
	}
	return obj
}

// rootIdent is x for x.f[i] and the like, nil where no name is at the root.
func rootIdent(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// builtin returns the name of the built-in function that call calls, or empty.
func builtin(info *types.Info, call *ast.CallExpr) string {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}
