package nclcheck

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
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
	// peers there are, if they are more than 2f+1 or not interchangeable.
	peers int
	// script is what a life does; nil: open the file and write.
	script func(*run)
	// meets are the conditions that a search is expected to meet.
	meets []condition
	// stayDown: a peer that crashes does not start again.
	stayDown bool
	// cutBetween: links are cut in the first life and heal in the last.
	cutBetween bool
	// gate, if set, says when faults strike.
	gate func(*app) func(k faults.Kind, heal bool) bool
	// collects: peers look for leaked regions, at any moment that a timer may fire.
	collects bool
	// registered: the controller says which peers there are.
	registered bool
	// second: there is a file of another application.
	second bool
}

func (l *workload) count() int { return max(l.peers, 2*l.f+1) }

// Scenarios are the built-in scenarios of NCL.
func Scenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(scenario{
			name:   "three-writes",
			doc:    "One writer appends three times; it and one peer may crash at any point, and then the file is recovered from any majority.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, three appends of 16 bytes, recovery and read back",
			load:   workload{f: 1, size: 48, lives: [][]write{{{0, 16}, {16, 16}, {32, 16}}, nil}, meets: afterCrash},
		}),
		build(scenario{
			name:   "overwrite",
			doc:    "The log is a circular buffer: the third write goes where the first went, while a slow peer may still hold the first.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, three writes of 16 bytes in a file of 32, recovery and read back",
			load:   workload{f: 1, size: 32, lives: [][]write{{{0, 16}, {16, 16}, {0, 16}}, nil}, meets: afterCrash},
		}),
		build(scenario{
			name:   "twice",
			doc:    "The application crashes twice, in its first life and while it recovers and writes on; one peer is cut off in the first life and comes back for the last recovery with what it had.",
			faults: "crash(app)<=2, partition(app,peer*)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, recovery, another append, recovery and read back; a link is cut in the first life and heals in the last",
			load:   workload{f: 1, size: 16, lives: [][]write{{{0, 8}}, {{8, 8}}, nil}, cutBetween: true, meets: afterCrash},
		}),
		build(scenario{
			name:   "f2",
			doc:    "Five peers of which two may crash at any point, while the application writes or while it recovers.",
			faults: "crash(peer*)<=2",
			bounds: "f=2, five peers that stay down once they crash, one append of 8 bytes by an application that ends after it, recovery and read back",
			load:   workload{f: 2, size: 8, lives: [][]write{{{0, 8}}, nil}, stayDown: true, meets: []condition{sawRejected}},
		}),
		build(scenario{
			name:   "replace",
			doc:    "A peer fails and a fourth one takes its place while the application writes on; it may crash at any point of that.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, four peers, two appends of 8 bytes with a replacement after each if a peer has failed, recovery and read back",
			load: workload{f: 1, size: 16, peers: 4, lives: [][]write{{{0, 8}, {8, 8}}, nil}, script: replacing,
				meets: []condition{sawUnacked, sawBehind, sawRejected, sawReplaced, sawShort}},
		}),
		build(scenario{
			name:   "return",
			doc:    "A peer crashes, comes back empty and is chosen again for the file that it had; the application may crash at any point of that.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers and no other, two appends of 8 bytes with a replacement after each if a peer has failed, recovery and read back",
			load: workload{f: 1, size: 16, lives: [][]write{{{0, 8}, {8, 8}}, nil}, script: replacing,
				meets: []condition{sawUnacked, sawBehind, sawRejected, sawReturned, sawShort}},
		}),
		build(scenario{
			name:   "revoke",
			doc:    "A peer takes its memory back, and another takes its place while the application writes on; it may crash at any point of that.",
			faults: "crash(app)<=1, revoke(peer*)<=1",
			bounds: "f=1, four peers, two appends of 8 bytes with a replacement after each if a peer has failed, recovery and read back",
			load: workload{f: 1, size: 16, peers: 4, lives: [][]write{{{0, 8}, {8, 8}}, nil}, script: replacing,
				meets: []condition{sawUnacked, sawBehind, sawRejected, sawReplaced}},
		}),
		build(scenario{
			name:   "zombie",
			doc:    "The controller ends the session of an instance that lives on and writes, while the next instance recovers the file and writes too.",
			faults: "suspect(app)<=1",
			bounds: "f=1, three peers, two writes of 8 bytes by the first instance and one by the second, recovery and read back",
			load: workload{f: 1, size: 16, lives: [][]write{{{0, 8}, {8, 8}}, {{8, 8}}, nil}, script: claiming,
				meets: []condition{sawUnacked, sawBehind, sawLate, sawFenced}},
		}),
		build(scenario{
			name:   "collect",
			doc:    "Peers look for leaked regions at any moment, while the application creates the file and writes; it may crash at any point, and then nothing is leaked.",
			faults: "crash(app)<=1, timeout(peer*)<=1",
			bounds: "f=1, three peers, one collection at any moment and one at the end, one append of 8 bytes, recovery and read back",
			load: workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, nil}, script: creating, collects: true,
				meets: []condition{sawUnacked, sawBehind}},
		}),
		build(scenario{
			name:   "release",
			doc:    "The application deletes the file; it may crash at any point, and a peer may be out of reach. The file is there or it is not, and nothing is leaked.",
			faults: "crash(app)<=1, partition(app,peer*)<=1",
			bounds: "f=1, three peers, one append of 8 bytes, release, recovery if the file is there, a collection at the end; a link is cut in the first life and heals in the last",
			load:   workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, nil}, script: releasing, collects: true, cutBetween: true},
		}),
		build(scenario{
			name:   "files",
			doc:    "Two applications have a file of the same name on the same peers, which may crash while they write.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, two files on one machine, one append of 8 bytes to each, recovery and read back",
			load:   workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, nil}, script: several, second: true, meets: afterCrash},
		}),
	}
}
