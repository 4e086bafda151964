package splitfscheck

import "github.com/verbatim-rdma/verbatim/explore"

// afterCrash are the conditions of scenarios with crashes.
var afterCrash = []string{sawBefore, sawAfter, sawTorn}

// layoutScenarios are about the layout of one file.
func layoutScenarios() []*explore.Scenario {
	log := "a.log"
	return []*explore.Scenario{
		build(spec{
			name:   "append",
			doc:    "A file is appended to three times. The application may crash twice, and repeats the interrupted operation.",
			faults: "crash(app)<=2",
			bounds: "one file, three appends of 8, 8 and 3 bytes; a Record tears into pieces of 8 bytes",
			load: workload{grain: 8, again: true, program: []one{{add(log, 8)}, {add(log, 8)}, {add(log, 3)}},
				meets: append([]string{sawLeftover, sawMountCrash}, afterCrash...)},
		}),
		build(spec{
			name:   "header",
			doc:    "The headers of two appends tear between any two of their fields.",
			faults: "crash(app)<=2",
			bounds: "one file, two appends of 1 byte; a Record tears into pieces of 4 bytes",
			load: workload{grain: 4, tears: 7, steady: true, calm: 1, program: []one{{create(log, 0)}, {add(log, 1)}, {add(log, 1)}},
				meets: afterCrash},
		}),
		build(spec{
			name:   "overwrite",
			doc:    "A file of three frames is overwritten within a frame, across several frames, in the last frame, past the end, and after a hole.",
			faults: "crash(app)<=1",
			bounds: "one file of three frames of 4 bytes, two of eleven writes; a Record tears into pieces of 4 bytes",
			load: workload{grain: 4, steady: true, calm: 3, program: []one{{add(log, 4)}, {add(log, 4)}, {add(log, 4)},
				overwrites(log), overwrites(log)},
				meets: append([]string{sawPart}, afterCrash...)},
		}),
		build(spec{
			name:   "truncate",
			doc:    "A file is truncated to zero, shorter, longer and to its length, and appended to.",
			faults: "crash(app)<=1",
			bounds: "one file of two frames of 8 and 4 bytes, three of seven operations; a Record tears into pieces of 8 bytes",
			load: workload{grain: 8, steady: true, calm: 2, program: []one{{add(log, 8)}, {add(log, 4)}, cuts(log), cuts(log), cuts(log)},
				meets: afterCrash},
		}),
		build(spec{
			name:   "lookalike",
			doc:    "Appended data ends in a copy of a header of the file, and only the copy lands: later the copy is at the position of the next frame.",
			faults: "crash(app)<=1",
			bounds: "one file of three frames, one of them a truncation; an append of 8 bytes and a header, and one of 8 bytes; a Record tears into pieces of 8 bytes",
			load: workload{grain: 8, tears: 7, steady: true, calm: 3, program: []one{{add(log, 8)}, {size(log, 4)}, {add(log, 8)}, {lookalike(log, 8)}, {add(log, 8)}},
				meets: afterCrash},
		}),
		build(spec{
			name:   "layout",
			doc:    "Appends, overwrites and truncations in any order, two of them possibly torn, each by a crash and a restart.",
			faults: "crash(app)<=2",
			bounds: "one file of 8 bytes, two of five operations; a Record tears into pieces of 8 bytes",
			load: workload{grain: 8, again: true, steady: true, calm: 1, program: []one{{add(log, 8)}, changes(log), changes(log)},
				meets: append([]string{sawPart}, afterCrash...)},
		}),
	}
}

// overwrites are writes to a file of three frames of 4 bytes.
func overwrites(at string) one {
	return one{put(at, 1, 2), put(at, 4, 4), put(at, 3, 2), put(at, 2, 8), put(at, 8, 1), put(at, -1, 1), put(at, -2, 4), put(at, 0, 16), put(at, -5, 5), put(at, 20, 2), put(at, 14, 0)}
}

// cuts are truncations, and the operations after them.
func cuts(at string) one {
	return one{size(at, 0), empty(at), size(at, -3), size(at, -6), size(at, 14), add(at, 8), put(at, -1, 3)}
}

// changes are one of each kind.
func changes(at string) one {
	return one{add(at, 8), put(at, -4, 8), size(at, 0), size(at, -4), put(at, 0, 3)}
}
