package nclcheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
)

// fourPeers are the peers of a file and a spare. The peers of the file are alike, so it
// suffices that faults affect one of them.
var fourPeers = []string{"peer1", "steady1", "steady2", "peer2"}

// fivePeers and sevenPeers have two spares.
var (
	fivePeers  = []string{"peer1", "peer2", "steady1", "steady2", "steady3"}
	sevenPeers = []string{"peer1", "peer2", "peer3", "peer4", "peer5", "peer6", "peer7"}
)

// controlScenarios are about the control plane: the peers of a file, the instance that may write
// it, and unclaimed memory.
func controlScenarios() []*explore.Scenario {
	return slices.Concat(membershipScenarios(), claimScenarios())
}

// membershipScenarios are about the peers of a file.
func membershipScenarios() []*explore.Scenario {
	two := []write{{0, 8}, {8, 8}}
	return []*explore.Scenario{
		build(spec{
			name:   "replace",
			doc:    "A peer crashes and a fourth peer replaces it while the application continues to write. Either the application or the fourth peer may crash at any point of this.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, four peers; one of the first three or the fourth crashes, an append of 8 bytes, replacement if a peer has failed, another append, recovery and read back",
			load: workload{f: 1, size: 16, peers: fourPeers, lives: [][]write{two, nil}, script: replacing,
				meets: []string{sawUnacked, sawBehind, sawRejected, sawReplaced}},
		}),
		build(spec{
			name:   "return",
			doc:    "A peer crashes, restarts empty and is chosen again for the same file, while another one is cut off with its region; the application may crash at any point of this.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers and no other, two appends of 8 bytes between which peer1 crashes and peer2 is cut off, a crash of the application after that, replacement if writing stops, recovery and read back; the link heals in the last life",
			load: workload{f: 1, size: 16, peers: []string{"peer1", "peer2", "steady1"}, lives: [][]write{two, nil}, script: persisting,
				cutBetween: true, lateCrash: true, beyond: true, meets: []string{sawUnacked, sawBehind, sawStopped, sawRevived}},
		}),
		build(spec{
			name:   "revoke",
			doc:    "A peer revokes its memory and another replaces it while the application continues to write; the application may crash at any point of this.",
			faults: "crash(app)<=1, revoke(peer*)<=1",
			bounds: "f=1, four peers; one of the first three or the fourth revokes, an append of 8 bytes, replacement if a peer has failed, another append, recovery and read back",
			load: workload{f: 1, size: 16, peers: fourPeers, lives: [][]write{two, nil}, script: replacing,
				meets: []string{sawUnacked, sawBehind, sawRejected, sawReplaced}},
		}),
		build(spec{
			name:   "beyond",
			doc:    "More than f peers are gone: one has crashed, and another is cut off with its region. Writing stops, and continues once others have replaced them; a recovery finds everything or fails.",
			faults: "crash(app)<=1",
			bounds: "f=1, four peers, two appends of 8 bytes between which peer1 crashes for good and peer2 is cut off, a crash of the application after that, replacement if writing stops, recovery and read back; the link heals in the last life",
			load: workload{f: 1, size: 16, peers: []string{"peer1", "peer2", "steady1", "steady2"}, lives: [][]write{two, nil},
				script: persisting, stayDown: true, cutBetween: true, lateCrash: true, beyond: true, meets: []string{sawUnacked, sawBehind, sawStopped, sawRevived}},
		}),
		build(spec{
			name:   "zombie",
			doc:    "The controller expires the session of an instance that continues to write, while the next instance recovers the file.",
			faults: "none",
			bounds: "f=1, three peers, an instance that is believed dead once it has created the file and appends 8 bytes, the recovery of the next one at any moment of that and read back",
			load: workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, nil}, script: claiming,
				meets: []string{sawUnacked, sawBehind, sawLate, sawFenced}},
		}),
	}
}

// claimScenarios are about the owners of regions.
func claimScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "register",
			doc:    "The application chooses its peers from the controller's list, which does not show that one peer has no memory left; the application may crash at any point, and nothing is leaked.",
			faults: "crash(app)<=1",
			bounds: "f=0, three peers; the first refuses, recovery and a collection at the end",
			load: workload{f: 0, size: 8, peers: fourPeers[:3], lives: [][]write{{}, nil}, script: creating, collects: true, registered: true, refuses: "peer1", intact: true,
				meets: []string{sawUnfinished}},
		}),
		build(spec{
			name:   "collect",
			doc:    "A peer looks for leaked regions at any moment, while the application creates the file and crashes. Every claimed region stays, and every unclaimed one is freed.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers, a collection at any moment and one at the end, recovery and read back",
			load: workload{f: 1, size: 8, lives: [][]write{{}, nil}, script: creating, collects: true, collectAt: "peer1", intact: true,
				meets: []string{sawUnfinished}},
		}),
		build(spec{
			name:   "keep",
			doc:    "After a replacement all peers look for leaked regions: the regions of the peers that stayed are older than the ap-map entry, and are kept.",
			faults: "none",
			bounds: "f=1, four peers; the first revokes its memory before an append of 8 bytes, replacement if that is noticed, a collection at every peer, recovery and read back",
			load: workload{f: 1, size: 8, peers: fourPeers, lives: [][]write{{{0, 8}}, nil}, script: keeping, collects: true, intact: true,
				loses: "peer1",
				meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "release",
			doc:    "The application deletes the file. It may crash at any point, and a peer may be unreachable: the file exists completely or not at all, and nothing is leaked.",
			faults: "crash(app)<=1, partition(app,peer*)<=1",
			bounds: "f=1, three peers, release, recovery if the file is there, a collection at the end; a link is cut in the first life and heals in the last",
			load: workload{f: 1, size: 8, lives: [][]write{{}, nil}, script: releasing, collects: true, cutBetween: true,
				meets: []string{sawUnfinished, sawReleasing}},
		}),
		build(spec{
			name:   "files",
			doc:    "Two applications have files with the same name on the same peers, and their machine crashes while they write.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers, two files on one machine, one append of 8 bytes to each, recovery and read back",
			load: workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, nil}, script: several, second: true,
				meets: []string{sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "again",
			doc:    "The application deletes the file and creates another one with the same name. It may crash at any point: a recovery returns one of the two files, never a mixture, and nothing is leaked.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, release; release again if the file is still there, a file of the same name; recovery if it is there and a collection at the end",
			load: workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, {}, nil}, script: recreating, collects: true, intact: true,
				meets: []string{sawUnfinished, sawReleasing, sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "duel",
			doc:    "Two instances recover the file at once: the session of the first has expired, but it continues.",
			faults: "none",
			bounds: "f=0, one peer, an append of 8 bytes, an instance that is believed dead once it runs and recovers, the recovery of the next one at any moment of that, and again if it has lost the file",
			load: workload{f: 0, size: 8, lives: [][]write{{{0, 8}}, nil, nil}, script: duelling,
				meets: []string{sawFenced, sawDuel}},
		}),
	}
}
