package clustercheck

import "github.com/verbatim-rdma/verbatim/explore"

func nameScenarios() []*explore.Scenario { return nil }
