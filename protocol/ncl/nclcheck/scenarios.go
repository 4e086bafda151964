package nclcheck

import (
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// write is one write of a workload: size bytes at off. Each has its own content.
type write struct{ off, size int }

// workload is the application's work, one list of writes for each of its lives: the
// first creates the file, the others recover it first. The last life only reads back.
type workload struct {
	f     int // failures to tolerate; there are 2f+1 peers
	size  int // of the file
	lives [][]write
	// peers are the candidates, if there are more than 2f+1.
	peers []string
	// script runs in each life; nil: open the file and write.
	script func(*run)
	// meets are the conditions that a search is expected to meet.
	meets []string
	// stayDown: a crashed peer does not restart.
	stayDown bool
	// cutBetween: links are cut in the first life and heal in the last.
	cutBetween bool
	// exposed: faults happen, and links heal, only while the script permits it.
	exposed bool
	// queue and patience are the application's QueueDepth and CompletionTimeout.
	queue    int
	patience time.Duration
	// beyond: more than f peers may fail, and then only the correctness of returned
	// data is required.
	beyond bool
	// lateCrash: the application can crash only after its first write.
	lateCrash bool
	// collects: peers can look for leaked regions.
	collects bool
	// collectAt, if set, is a peer that looks for them at any moment.
	collectAt string
	// intact: no peer fails, so none may lose its region.
	intact bool
	// loses, with intact, is the only peer that may fail.
	loses string
	// registered: the controller names the peers.
	registered bool
	// tight: a peer lends exactly the memory of one file.
	tight bool
	// hangs is the peer that accepts requests and never answers.
	hangs string
	// refuses is a peer that has no memory left, although it is still a candidate.
	refuses string
	// every is the interval at which peers look for leaked regions; 0: never.
	every time.Duration
	// mishears is the peer that loses a call to the controller, or its answer.
	mishears string
	// scarce is the peer whose host fails one allocation.
	scarce string
	// garbles is the peer that sends one malformed answer.
	garbles string
	// wornOut: the file has only two sequence numbers left: see wornPeer.
	wornOut bool
	// leaves are the peers that revoke their memory before each write.
	leaves [][]string
	// spare: there is always a spare peer.
	spare bool
	// second: there is a file of another application.
	second bool
}

// names returns the names of the peers.
func (l *workload) names() []string {
	if len(l.peers) > 0 {
		return l.peers
	}
	out := make([]string, 2*l.f+1)
	for i := range out {
		out[i] = fmt.Sprint("peer", i+1)
	}
	return out
}

// Scenarios returns the built-in scenarios of NCL.
func Scenarios() []*explore.Scenario {
	return slices.Concat(dataScenarios(), controlScenarios(), memoryScenarios(), repairScenarios(), outageScenarios(), waitScenarios(), lossScenarios(), nonsenseScenarios(), rivalScenarios(), candidateScenarios(), handleScenarios(), requestScenarios(), paceScenarios(), cardScenarios())
}

// MatrixScenarios are the scenarios in which the card matters: the data path, recovery, and the
// fence against an earlier instance, with several peers and with one. The other scenarios
// depend on the order of the same requests, and on control-plane messages.
func MatrixScenarios() []*explore.Scenario {
	return append(dataScenarios(), explore.Named(controlScenarios(), "ncl/zombie"), explore.Named(repairScenarios(), "ncl/ghost"))
}

// dataScenarios are about the data path and recovery.
func dataScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "three-writes",
			doc:    "One writer appends three times; it and one peer may crash at any point, and then the file is recovered from any majority.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, three appends of 16 bytes, recovery and read back",
			load:   workload{f: 1, size: 48, lives: [][]write{{{0, 16}, {16, 16}, {32, 16}}, nil}, meets: afterCrash},
		}),
		build(spec{
			name:   "overwrite",
			doc:    "The log is a circular buffer: the third write overwrites the first, while a slow peer may still hold the first.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, three writes of 16 bytes in a file of 32, recovery and read back",
			load:   workload{f: 1, size: 32, lives: [][]write{{{0, 16}, {16, 16}, {0, 16}}, nil}, meets: afterCrash},
		}),
		build(spec{
			name:   "twice",
			doc:    "The application crashes twice: in its first life, and while it recovers and continues to write. One peer is cut off in the first life and returns for the last recovery with its old region.",
			faults: "crash(app)<=2, partition(app,peer*)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, recovery, another append, recovery and read back; a link is cut in the first life and heals in the last",
			load:   workload{f: 1, size: 16, lives: [][]write{{{0, 8}}, {{8, 8}}, nil}, cutBetween: true, meets: afterCrash},
		}),
		build(spec{
			name:   "f2",
			doc:    "Two of five peers may crash at any point, while the application writes or recovers.",
			faults: "crash(peer*)<=2",
			bounds: "f=2, five peers that stay down once they crash, one append of 8 bytes by an application that then terminates, recovery and read back",
			load:   workload{f: 2, size: 8, lives: [][]write{{{0, 8}}, nil}, stayDown: true, meets: []string{sawRejected}},
		}),
	}
}
