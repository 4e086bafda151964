package nclcheck

import (
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// outageScenarios are the scenarios in which the controller is unreachable, or expires a
// session.
func outageScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "outage",
			doc:    "The application cannot reach the controller for a while, at any moment; failed operations are repeated, and nothing is leaked.",
			faults: "partition(app,coord)<=1",
			bounds: "f=1, four peers, creation, two appends of 8 bytes before which the first peer revokes its memory and between which it is replaced, release; each again if it fails, and a collection at the end",
			load: workload{f: 1, size: 8, peers: fourPeers, lives: [][]write{{{0, 8}}}, script: insisting, collects: true, exposed: true,
				intact: true, loses: "peer1", meets: []string{sawUnheard}},
		}),
		build(spec{
			name:   "lookup",
			doc:    "The controller is unreachable while the application asks it for peers; the application asks again later.",
			faults: "partition(app,coord)<=1",
			bounds: "f=0, two peers that register; the first refuses; creation, and once more if that fails",
			load: workload{f: 0, size: 8, peers: fourPeers[:2], lives: [][]write{{}}, script: insisting, registered: true, refuses: "peer1", exposed: true,
				meets: []string{sawUnheard}},
		}),
		build(spec{
			name:   "deaf",
			doc:    "A peer cannot reach the controller for a while, and looks for leaked regions meanwhile. The application may crash.",
			faults: "crash(app)<=1, partition(peer1,coord)<=1",
			bounds: "f=1, three peers, a collection at any moment and one at the end, when the controller is back; recovery and read back",
			load: workload{f: 1, size: 8, lives: [][]write{{}, nil}, script: deaf, collects: true, collectAt: "peer1", intact: true, exposed: true,
				meets: []string{sawUnfinished}},
		}),
		build(spec{
			name:   "session",
			doc:    "The controller expires the session of a running instance. No instance is confirmed once a later one has started, and none loses its session otherwise.",
			faults: "none",
			bounds: "two instances, the second at any moment once the first has begun; each asks twice whether it is the only instance, and terminates",
			load:   workload{f: 0, size: 8, lives: [][]write{{}, nil}, script: exclusive, meets: []string{sawOusted}},
		}),
		build(spec{
			name:   "restart",
			doc:    "An instance starts, checks that it is the only one, and finishes; one call to the controller, or its answer, is lost. A failed operation succeeds when repeated, and another instance can then start.",
			faults: "none",
			bounds: "one instance after the other",
			load:   workload{f: 0, size: 8, lives: [][]write{{}}, script: restarting, meets: []string{sawUnheard}},
		}),
	}
}

// waitScenarios are the scenarios in which waiting for a peer matters.
func waitScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "full-queue",
			doc:    "A send queue holds a single write: the next write waits for the slowest peer, or until that peer has failed.",
			faults: "crash(app)<=1, crash(peer*)<=1",
			bounds: "f=1, three peers, send queues of two requests, two appends of 8 bytes, recovery and read back",
			load:   workload{f: 1, size: 16, queue: 2, lives: [][]write{{{0, 8}, {8, 8}}, nil}, meets: afterCrash},
		}),
		build(spec{
			name:   "patience",
			doc:    "Waits for completions have timeouts, and one expires although nothing is wrong: the peer counts as failed, or the write fails.",
			faults: "crash(app)<=1, timeout(app)<=1",
			bounds: "f=1, three peers, send queues of two requests, two appends of 8 bytes, recovery and read back",
			load: workload{f: 1, size: 16, queue: 2, patience: time.Millisecond, lives: [][]write{{{0, 8}, {8, 8}}, nil}, beyond: true,
				meets: []string{sawUnacked, sawBehind, sawRejected}},
		}),
		build(spec{
			name:   "late",
			doc:    "A recovery does not wait for a late answer, and finishes without that peer or is repeated. When all peers look for leaked regions, each keeps exactly one.",
			faults: "timeout(app)<=1",
			bounds: "f=1, three peers, a recovery in which a timer fires although nothing is wrong, another one if that fails, and a collection at every peer",
			load: workload{f: 1, size: 8, lives: [][]write{{}, nil}, script: outlasting, collects: true, intact: true, exposed: true, beyond: true,
				patience: time.Second, meets: []string{sawLeftBehind, sawAnew}},
		}),
	}
}
