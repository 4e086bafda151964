//go:build raftr

package main

import (
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"github.com/verbatim-rdma/verbatim/protocol/raftr/raftrcheck"
)

// Raft-R rests on go.etcd.io/raft, and with it on protobuf: the command would no longer be light. What a
// command with Raft-R builds, such as mutants, has it too.
func init() {
	program.Protocols = append(program.Protocols, command.Protocol{Name: "raftr", Scenarios: raftrcheck.Scenarios, Deep: raftrcheck.DeepScenarios,
		GoScenarios: "raftrcheck.Scenarios()", GoDeep: "raftrcheck.DeepScenarios()", Folders: []string{"protocol/raftr"}, Kit: []string{"kit/lend", "kit/rpc"}})
	if err := os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -tags=raftr")); err != nil {
		panic(err)
	}
}
