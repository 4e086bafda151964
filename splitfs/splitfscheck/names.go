package splitfscheck

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// nameScenarios are about names, unlinked files, and regions that grow.
func nameScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "names",
			doc:    "Files on the peers and in the directory are created, renamed, replaced and removed, while the file system has them in memory.",
			faults: "crash(app)<=1",
			bounds: "three files, two of eleven operations; a crash is possible while the file system is mounted",
			load: workload{calm: 3, program: []one{{add("a.log", 3)}, {add("b.log", 5)}, {both(add("d", 4), fsync("d"))}, renames(), renames()},
				meets: []string{sawBefore, sawAfter, sawLeftover}},
		}),
		build(spec{
			name:   "names-closed",
			doc:    "The same after a mount, before the files are opened.",
			faults: "crash(app)<=1",
			bounds: "as in splitfs/names",
			load: workload{calm: 3, blind: true, program: []one{{add("a.log", 3)}, {add("b.log", 5)}, {both(add("d", 4), fsync("d"), remount)}, renames(), renames()},
				meets: []string{sawBefore, sawAfter, sawLeftover}},
		}),
		build(spec{
			name:   "clean-up",
			doc:    "The application crashes while it creates, replaces or removes a file, and again while it mounts and cleans up.",
			faults: "crash(app)<=2",
			bounds: "two files, one of four operations",
			load: workload{calm: 2, blind: true, program: []one{{add("a.log", 3)}, {both(add("b.log", 5), remount)},
				{create("c.log", 0), rename("a.log", "b.log"), remove("b.log"), add("a.log", 1100)}},
				meets: []string{sawBefore, sawAfter, sawLeftover, sawMountCrash}, maxRegion: 2048},
		}),
		build(spec{
			name:   "folders",
			doc:    "A folder with files on the peers is renamed, and its files continue under their new names; a folder that is not empty is not removed.",
			faults: "crash(app)<=1",
			bounds: "a folder with two files, and a file outside whose name begins like the folder's; this file and one of the two outgrow their regions afterwards",
			load: workload{calm: 3, blind: true, maxRegion: 4096, program: []one{{mkdir("dir")}, {both(add("dir/a.log", 3), hold("one", "dir/a.log"))}, {both(add("dir/x.w", 2), hold("two", "dir0.log"), hold("three", "dir.log"))},
				{rename("dir", "to"), rename("dir/a.log", "b.log"), remove("dir/a.log")}, {held("one", add("@one", 1100)), held("two", add("@two", 1100)), mkdir("to")}, {held("three", add("@three", 1100)), add("b.log", 1200)}},
				meets: []string{sawBefore, sawAfter, sawGrown}},
		}),
		build(spec{
			name:   "growth",
			doc:    "A file outgrows its region, by appends, overwrites, a hole and truncations, up to the largest region.",
			faults: "crash(app)<=1",
			bounds: "one file in regions of 1, 2 and 3 KiB, two of seven operations; a Record tears into six pieces",
			load: workload{calm: 1, maxRegion: 3 << 10, steady: true, program: []one{{add("a.log", 600)}, growths("a.log"), growths("a.log")},
				meets: []string{sawBefore, sawAfter, sawTorn, sawGrown, sawNoSpace}},
		}),
		build(spec{
			name:   "unlinked",
			doc:    "A file is removed or replaced while it is open: its handles still read and write it, also in a larger region, and closing the last handle deletes it.",
			faults: "crash(app)<=1",
			bounds: "one file that is open twice, under another name as well; an append, and one that takes a larger region",
			load: workload{calm: 3, maxRegion: 4096, program: []one{{both(add("a.log", 3), hold("one", "a.log"))}, {hold("two", "a.log")}, {both(add("d", 4), fsync("d"))},
				{remove("a.log"), rename("d", "a.log"), rename("a.log", "c")},
				{held("one", add("@one", 5)), held("one", add("@one", 1100)), letGo("one")}, {add("a.log", 2), letGo("two")},
				{letGo("one"), held("two", add("@two", 1300))}, {letGo("two"), letGo("one")}},
				meets: []string{sawBefore, sawAfter, sawGrown, sawLeftover}},
		}),
		build(spec{
			name:   "patterns",
			doc:    "A new file goes to the peers by its name or by O_NCL, and stays there when renamed.",
			faults: "crash(app)<=1",
			bounds: "four files in two folders, renamed into one another",
			load: workload{calm: 1, program: []one{{mkdir("dir")}, {create("n", splitfs.O_NCL), create("n.log", splitfs.O_NCL)}, {create("dir/x.w", 0), create("x.w", 0)},
				{rename("n", "dir/e"), rename("dir/x.w", "n"), rename("x.w", "y.log")}, {add("n", 3), add("dir/e", 3), add("y.log", 2)}},
				meets: []string{sawBefore, sawAfter}},
		}),
	}
}

// both runs two steps in a row as one.
func both(steps ...step) step {
	return func(r *run) {
		for _, s := range steps {
			if r.underWay == nil {
				s(r)
			}
		}
	}
}

func renames() one {
	return one{rename("a.log", "b.log"), rename("b.log", "a.log"), rename("a.log", "d"), rename("d", "a.log"), rename("a.log", "c"), rename("d", "c"),
		remove("a.log"), remove("d"), create("c.log", 0), add("b.log", 2), rename("a.log", "a.log")}
}

// growths are operations that may not fit if a file of 600 bytes is in a region of 1024.
func growths(at string) one {
	return one{add(at, 400), put(at, -2, 700), put(at, 1500, 5), size(at, 1300), size(at, 0), add(at, 2900), size(at, -599)}
}
