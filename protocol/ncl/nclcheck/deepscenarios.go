package nclcheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
)

// DeepScenarios are some of [Scenarios] with more faults. Exhausting them takes hours,
// and much memory.
func DeepScenarios() []*explore.Scenario {
	return slices.Concat(deepOnce(), deepRepairs())
}

// deepOnce are deep scenarios in which each peer fails at most once.
func deepOnce() []*explore.Scenario {
	three := []write{{0, 16}, {16, 16}, {32, 16}}
	two := []write{{0, 8}, {8, 8}}
	return []*explore.Scenario{
		build(spec{
			name:   "three-writes-deep",
			doc:    "Like three-writes, but a link is cut too; the recovery itself may crash, and is repeated.",
			faults: "crash(app)<=2, crash(peer*)<=1, partition(app,peer*)<=1",
			bounds: "f=1, three peers, three appends of 16 bytes, two recoveries and read back; links heal at any time",
			load:   workload{f: 1, size: 48, lives: [][]write{three, {}, nil}, beyond: true, meets: afterCrash},
		}),
		build(spec{
			name:   "twice-deep",
			doc:    "Like twice, but a peer may crash at any point, and the link is cut and heals at any time.",
			faults: "crash(app)<=2, crash(peer*)<=1, partition(app,peer*)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, recovery, another append, recovery and read back",
			load:   workload{f: 1, size: 16, lives: [][]write{{{0, 8}}, {{8, 8}}, nil}, beyond: true, meets: afterCrash},
		}),
		build(spec{
			name:   "f2-deep",
			doc:    "Like f2, but the application may crash at any point, and crashed peers restart with empty memory.",
			faults: "crash(app)<=1, crash(peer*)<=2",
			bounds: "f=2, five peers, one append of 8 bytes, recovery and read back",
			load:   workload{f: 2, size: 8, lives: [][]write{{{0, 8}}, nil}, meets: []string{sawRejected}},
		}),
		build(spec{
			name:   "replace-deep",
			doc:    "Like replace, but a second peer is cut off for a while.",
			faults: "crash(app)<=1, crash(peer*)<=1, partition(app,peer*)<=1",
			bounds: "f=1, four peers; one of the first three or the fourth crashes and one is cut off, an append of 8 bytes, replacement if a peer has failed, another append, recovery and read back; a link is cut in the first life and heals in the last",
			load: workload{f: 1, size: 16, peers: fourPeers, lives: [][]write{two, nil}, script: replacing, cutBetween: true, beyond: true,
				meets: []string{sawUnacked, sawBehind, sawRejected, sawReplaced}},
		}),
		build(spec{
			name:   "return-deep",
			doc:    "Like return, but the application may crash at any point.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers and no other, two appends of 8 bytes between which peer1 crashes and peer2 is cut off, replacement if writing stops, recovery and read back; the link heals in the last life",
			load: workload{f: 1, size: 16, peers: []string{"peer1", "peer2", "steady1"}, lives: [][]write{two, nil}, script: persisting,
				cutBetween: true, beyond: true, meets: []string{sawUnacked, sawBehind, sawStopped, sawRevived}},
		}),
		build(spec{
			name:   "zombie-deep",
			doc:    "Like zombie, with two appends, and a peer may crash at any point.",
			faults: "crash(peer*)<=1",
			bounds: "f=1, three peers, an instance that is believed dead once it has created the file and appends 8 bytes twice, the recovery of the next one at any moment of that and read back",
			load: workload{f: 1, size: 16, lives: [][]write{two, nil}, script: claiming,
				meets: []string{sawUnacked, sawBehind, sawLate, sawFenced}},
		}),
	}
}

// deepRepairs are deep scenarios in which peers fail one after another.
func deepRepairs() []*explore.Scenario {
	appends := []write{{0, 8}, {8, 8}, {16, 8}}
	return []*explore.Scenario{
		build(spec{
			name:   "wear-deep",
			doc:    "Like wear, but the application may crash at any point.",
			faults: "crash(app)<=1",
			bounds: "f=1, four peers, three appends of 8 bytes; before the second and before the third append one of the file's peers crashes, if all are present, and restarts empty; replacement if that is noticed, recovery and read back",
			load: workload{f: 1, size: 24, peers: fourPeers, lives: [][]write{appends, nil}, script: wearing,
				meets: []string{sawUnacked, sawBehind, sawRejected, sawReplaced}},
		}),
		build(spec{
			name:   "relay-deep",
			doc:    "Like relay, but the application may crash during the first recovery, and a link is cut and heals at any time.",
			faults: "crash(app)<=1, crash(peer*)<=1, partition(app,peer*)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, recovery, another append, recovery and read back",
			load:   workload{f: 1, size: 16, lives: [][]write{{{0, 8}}, {{8, 8}}, nil}, beyond: true, meets: []string{sawRejected}},
		}),
		build(spec{
			name:   "pair-deep",
			doc:    "Like pair, but the application may crash at any point.",
			faults: "crash(app)<=1",
			bounds: "f=2, seven peers; two revoke their memory before an append of 8 bytes, replacement if that is noticed, recovery and read back",
			load: workload{f: 2, size: 8, peers: sevenPeers, lives: [][]write{{{0, 8}}, nil}, script: pairing, spare: true,
				meets: []string{sawReplaced, sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "refuse-deep",
			doc:    "Like refuse, but the controller names the peers, which register meanwhile.",
			faults: "crash(app)<=1",
			bounds: "f=1, five peers; the first refuses and the second revokes its memory before an append of 8 bytes, replacement if that is noticed, recovery and a collection at the end",
			load: workload{f: 1, size: 8, peers: fivePeers, lives: [][]write{{{0, 8}}, nil}, script: joining, collects: true, registered: true,
				refuses: "peer1", loses: "peer2", intact: true, spare: true, meets: []string{sawUnfinished, sawReplaced, sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "remake-deep",
			doc:    "Like remake, with three peers, and the application may crash.",
			faults: "crash(app)<=1, partition(app,peer1)<=1",
			bounds: "f=1, three peers, an append of 8 bytes, release while the link may be cut, a file of the same name once it has healed, recovery and a collection; one more collection at any moment",
			load: workload{f: 1, size: 8, lives: [][]write{{{0, 8}}, {}, nil}, script: recreating, collects: true, collectAt: "peer1", intact: true,
				exposed: true, meets: []string{sawReleasing}},
		}),
	}
}
