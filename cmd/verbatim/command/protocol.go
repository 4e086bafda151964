package command

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/strace"
)

// Protocol is a protocol that a program checks.
type Protocol struct {
	// Name is the first part of the names of its scenarios, before the slash.
	Name      string
	Scenarios func() []*explore.Scenario
	// Deep are further scenarios, which must be requested explicitly; nil: none.
	Deep func() []*explore.Scenario
	// Broken are scenarios that must be violated. Only their names select them, so that they catch no mutants; nil means
	// none.
	Broken func() []*explore.Scenario
	// Matrix are the scenarios that can depend on the card; nil: all.
	Matrix func() []*explore.Scenario
	// GoScenarios, GoDeep and GoBroken are Go expressions for these lists, for regression tests; empty: the test uses
	// a variable scenario.
	GoScenarios, GoDeep, GoBroken string
	// Folders are the folders of its packages, from the root of the source tree: their lines are counted, and mutants
	// are generated from them. Empty: neither.
	Folders []string
	// Kit are the folders of packages that it shares with others: the functions that it uses are mutated too.
	Kit []string
	// FromTrace makes a scenario of a program's system calls; nil if the
	// protocol has no use for them.
	FromTrace func(*strace.Trace) (*explore.Scenario, error)
}

// matrixScenarios are the scenarios that the matrix checks.
func (p *Protocol) matrixScenarios() []*explore.Scenario {
	if p.Matrix != nil {
		return p.Matrix()
	}
	return p.Scenarios()
}

// all returns the scenarios that can be selected by a pattern.
func (p *Protocol) all() []*explore.Scenario { return append(p.Scenarios(), p.deep()...) }

// named returns the scenarios that can be selected by their names.
func (p *Protocol) named() []*explore.Scenario { return append(p.all(), p.broken()...) }

func (p *Protocol) deep() []*explore.Scenario {
	if p.Deep == nil {
		return nil
	}
	return p.Deep()
}

func (p *Protocol) broken() []*explore.Scenario {
	if p.Broken == nil {
		return nil
	}
	return p.Broken()
}

// goScenarios returns a Go expression for the list that has the scenario.
func (p *Protocol) goScenarios(name string) string {
	switch {
	case explore.Named(p.deep(), name) != nil:
		return p.GoDeep
	case explore.Named(p.broken(), name) != nil:
		return p.GoBroken
	}
	return p.GoScenarios
}

// errAbsent: this build of the program does not have the protocol, although others do.
var errAbsent = errors.New("absent")

// protocolOf returns the protocol with which the name of a protocol or scenario begins.
func protocolOf(name string) (*Protocol, error) {
	first, _, _ := strings.Cut(name, "/")
	for i := range protocols {
		if protocols[i].Name == first {
			return &protocols[i], nil
		}
	}
	if why := absent[first]; why != "" {
		return nil, fmt.Errorf("%s is %w: %s", first, errAbsent, why)
	}
	return nil, fmt.Errorf("unknown protocol %q; known: %s%s", first, cli.List(protocolNames()), mistake.DidYouMean(name,
		append(protocolNames(), scenarioNames()...)))
}

func noScenario(p *Protocol, name string) error {
	var names []string
	for _, s := range p.named() {
		names = append(names, s.Name)
	}
	return fmt.Errorf("unknown scenario %q; known: %s%s", name, cli.List(names), mistake.DidYouMean(name, names))
}

func protocolNames() []string {
	var out []string
	for i := range protocols {
		out = append(out, protocols[i].Name)
	}
	return out
}

func scenarioNames() []string {
	var out []string
	for i := range protocols {
		for _, s := range protocols[i].all() {
			out = append(out, s.Name)
		}
	}
	return out
}

// fromTrace makes a scenario of a file that strace wrote.
func fromTrace(p *Protocol, file, pattern string) (*explore.Scenario, *strace.Trace, error) {
	if p.FromTrace == nil {
		return nil, nil, fmt.Errorf("protocol %s cannot make scenarios from traces", p.Name)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	t, err := strace.Parse(f, strace.Options{File: pattern})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	s, err := p.FromTrace(t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, t, nil
}
