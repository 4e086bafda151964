package main

import (
	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cluster/clustercheck"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"github.com/verbatim-rdma/verbatim/examples/lease/leasecheck"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/table1check"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcheck"
	"github.com/verbatim-rdma/verbatim/splitfs/splitfscheck"
)

// program is the command line with the protocols of this module, in the order in which they are listed.
var program = command.Program{Doc: doc, Absent: absent, Commands: commands, Protocols: []command.Protocol{
	{Name: "ncl", Scenarios: nclcheck.Scenarios, Deep: nclcheck.DeepScenarios, Matrix: nclcheck.MatrixScenarios, GoScenarios: "nclcheck.Scenarios()",
		GoDeep: "nclcheck.DeepScenarios()", Folders: []string{"protocol/ncl"}, Kit: []string{"kit/entry", "kit/lend", "kit/quorum"}, FromTrace: nclcheck.FromTrace},
	{Name: "arcadia", Scenarios: arcadiacheck.Scenarios, Deep: arcadiacheck.DeepScenarios, Matrix: arcadiacheck.MatrixScenarios, GoScenarios: "arcadiacheck.Scenarios()",
		GoDeep: "arcadiacheck.DeepScenarios()", Folders: []string{"protocol/arcadia"}, Kit: []string{"kit/entry", "kit/lend"}},
	{Name: "table1", Scenarios: table1check.Scenarios, Broken: table1check.BrokenScenarios, GoScenarios: "table1check.Scenarios()",
		GoBroken: "table1check.BrokenScenarios()", Folders: []string{"protocol/arcadia/pmemlog", "protocol/arcadia/flex", "protocol/arcadia/queryfresh"}, Kit: []string{"kit/lend"}},
	{Name: "sift", Scenarios: siftcheck.Scenarios, Deep: siftcheck.DeepScenarios, GoScenarios: "siftcheck.Scenarios()",
		GoDeep: "siftcheck.DeepScenarios()", Folders: []string{"protocol/sift", "protocol/sift/kv", "protocol/sift/wal"}, Kit: []string{"kit/lend", "kit/quorum", "kit/rpc"}},
	{Name: "lease", Scenarios: leasecheck.Scenarios, GoScenarios: "leasecheck.Scenarios()", Folders: []string{"examples/lease"}},
	{Name: "splitfs", Scenarios: splitfscheck.Scenarios, Deep: splitfscheck.DeepScenarios, GoScenarios: "splitfscheck.Scenarios()",
		GoDeep: "splitfscheck.DeepScenarios()", Folders: []string{"splitfs"}},
	{Name: "cluster", Scenarios: clustercheck.Scenarios, GoScenarios: "clustercheck.Scenarios()", Folders: []string{"cluster"}},
}}

const doc = `A second program, verbatim-run, runs protocols on machines and measures them: ncl, bench,
crash, and litmus tests on cards.`

// absent are the protocols that only a larger command has.
var absent = map[string]string{"raftr": "it needs a larger command, with go.etcd.io/raft: go run -tags raftr ./cmd/verbatim, and the same arguments"}

// commands returns the commands that only this module has.
func commands() []*cobra.Command {
	return append(cli.Elsewhere("verbatim-run", "runs protocols on machines and measures them", "ncl", "arcadia", "sift", "bench", "crash"), newNew(), newTable1())
}
