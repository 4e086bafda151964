package raftrcheck

import (
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/raftr"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Scenarios are the scenarios of `verbatim check raftr`.
func Scenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range specs {
		out = append(out, build(s))
	}
	return out
}

// DeepScenarios are the scenarios of `verbatim check raftr --deep`.
func DeepScenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range deep {
		out = append(out, build(s))
	}
	return out
}

// first is a node that leads at once, with the vote of the second node only, and then does the work of the
// scenario.
func first(do func(r *run)) func(r *run) {
	return func(r *run) {
		if r.cut("n3") && r.connect() && r.must() {
			do(r)
		}
	}
}

// next is a node that waits until nothing else happens, and then replaces the leader.
func next(do func(r *run)) func(r *run) { return after(1, do) }

// after is next for a node that waits several times as long.
func after(times time.Duration, do func(r *run)) func(r *run) {
	return func(r *run) {
		r.h.Sleep(times * election)
		if r.vacancy() && r.connect() && r.must() {
			do(r)
		}
	}
}

// try is next for a node that others may refuse.
func try(do func(r *run)) func(r *run) {
	return func(r *run) {
		r.h.Sleep(election)
		if r.vacancy() && r.connect() && r.elected() {
			do(r)
		}
	}
}

// begin lets another host begin.
func (r *run) begin(other string) bool {
	_, err := r.h.Call(other, "begin", nil, verbs.Forever)
	r.h.Logf("%v", err) // it may have finished before its answer arrives
	return true
}

// waiting is a host that begins when another host lets it begin. A node has its connections by then.
func waiting(do func(r *run)) func(r *run) {
	return func(r *run) {
		l, err := r.h.Listen("begin")
		if !r.Check(err) {
			return
		}
		req, err := l.Accept(verbs.Forever)
		if !r.Check(err) {
			return
		}
		if r.node != nil {
			r.node.Connect()
		}
		req.Reply(nil)
		do(r)
	}
}

// release lets the second node begin. By then it has its connections, but none to this node.
func (r *run) release() bool {
	if !r.begin("n2") {
		return false
	}
	ok := r.accept("raftr", func(q host.Request) { q.Reject("this node is out of reach") })
	ready := r.accept("ready", func(q host.Request) { q.Reply(nil) })
	return ok && ready
}

// replacing is the second node. It begins when the first node releases it.
func replacing(do func(r *run)) func(r *run) {
	return func(r *run) {
		if !r.accept("begin", func(q host.Request) { q.Reply(nil) }) {
			return
		}
		r.node.Connect()
		_, err := r.h.Call("n1", "ready", nil, verbs.Forever)
		if err == nil { // otherwise the first node has finished
			do(r)
		}
	}
}

// accept waits for a request and answers it.
func (r *run) accept(service string, answer func(q host.Request)) bool {
	l, err := r.h.Listen(service)
	if !r.Check(err) {
		return false
	}
	q, err := l.Accept(verbs.Forever)
	if r.Check(err) {
		answer(q)
	}
	return r.Check(l.Close()) && err == nil
}

// read reads the key.
func read(r *run) { r.get(key) }

const key = "k"

// In most scenarios the first node reaches only the second node, and does not answer others itself. So
// each leader has one follower that matters, and the search is small. For the promises that need a
// majority nothing is lost: a majority is two nodes of three, and any two majorities share a node.
var specs = []spec{
	{
		name: "log", doc: "R1, R2, R6: two writes; the leader may crash at any point; another node takes over and reads",
		faults: "crash(n1)<=1", bounds: "3 nodes, the first without one link, 2 writes, takeover, read",
		meets: []string{sawUnacked, sawBehind, sawTakeover},
		load:  workload{nodes: []func(*run){first(func(r *run) { _ = r.put(key, "a") && r.put(key, "b") }), next(read), nil}},
	},
	{
		name: "shorter", doc: "R1, R2: a write; the leader may crash; a node that does not have the write stands for election first, and then one that may have it",
		faults: "crash(n1)<=1", bounds: "3 nodes, the first without one link, 1 write, 2 elections, read",
		meets: []string{sawSplit, sawUnacked, sawBehind, sawTakeover},
		load:  workload{nodes: []func(*run){first(func(r *run) { r.put(key, "a") }), after(10, read), try(read)}},
	},
	{
		name: "election", doc: "R1, R3: two nodes stand for election at once, and need the same third",
		faults: "none", bounds: "3 nodes, one link cut, an election each",
		meets: []string{sawSplit},
		load: workload{nodes: []func(*run){func(r *run) {
			if r.connect() && r.begin("n3") && r.cut("n3") {
				r.campaign()
			}
		}, nil, waiting(func(r *run) { r.campaign() })}},
	},
	{
		name: "replaced", doc: "R1, R2, R3: a node replaces a leader that is alive, which continues to write",
		faults: "none", bounds: "3 nodes, one link cut, a write, a takeover and a read",
		meets: []string{sawTakeover, sawUnknown, sawUnacked, sawBehind},
		load: workload{nodes: []func(*run){
			first(func(r *run) { _ = r.release() && r.put(key, "a") }),
			replacing(func(r *run) { _ = r.must() && r.get(key) }), nil}},
	},
	{
		name: "confirmed", doc: "R1, R3: a node replaces a leader that is alive, which continues to read; every read is confirmed by a heartbeat, and no clock matters",
		faults: "none", bounds: "3 nodes, one link cut, a read, a takeover and a write",
		meets: []string{sawTakeover, sawDeposed, sawServed},
		load: workload{nodes: []func(*run){
			first(func(r *run) { _ = r.release() && r.get(key) }),
			replacing(func(r *run) { _ = r.must() && r.put(key, "b") }), nil}},
	},
	{
		name: "lease", doc: "R3: another node, which has received nothing from the leader for an election timeout, replaces it and writes; then a read at the leader must find that its lease has expired",
		faults: "none", timers: "skew(1.1)", strategy: explore.Random, runs: 10000, bounds: "3 nodes, one link cut, a heartbeat; a takeover after one timeout, and a write; a read; random runs",
		meets: []string{sawTakeover, sawStuck},
		load: workload{lease: leaseTime, nodes: []func(*run){leased(func(r *run) {
			if r.accept("go", func(q host.Request) { q.Reply(nil) }) {
				r.get(key)
				_, err := r.h.Call("n2", "read", nil, verbs.Forever)
				r.h.Logf("%v", err) // it may have finished before its answer arrives
			}
		}), replacing(func(r *run) {
			r.takeAfterTimeout()
			if _, err := r.h.Call("n1", "go", nil, verbs.Forever); r.Check(err) {
				r.accept("read", func(q host.Request) { q.Reply(nil) })
			}
		}), nil}},
	},
	{
		name: "outsider", doc: "R2, R4: a node that has voted and acknowledged a write crashes and starts again without its memory; it takes no part, so a node without the write cannot be elected with its vote",
		faults: "crash(n2)<=1", bounds: "3 nodes, the first without one link, 1 write, 1 election",
		meets: []string{sawOutsider, sawSplit},
		load:  workload{returns: true, beyond: true, nodes: []func(*run){first(func(r *run) { r.put(key, "a") }), idle, next(read)}},
	},
	{
		name: "restart", doc: "R2, R4: the group has persistent memory; a node loses power at any point of a write or after it, starts again with its log, and takes over",
		faults: "power(n2)<=1", bounds: "3 nodes, the first without one link, 1 write, takeover, read",
		meets: []string{sawUnacked, sawBehind, sawAgain, sawTakeover},
		load: workload{persistent: true, returns: true, beyond: true, gate: once(func(k *known) bool { return k.Wrote }),
			nodes: []func(*run){first(func(r *run) { r.put(key, "a") }), next(read), nil}},
	},
	{
		name: "vote", doc: "R1, R4: the group has persistent memory; two nodes stand for election for the same term, and the third one, which both need, may lose power at any point",
		faults: "power(n2)<=1", bounds: "3 nodes, one link cut, an election each, one after the other",
		meets: []string{sawSplit},
		load: workload{persistent: true, returns: true, beyond: true, gate: once(func(k *known) bool { return len(k.Began) > 0 }), nodes: []func(*run){func(r *run) {
			_ = r.cut("n3") && r.connect() && r.campaign() == raftr.Won
		}, idle, func(r *run) {
			if r.h.Sleep(election); r.connect() {
				r.campaign()
			}
		}}},
	},
	{
		name: "client", doc: "R2, R5: a client writes; the leader may crash, and the next one reads and overwrites the value before the client repeats its write, which must not be carried out twice",
		faults: "crash(n1)<=1", bounds: "3 nodes, the first without one link, a client with 1 write, takeover, read, write, read",
		meets: []string{sawUnacked, sawBehind, sawTakeover},
		load: workload{nodes: []func(*run){first(func(r *run) {
			r.serveClients()
			r.finish()
		}), next(func(r *run) {
			if r.get(key) && r.put(key, "b") {
				r.serveClients()
				r.finish()
				r.get(key)
			}
		}), nil}, client: func(r *run) { r.repeat(key, "a") }},
	},
}

var deep = []spec{
	{
		name: "lease-race", doc: "R3: as lease, and the read comes at any moment: a leader answers a read under its lease while another node, which has received nothing from it for an election timeout, replaces it and writes",
		faults: "none", timers: "skew(1.1)", strategy: explore.PCT, runs: 20000, bounds: "3 nodes, one link cut, a heartbeat and a read; a takeover after one timeout, and a write; random runs",
		meets: []string{sawTakeover, sawDeposed, sawServed},
		load:  workload{lease: leaseTime, nodes: []func(*run){leased(func(r *run) { r.get(key) }), replacing((*run).takeAfterTimeout), nil}},
	},
	{
		name: "three", doc: "R1, R2, R6: as log, with all links and all nodes: any of them may crash. Too large to exhaust: random runs",
		faults: "crash(n*)<=1", strategy: explore.PCT, runs: 20000, bounds: "3 nodes, 2 writes, takeover, read; random runs",
		meets: []string{sawUnacked, sawBehind, sawTakeover, sawFewer},
		load: workload{open: true, nodes: []func(*run){func(r *run) {
			_ = r.connect() && r.must() && r.put(key, "a") && r.put(key, "b")
		}, try(read), nil}}, // its log may be shorter than the log of the only other node that is left
	},
}

// The lease is shorter than an election timeout, even if the clock of a follower is 1.1 times as fast.
const leaseTime = election * 10 / 11

// leased is a first node that has a lease when the second one begins.
func leased(do func(r *run)) func(r *run) {
	return first(func(r *run) {
		if err := r.node.Beat(); err != nil {
			r.tolerates(err)
		} else if r.release() {
			do(r)
		}
	})
}

// takeAfterTimeout replaces the leader if the clock of the node permits it, and writes. There is no timer: a
// reading of the clock returns the earliest or the latest time.
func (r *run) takeAfterTimeout() {
	if r.campaign() == raftr.Won && r.lead() {
		r.put(key, "b")
	}
}

// once permits a power failure only after begun returns true.
func once(begun func(k *known) bool) func(w *world) scenario.Gate {
	return func(w *world) scenario.Gate {
		return scenario.Strikes(faults.Power, func() bool { return begun(w.known) })
	}
}

// idle is a node that only answers others, in every life.
func idle(r *run) {}
