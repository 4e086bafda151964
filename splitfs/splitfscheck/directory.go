package splitfscheck

import "github.com/verbatim-rdma/verbatim/explore"

// directoryScenarios are about files in the directory.
func directoryScenarios() []*explore.Scenario {
	change := one{add("d", 3), put("d", 2, 4), put("d", 9, 1), size("d", 2), size("d", 12), fsync("d"), rename("d", "e"), remove("d"), hold("one", "d"), empty("d")}
	return []*explore.Scenario{
		build(spec{
			name:   "directory",
			doc:    "A file in the directory behaves as usual, and after Sync and SyncDir it survives any crash.",
			faults: "crash(app)<=1",
			bounds: "one file, two of ten operations, and one on a file on the peers",
			load: workload{calm: 1, program: []one{{both(add("d", 4), fsync("d"))}, change, change, {add("a.log", 1)}},
				meets: []string{sawBefore, sawAfter}},
		}),
	}
}
