//go:build raftr

package main

import "github.com/verbatim-rdma/verbatim/protocol/raftr/raftrcheck"

// Raft-R needs go.etcd.io/raft and with it protobuf, which would make the command a tenth larger: see the step light of .ci/run.
func init() {
	protocols = append(protocols, protocol{Name: "raftr", Scenarios: raftrcheck.Scenarios, Deep: raftrcheck.DeepScenarios, GoScenarios: "raftrcheck.Scenarios()",
		GoDeep:  "raftrcheck.DeepScenarios()",
		Folders: []string{"protocol/raftr"}, Kit: []string{"kit/lend", "kit/quorum", "kit/rpc"}})
}
