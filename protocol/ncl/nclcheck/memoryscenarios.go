package nclcheck

import "github.com/verbatim-rdma/verbatim/explore"

// memoryScenarios are those in which a peer may keep memory that nobody needs any more.
func memoryScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(scenario{
			name:   "left-behind",
			doc:    "A peer is cut off while a recovery copies the file to it, and the recovery finishes on the others. Its link heals, and when it looks for leaked regions it keeps one for the file.",
			faults: "partition(app,peer*)<=1",
			bounds: "f=1, three peers, a recovery during which a link is cut, a collection at every peer once it has healed",
			load: workload{f: 1, size: 8, lives: [][]write{{}, nil}, script: leaving, collects: true, intact: true, cutRecovery: true,
				meets: []condition{sawLeftBehind}},
		}),
	}
}
