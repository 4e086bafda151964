package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/cluster/clustercheck"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/examples/lease/leasecheck"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/table1check"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcheck"
	"github.com/verbatim-rdma/verbatim/splitfs/splitfscheck"
	"github.com/verbatim-rdma/verbatim/strace"
)

// protocol is a protocol that the command line knows.
type protocol struct {
	Name      string
	Scenarios func() []*explore.Scenario
	// Deep are further scenarios, which must be requested; nil: there are none.
	Deep func() []*explore.Scenario
	// Broken are scenarios that must be violated. Only their names select them, so that they catch no mutants; nil:
	// there are none.
	Broken func() []*explore.Scenario
	// Matrix are the scenarios that can depend on the card; nil: all.
	Matrix func() []*explore.Scenario
	// GoScenarios, GoDeep and GoBroken are these as Go expressions, for regression tests.
	GoScenarios, GoDeep, GoBroken string
	// Folders are those of its packages, from the root of the source tree.
	Folders []string
	// Kit are the folders of packages that it shares with others: the functions that it uses are mutated too.
	Kit []string
	// FromTrace makes a scenario of a program's system calls; nil if the
	// protocol has no use for them.
	FromTrace func(*strace.Trace) (*explore.Scenario, error)
}

// matrixScenarios are those that the matrix checks.
func (p *protocol) matrixScenarios() []*explore.Scenario {
	if p.Matrix != nil {
		return p.Matrix()
	}
	return p.Scenarios()
}

// protocols are the protocols that the command line knows, in the order in which
// they are listed.
var protocols = []protocol{
	{Name: "ncl", Scenarios: nclcheck.Scenarios, Deep: nclcheck.DeepScenarios, Matrix: nclcheck.MatrixScenarios, GoScenarios: "nclcheck.Scenarios()",
		GoDeep: "nclcheck.DeepScenarios()", Folders: []string{"protocol/ncl"}, Kit: []string{"kit/entry", "kit/lend", "kit/quorum"}, FromTrace: nclcheck.FromTrace},
	{Name: "arcadia", Scenarios: arcadiacheck.Scenarios, Deep: arcadiacheck.DeepScenarios, Matrix: arcadiacheck.MatrixScenarios, GoScenarios: "arcadiacheck.Scenarios()",
		GoDeep: "arcadiacheck.DeepScenarios()", Folders: []string{"protocol/arcadia"}, Kit: []string{"kit/entry", "kit/lend"}},
	{Name: "table1", Scenarios: table1check.Scenarios, Broken: table1check.BrokenScenarios, GoScenarios: "table1check.Scenarios()",
		GoBroken: "table1check.BrokenScenarios()", Folders: []string{"protocol/arcadia/pmemlog", "protocol/arcadia/flex", "protocol/arcadia/queryfresh"}, Kit: []string{"kit/lend"}},
	{Name: "sift", Scenarios: siftcheck.Scenarios, Deep: siftcheck.DeepScenarios, GoScenarios: "siftcheck.Scenarios()",
		GoDeep: "siftcheck.DeepScenarios()", Folders: []string{"protocol/sift"}, Kit: []string{"kit/lend", "kit/quorum", "kit/rpc"}},
	{Name: "lease", Scenarios: leasecheck.Scenarios, GoScenarios: "leasecheck.Scenarios()", Folders: []string{"examples/lease"}},
	{Name: "splitfs", Scenarios: splitfscheck.Scenarios, Deep: splitfscheck.DeepScenarios, GoScenarios: "splitfscheck.Scenarios()",
		GoDeep: "splitfscheck.DeepScenarios()", Folders: []string{"splitfs"}},
	{Name: "cluster", Scenarios: clustercheck.Scenarios, GoScenarios: "clustercheck.Scenarios()", Folders: []string{"cluster"}},
}

// all returns the scenarios that can be asked for by a pattern.
func (p *protocol) all() []*explore.Scenario { return append(p.Scenarios(), p.deep()...) }

// named are those that can be asked for by their names.
func (p *protocol) named() []*explore.Scenario { return append(p.all(), p.broken()...) }

func (p *protocol) deep() []*explore.Scenario {
	if p.Deep == nil {
		return nil
	}
	return p.Deep()
}

func (p *protocol) broken() []*explore.Scenario {
	if p.Broken == nil {
		return nil
	}
	return p.Broken()
}

// goScenarios returns a Go expression for the list that has the scenario.
func (p *protocol) goScenarios(name string) string {
	switch {
	case explore.Named(p.deep(), name) != nil:
		return p.GoDeep
	case explore.Named(p.broken(), name) != nil:
		return p.GoBroken
	}
	return p.GoScenarios
}

// errTagged: the command was built without Raft-R.
var errTagged = errors.New("raftr needs a larger command, with go.etcd.io/raft: go run -tags raftr ./cmd/verbatim, and the same arguments")

// protocolOf returns the protocol that the name of a protocol or scenario begins with.
func protocolOf(name string) (*protocol, error) {
	first, _, _ := strings.Cut(name, "/")
	for i := range protocols {
		if protocols[i].Name == first {
			return &protocols[i], nil
		}
	}
	if first == "raftr" {
		return nil, errTagged
	}
	return nil, fmt.Errorf("unknown protocol %q; known: %s%s", first, cli.List(protocolNames()), mistake.DidYouMean(name,
		append(protocolNames(), scenarioNames()...)))
}

func noScenario(p *protocol, name string) error {
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
func fromTrace(p *protocol, file, pattern string) (*explore.Scenario, *strace.Trace, error) {
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
