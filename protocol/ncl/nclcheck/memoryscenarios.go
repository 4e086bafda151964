package nclcheck

import "github.com/verbatim-rdma/verbatim/explore"

// memoryScenarios are the scenarios in which a peer could keep memory that is no longer needed.
func memoryScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "left-behind",
			doc:    "A peer is cut off while a recovery copies the file to it, and the recovery finishes on the others. Its link heals, and when it looks for leaked regions it keeps exactly one for the file.",
			faults: "partition(app,peer*)<=1",
			bounds: "f=1, three peers, a recovery during which a link is cut, a collection at every peer once it has healed",
			load: workload{f: 1, size: 8, lives: [][]write{{}, nil}, script: leaving, collects: true, intact: true, exposed: true,
				meets: []string{sawLeftBehind}},
		}),
		build(spec{
			name:   "strand",
			doc:    "A recovery crashes, and the next one fails because f+1 peers are unreachable. One of these peers looks for leaked regions, and frees the region that the first recovery was to fill.",
			faults: "crash(app)<=1",
			bounds: "f=1, three peers, a recovery that crashes or not, a recovery with the links to peer1 and peer2 cut, a collection at peer1 once they have healed",
			load:   workload{f: 1, size: 8, lives: [][]write{{}, {}, nil}, script: stranding, collects: true, exposed: true, beyond: true},
		}),
		build(spec{
			name:   "rejoin",
			doc:    "A peer that was unreachable is asked to join the file again, and may become unreachable at any moment of this. When it looks for leaked regions it keeps exactly one for the file.",
			faults: "partition(app,peer1)<=1",
			bounds: "f=1, three peers and no other, an append of 8 bytes while the link to peer1 is cut, replacement of peer1 by itself if that is noticed, a collection at every peer once all links have healed",
			load: workload{f: 1, size: 8, peers: []string{"peer1", "steady1", "steady2"}, lives: [][]write{{{0, 8}}}, script: rejoining,
				collects: true, intact: true, loses: "peer1", exposed: true, meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "join",
			doc:    "A peer revokes its memory and another replaces it; the application may crash at any point of this, and nothing is leaked.",
			faults: "crash(app)<=1",
			bounds: "f=1, four peers; the first revokes its memory before an append of 8 bytes, replacement if that is noticed, recovery and a collection at the end",
			load: workload{f: 1, size: 8, peers: fourPeers, lives: [][]write{{{0, 8}}, nil}, script: joining, collects: true, intact: true,
				loses: "peer1", spare: true, meets: []string{sawReplaced, sawUnacked, sawBehind}},
		}),
		build(spec{
			name:   "hang",
			doc:    "A peer does not answer when the file is created, so more of the others are asked than needed. The application may crash at any point, and nothing is leaked.",
			faults: "crash(app)<=1",
			bounds: "f=1, six peers; the first takes requests and answers none, recovery if the file is there and a collection at the end",
			load: workload{f: 1, size: 8, peers: []string{"peer1", "steady1", "steady2", "steady3", "steady4", "steady5"}, lives: [][]write{{}, nil},
				script: creating, collects: true, hangs: "peer1", intact: true, meets: []string{sawUnfinished}},
		}),
		build(spec{
			name:   "remake",
			doc:    "The application deletes the file while a peer is unreachable, and creates it again while that peer looks for leaked regions: the peer frees or replaces the old region, and keeps the new one.",
			faults: "partition(app,peer1)<=1",
			bounds: "f=0, one peer, an append of 8 bytes, release while the link may be cut, a file of the same name once it has healed, recovery and a collection; one more collection at any moment",
			load:   workload{f: 0, size: 8, lives: [][]write{{{0, 8}}, {}, nil}, script: recreating, collects: true, collectAt: "peer1", intact: true, exposed: true},
		}),
		build(spec{
			name:   "measure",
			doc:    "Memory is freed as soon as it is no longer needed: after a replacement, a recovery and a release, without a collection.",
			faults: "none",
			bounds: "f=1, four peers; the first revokes its memory before an append of 8 bytes, replacement if that is noticed, recovery, release; a check of the lent memory after each",
			load:   workload{f: 1, size: 8, peers: fourPeers, lives: [][]write{{{0, 8}}, nil}, script: measuring, loses: "peer1", spare: true, meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "tight",
			doc:    "A peer lends exactly the memory of one file: the file fits, and so do a copy of it and a recovery. A second file is rejected.",
			faults: "none",
			bounds: "f=0, one peer that registers; a file of 8 bytes, an append and release; the file again, another file, a replacement of the peer by itself and a recovery",
			load:   workload{f: 0, size: 8, lives: [][]write{{{0, 8}}}, script: fitting, registered: true, intact: true, tight: true, exposed: true},
		}),
	}
}
