// Package command is the command line that checks protocols: check, replay, explore, list, mutants, litmus,
// matrix and vet, and the pages that these write. Command verbatim is this package with the protocols of this module.
// A module with its own protocols gets the same commands with a program of a few lines:
//
//	func main() {
//		command.Main(command.Protocol{Name: "register", Scenarios: registercheck.Scenarios, Folders: []string{"register"}})
//	}
//
// Commands that build from source use the module of that program: its mutants are the patches in
// testdata/mutants/PROTOCOL below its go.mod. docs/own.md shows a whole module.
package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// Program is a command line with its protocols.
type Program struct {
	Protocols []Protocol
	// Absent are protocols that only another build of the program has, by name, with the remedy.
	Absent map[string]string
	// Doc is a further paragraph of the help text.
	Doc string
	// Commands makes further commands; nil: none.
	Commands func() []*cobra.Command
}

// The running program, in which the commands find protocols: a process runs one program.
var (
	protocols []Protocol
	absent    map[string]string
)

// Main runs the command line with these protocols, and exits with its status.
func Main(protocols ...Protocol) { Program{Protocols: protocols}.Main() }

// Main runs the command line, and exits with its status.
func (p Program) Main() {
	cli.CollectLess()
	adopted := adopt()
	leave(p.Run(os.Args[1:], os.Stdout, os.Stderr), adopted)
}

// Run runs the command line with these arguments, and returns its exit status. Only one can run at a time.
func (p Program) Run(args []string, stdout, stderr io.Writer) int {
	if err := p.validate(); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", programName(), err)
		return cli.Bad
	}
	protocols, absent = p.Protocols, p.Absent
	root := newRoot(p.Doc)
	if p.Commands != nil {
		root.AddCommand(p.Commands()...)
	}
	return cli.Run(root, args, stdout, stderr)
}

// validate finds mistakes of the program that would make a command behave in a way that is hard to understand.
func (p Program) validate() error {
	if len(p.Protocols) == 0 {
		return fmt.Errorf("the program has no protocol: give command.Main at least one")
	}
	for i := range p.Protocols {
		x := &p.Protocols[i]
		switch {
		case x.Name == "" || strings.ContainsAny(x.Name, "/*?[ "):
			return fmt.Errorf("a protocol cannot be called %q: its name is the first part of the names of its scenarios, before the slash", x.Name)
		case x.Name == mutant.Litmus || x.Name == mutant.Explore:
			return fmt.Errorf("a protocol cannot be called %s: mutants %s has another meaning", x.Name, x.Name)
		case x.Scenarios == nil:
			return fmt.Errorf("protocol %s: Scenarios is nil; set it to a function that returns the scenarios", x.Name)
		}
		for j := range i {
			if p.Protocols[j].Name == x.Name {
				return fmt.Errorf("two protocols are called %s", x.Name)
			}
		}
		if err := x.validScenarios(); err != nil {
			return fmt.Errorf("protocol %s: %w", x.Name, err)
		}
	}
	return nil
}

// validScenarios finds scenarios that no command could select, or that would hide others: an unchecked scenario must not
// count as verified.
func (p *Protocol) validScenarios() error {
	if len(p.Scenarios()) == 0 {
		return fmt.Errorf("there is nothing to check: Scenarios must return at least one")
	}
	known := map[string]bool{}
	for i, s := range p.named() {
		if s == nil {
			return fmt.Errorf("scenario %d is nil", i+1)
		}
		rest, begins := strings.CutPrefix(s.Name, p.Name+"/")
		switch {
		case !begins || rest == "":
			return fmt.Errorf("a scenario is called %q; its name must begin with %s/, and be longer", s.Name, p.Name)
		case strings.ContainsAny(s.Name, "*?[ "):
			return fmt.Errorf("a scenario is called %q; its name must have no space, and no *, ? or [, which are for patterns", s.Name)
		case s.Build == nil:
			return fmt.Errorf("scenario %s: Build is nil; set it to a function that builds the world", s.Name)
		case known[s.Name]:
			return fmt.Errorf("two scenarios are called %s", s.Name)
		}
		known[s.Name] = true
	}
	return nil
}

// programName is the name of the program in messages.
func programName() string {
	if pkg := source.Running().Package; pkg != "" {
		return path.Base(pkg)
	}
	return "verbatim"
}

// remark prints a line that is not a result, preceded by the name of the program.
func remark(stderr io.Writer, format string, args ...any) {
	fmt.Fprintf(stderr, programName()+": "+format+"\n", args...)
}

// ReplayCommand returns the command that replays the counterexample in a file.
func ReplayCommand(file string) string {
	return explore.Command(cmp.Or(source.Running().Package, "."), file)
}

// CheckLimits checks two flags that most commands have.
func CheckLimits(workers int, maxTime time.Duration) error {
	switch {
	case workers < 0:
		return fmt.Errorf("--workers %d: it must be at least 1, or 0 for one for each core", workers)
	case maxTime < 0:
		return fmt.Errorf("--max-time %v: a time cannot be negative", maxTime)
	}
	return nil
}
