package nclcheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
)

// repairScenarios are the scenarios in which peers fail one after another.
func repairScenarios() []*explore.Scenario {
	return slices.Concat(plainRepairs(), hinderedRepairs())
}

// plainRepairs are the scenarios in which only peers fail.
func plainRepairs() []*explore.Scenario {
	three := []write{{0, 8}, {8, 8}, {16, 8}}
	return []*explore.Scenario{
		build(spec{
			name:   "wear",
			doc:    "Any peer crashes and is replaced, and then any other peer.",
			faults: "none",
			bounds: "f=1, four peers, three appends of 8 bytes; before the second and before the third append one of the file's peers crashes, if all are present, and restarts empty; replacement if that is noticed, recovery and read back",
			load: workload{f: 1, size: 24, peers: fourPeers, lives: [][]write{three, nil}, script: wearing,
				meets: []string{sawRejected, sawReplaced}},
		}),
		build(spec{
			name:   "relay",
			doc:    "A peer crashes at any point of a recovery, which another recovery follows.",
			faults: "crash(peer*)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, recovery, another append, recovery and read back",
			load:   workload{f: 1, size: 16, lives: [][]write{{{0, 8}}, {{8, 8}}, nil}, meets: []string{sawRejected}},
		}),
		build(spec{
			name:   "maintain",
			doc:    "The library replaces peers automatically: one that has revoked its memory, and two others at once, so that writing stops until they are replaced.",
			faults: "none",
			bounds: "f=1, six peers, three appends of 8 bytes, the first peer revokes its memory before the second and two others before the third; recovery and read back",
			load: workload{f: 1, size: 24, peers: []string{"peer1", "peer2", "peer3", "peer4", "peer5", "peer6"}, lives: [][]write{three, nil},
				script: maintaining, leaves: [][]string{nil, {"peer1"}, {"peer2", "peer3"}}, spare: true, meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "idle",
			doc:    "The application no longer writes. A peer crashes, and the library replaces it by itself, so another peer may crash. The application may crash at any point.",
			faults: "crash(app)<=1",
			bounds: "f=1, four peers, an append of 8 bytes, after which the first peer crashes and, once there was time to replace it, the second; recovery and read back",
			load: workload{f: 1, size: 8, peers: []string{"peer1", "peer2", "steady1", "steady2"}, lives: [][]write{{{0, 8}}, nil}, script: idling,
				meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "watched",
			doc:    "While the application writes, another task maintains the file, and either of the two may replace a peer that crashes.",
			faults: "crash(peer1)<=1, timeout(app)<=1",
			bounds: "f=1, four peers; the first crashes for good, two appends of 8 bytes during which the watch's timer, or another one, may fire at any moment; recovery and read back",
			load: workload{f: 1, size: 16, peers: []string{"peer1", "steady1", "steady2", "steady3"}, lives: [][]write{{{0, 8}, {8, 8}}, nil}, script: guarding, stayDown: true, exposed: true,
				meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "tended",
			doc:    "While nothing is written, another task checks the file each period. It replaces a peer that has revoked its memory in time, and replaces no peer that has not failed. It stops when the file is closed or released, and leaves nothing behind.",
			faults: "none",
			bounds: "f=1, four peers, send queues of two requests, an append of 8 bytes; after two checks the first peer revokes its memory; after two more the file is closed or released",
			load:   workload{f: 1, size: 8, queue: 2, peers: fourPeers, lives: [][]write{{{0, 8}}}, script: tending},
		}),
		build(spec{
			name:   "starve",
			doc:    "The library finds no replacements for two peers that crash one after the other: writes continue with f+1 peers, and fail with fewer.",
			faults: "none",
			bounds: "f=1, three peers and no other, three appends of 8 bytes; the first peer crashes before the second, and the second before the third, and they stay down",
			load: workload{f: 1, size: 24, peers: []string{"peer1", "peer2", "steady1"}, lives: [][]write{three}, script: starving, stayDown: true, beyond: true,
				meets: []string{sawRejected, sawStopped}},
		}),
		build(spec{
			name:   "overlook",
			doc:    "A write is on a single peer, which the recovery does not reach. The recovered application writes nothing, and the next recovery reaches that peer.",
			faults: "none",
			bounds: "f=1, three peers, two appends of 8 bytes, the second with the links to peer1 and peer2 cut; a recovery with the link to peer3 cut, and one with all links",
			load: workload{f: 1, size: 16, peers: []string{"peer1", "peer2", "peer3"}, lives: [][]write{{{0, 8}, {8, 8}}, {}, nil}, script: overlooking, beyond: true,
				meets: []string{sawBehind}},
		}),
	}
}

// hinderedRepairs are the scenarios with another obstacle to the repair or the recovery.
func hinderedRepairs() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "ghost",
			doc:    "Like zombie, with one peer: the later instance must find everything that the peer acknowledged to the earlier one.",
			faults: "none",
			bounds: "f=0, one peer, an instance that is believed dead once it has created the file and appends 8 bytes, the recovery of the next one at any moment of that and read back",
			load: workload{f: 0, size: 8, lives: [][]write{{{0, 8}}, nil}, script: claiming,
				meets: []string{sawUnacked, sawBehind, sawFenced}},
		}),
		build(spec{
			name:   "pair",
			doc:    "Any two peers revoke their memory, and both are replaced while the application continues to write.",
			faults: "none",
			bounds: "f=2, seven peers; two revoke their memory before an append of 8 bytes, replacement if that is noticed, recovery and read back",
			load: workload{f: 2, size: 8, peers: sevenPeers, lives: [][]write{{{0, 8}}, nil},
				script: pairing, spare: true, meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "cut-short",
			doc:    "The links to two of three peers are cut during a recovery. It fails, or the next recovery, after the links have healed, returns the same.",
			faults: "partition(app,peer1)<=1, partition(app,peer2)<=1",
			bounds: "f=1, three peers, an append of 8 bytes that one peer has and nobody acknowledged; a recovery during which links are cut, and another one",
			load: workload{f: 1, size: 8, peers: []string{"peer1", "peer2", "steady1"}, lives: [][]write{{{0, 8}}, {}, nil}, script: cuttingShort, exposed: true, beyond: true,
				meets: []string{sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "refuse",
			doc:    "A peer refuses, when the file is created and again when a peer must be replaced. The application may crash at any point.",
			faults: "crash(app)<=1",
			bounds: "f=1, five peers; the first refuses and the second revokes its memory before an append of 8 bytes, replacement if that is noticed, recovery and a collection at the end",
			load: workload{f: 1, size: 8, peers: fivePeers, lives: [][]write{{{0, 8}}, nil},
				script: joining, collects: true, refuses: "peer1", loses: "peer2", intact: true, spare: true,
				meets: []string{sawUnfinished, sawReplaced, sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "refuse-two",
			doc:    "Like refuse, with five peers for a file, and without a crash.",
			faults: "none",
			bounds: "f=2, seven peers; the first refuses and the second revokes its memory before an append of 8 bytes, replacement if that is noticed, recovery and a collection at the end",
			load: workload{f: 2, size: 8, peers: sevenPeers, lives: [][]write{{{0, 8}}, nil},
				script: joining, collects: true, refuses: "peer1", loses: "peer2", intact: true, spare: true, meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "cling",
			doc:    "An instance that is presumed dead replaces a peer while the next one recovers the file: the replacement happens before the recovery, or not at all.",
			faults: "none",
			bounds: "f=1, four peers, an instance that is believed dead once it has created the file; the first peer revokes its memory, an append of 8 bytes and replacement if that is noticed, the recovery of the next one at any moment of that and read back",
			load: workload{f: 1, size: 8, peers: fourPeers, lives: [][]write{{{0, 8}}, nil}, script: clinging,
				meets: []string{sawUnacked, sawBehind, sawLate, sawFenced, sawReplaced}},
		}),
	}
}
