package splitfscheck

import "github.com/verbatim-rdma/verbatim/explore"

// failureScenarios are the scenarios in which a call of the directory or the store fails,
// executed or not.
func failureScenarios() []*explore.Scenario {
	failed := []string{sawFailure, sawRefusing, sawGrown}
	return []*explore.Scenario{
		build(spec{
			name:   "store-fails",
			doc:    "One call to the store fails, executed or not. The operation has taken effect or not; after a failed write the file accepts no more writes until it is opened again.",
			faults: "none",
			bounds: "one call that fails, in any of three operations on two files",
			load:   workload{calm: 3, failures: 1, storeFails: true, grain: 8, maxRegion: 4096, program: failing(), meets: failed},
		}),
		build(spec{
			name:   "rename-fails",
			doc:    "One call to the directory fails while a file replaces another one, or grows; then either file is renamed.",
			faults: "crash(app)<=1",
			bounds: "two files; a rename or a larger region, a rename, and a mount; one call that fails, and a crash after it",
			load: workload{calm: 2, failures: 1, dirFails: true, steady: true, blind: true, maxRegion: 4096, program: []one{{add("a.log", 3)}, {add("b.log", 5)},
				{rename("a.log", "b.log"), add("b.log", 1100)}, {rename("b.log", "c.log"), rename("b.log", "a.log")}},
				meets: []string{sawFailure}},
		}),
		build(spec{
			name:   "directory-fails",
			doc:    "One call to the directory fails, executed or not. The operation has taken effect or not, and nothing else is lost.",
			faults: "none",
			bounds: "one call that fails, in any of three operations on two files",
			load:   workload{calm: 3, failures: 1, dirFails: true, maxRegion: 4096, program: failing(), meets: failed},
		}),
	}
}

// failing are operations on a file that is held open, and on another one.
func failing() []one {
	return []one{{both(add("a.log", 3), hold("one", "a.log"))}, {add("b.log", 5)}, {both(add("d", 4), fsync("d"))},
		{held("one", add("@one", 5)), held("one", add("@one", 1100)), held("one", size("@one", 0)), held("one", size("@one", 2)), held("one", put("@one", 1, 4)), held("one", put("@one", 0, 2)), rename("a.log", "b.log"), rename("d", "a.log"),
			remove("a.log"), create("c.log", 0), empty("b.log"), remount, add("d", 3)},
		{held("one", add("@one", 2)), held("one", put("@one", 1, 6)), held("one", read("@one")), held("one", add("@one", 1100)), add("a.log", 7), remove("b.log"), rename("b.log", "a.log"), letGo("one")},
		{held("one", add("@one", 1200)), add("a.log", 1100)}}
}
