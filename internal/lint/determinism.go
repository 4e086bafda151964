package lint

import (
	"go/build"
	"go/build/constraint"
	"io"
	"path"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/determinism"
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

// determined applies a rule of package determinism to the deterministic packages.
func determined(rule func(*determinism.Code) []determinism.Finding) func(*Repo) []Finding {
	return func(r *Repo) []Finding {
		var found []Finding
		for _, p := range r.Packages {
			if !deterministic(p.Path) {
				continue
			}
			c := &determinism.Code{Name: p.Path, Fset: r.fset, Info: r.typed(p), Simulator: isSimulator(p.Path)}
			for _, f := range p.Code() {
				c.Files = append(c.Files, f.AST)
			}
			for _, x := range rule(c) {
				found = append(found, r.finding(x.Pos, "%s", x.Text))
			}
		}
		return found
	}
}

// checkBuildTags requires every file of a protocol to be in every build.
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
