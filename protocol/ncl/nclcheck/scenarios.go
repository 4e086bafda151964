package nclcheck

import (
	"github.com/verbatim-rdma/verbatim/explore"
)

// write is one write of a workload: size bytes at off. Each has bytes of its own.
type write struct{ off, size int }

// workload is what the application does, one list of writes for each of its
// lives: the first creates the file, the others recover it first. The last life
// only reads back what it recovered.
type workload struct {
	f     int // failures to tolerate; there are 2f+1 peers
	size  int // of the file
	lives [][]write
}

// Scenarios are the built-in scenarios of NCL.
func Scenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(scenario{
			name:   "three-writes",
			doc:    "One writer appends three times; it and one peer may crash at any point, and then the file is recovered from any majority.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, three appends of 16 bytes, recovery and read back",
			load:   workload{f: 1, size: 48, lives: [][]write{{{0, 16}, {16, 16}, {32, 16}}, nil}},
		}),
		build(scenario{
			name:   "overwrite",
			doc:    "The log is a circular buffer: the third write goes where the first went, while a slow peer may still hold the first.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, three writes of 16 bytes in a file of 32, recovery and read back",
			load:   workload{f: 1, size: 32, lives: [][]write{{{0, 16}, {16, 16}, {0, 16}}, nil}},
		}),
		build(scenario{
			name:   "twice",
			doc:    "The application crashes twice, in its first life or while it recovers and writes on; meanwhile one peer is cut off and comes back with what it had.",
			faults: "crash(app)<=2, partition(app,peer*)<=1",
			bounds: "f=1, three peers, two appends of 8 bytes, recovery, another append, recovery and read back",
			load:   workload{f: 1, size: 24, lives: [][]write{{{0, 8}, {8, 8}}, {{16, 8}}, nil}},
		}),
		build(scenario{
			name:   "f2",
			doc:    "Five peers of which two may crash, and the application too.",
			faults: "crash(app)<=1, crash(peer*)<=2",
			bounds: "f=2, five peers, one append of 8 bytes, recovery and read back",
			load:   workload{f: 2, size: 8, lives: [][]write{{{0, 8}}, nil}},
		}),
	}
}
