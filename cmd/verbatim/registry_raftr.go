//go:build raftr

package main

import (
	"os"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"github.com/verbatim-rdma/verbatim/protocol/raftr/raftrcheck"
)

// Raft-R needs go.etcd.io/raft, and with it protobuf: the command would no longer be light. Programs that a
// command with Raft-R builds, such as mutants, have it too.
func init() {
	program.Protocols = append(program.Protocols, command.Protocol{Name: "raftr", Scenarios: raftrcheck.Scenarios, Deep: raftrcheck.DeepScenarios,
		GoScenarios: "raftrcheck.Scenarios()", GoDeep: "raftrcheck.DeepScenarios()", Folders: []string{"protocol/raftr"}, Kit: []string{"kit/lend", "kit/rpc"}})
	if err := os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -tags=raftr")); err != nil {
		panic(err)
	}
}
