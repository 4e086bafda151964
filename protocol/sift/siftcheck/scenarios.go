package siftcheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Scenarios are the scenarios of `verbatim check sift`.
func Scenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range slices.Concat(memories, rejoins, durables, coded, stores) {
		out = append(out, build(s))
	}
	return append(append(out, backups()), services()...)
}

// DeepScenarios are the scenarios of `verbatim check sift --deep`.
func DeepScenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range slices.Concat(deep, deepCoded, deepStores) {
		out = append(out, build(s))
	}
	return out
}

// first is a CPU node that leads at once, and then calls do.
func first(do func(r *run)) func(r *run) {
	return func(r *run) {
		if r.start() && r.alone() {
			do(r)
		}
	}
}

// next is a CPU node that waits until nothing happens any more, or until its timer fires
// early; then it replaces the coordinator.
func next(do func(r *run)) func(r *run) {
	return func(r *run) {
		r.h.Sleep(period)
		if r.start() && r.vacancy() && r.alone() {
			do(r)
		}
	}
}

// release lets the second CPU node begin. It has started and looked at the words when
// release returns.
func (r *run) release() bool {
	if _, err := r.h.Call("cpu2", "begin", nil, verbs.Forever); err != nil {
		r.h.Logf("%v", err) // it may have finished before its answer arrives
	}
	return true
}

// waiting is a CPU node that begins when the first one lets it. If the scenario cuts links,
// it does not reach the memory node that the first one prefers for reads.
func waiting(do func(r *run)) func(r *run) {
	return func(r *run) {
		l, err := r.h.Listen("begin")
		if !r.Check(err) {
			return
		}
		req, err := l.Accept(verbs.Forever)
		if !r.Check(err) || r.load.cut && !r.cut("mem1") || !r.start() {
			return
		}
		req.Reply(nil)
		do(r)
	}
}

// impatient replaces the coordinator although nothing is wrong.
func impatient(do func(r *run)) func(r *run) {
	return waiting(func(r *run) {
		if r.vacant(); r.elected() {
			do(r)
		}
	})
}

// vacant looks at the heartbeats once, and reports whether the coordinator is to be replaced.
func (r *run) vacant() bool {
	vacant, err := r.node.Watch()
	return r.available(err) && vacant
}

// observe checks what an earlier coordinator has left.
func observe(r *run) {
	if _, ok := r.agree(); ok {
		r.readAll()
	}
}

// cut cuts the link between this CPU node and a memory node, for good.
func (r *run) cut(mem string) bool { return r.Check(r.Inject(faults.Cut, r.h.Name(), mem)) }

// quiet waits until nothing else can happen.
func (r *run) quiet() { r.h.Sleep(100 * period) }

var memories = []spec{
	{
		name: "memory", doc: "P1, P3, P4, P6, P12: two writes to two blocks; the coordinator and a memory node may crash at any point, and another CPU node recovers and reads everything",
		faults: "crash(cpu1)<=1, crash(mem*)<=1", bounds: "F=1, 2 CPU nodes, 2 writes of 8 bytes, the first applied at once, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawFewer, sawTakeover},
		load: workload{cpus: []func(*run){first(func(r *run) {
			if r.write(0, "a") && r.c.ApplyOne() {
				r.write(1, "b")
			}
		}), next(observe)}},
	},
	{
		name: "circular", doc: "P3, P4, P6, P9, P12: three writes to three blocks go through a log of two slots; the coordinator may crash",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, log of 2, 3 writes of 8 bytes, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawTakeover},
		load: workload{slots: 2, cpus: []func(*run){first(func(r *run) {
			_ = r.write(0, "a") && r.write(1, "b") && r.write(2, "c")
		}), next(observe)}},
	},
	{
		name: "list", doc: "P3, P4, P6, P12: two blocks are written together, beside a write to one of them and a read of both",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, a list of 2 writes, a write, a read, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawTakeover},
		load: workload{cpus: []func(*run){first(func(r *run) {
			_ = r.write(0, "ab") && r.write(1, "c") && r.read(0, 2) && r.write(0, "de")
		}), next(observe)}},
	},
	{
		name: "torn", doc: "P3, P4, P6: a write that fails may leave any of its words in the log, over an earlier entry; the coordinator may crash",
		faults: "crash(cpu1)<=1", profile: "strong+WholePackets=false", bounds: "F=1, 2 CPU nodes, a write of 8 bytes, and another one over it, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawTakeover},
		load: workload{cpus: []func(*run){first(func(r *run) {
			_ = r.write(0, "a") && r.c.ApplyOne() && r.write(0, "b")
		}), next(observe)}},
	},
	{
		name: "election", doc: "P1, P12: two CPU nodes stand at once, for two rounds each; a memory node may crash",
		faults: "crash(mem*)<=1", bounds: "F=1, 2 CPU nodes, 2 rounds each, back-off of 1 to 4 units",
		meets: []string{sawSplit, sawLost, sawAgain},
		load:  workload{cpus: []func(*run){stand, stand}},
	},
	{
		name: "replaced", doc: "P1, P2, P3, P4: a CPU node replaces a coordinator that is alive, which continues to write",
		faults: "none", bounds: "F=1, 2 CPU nodes, the second without one link, a write each",
		meets: []string{sawTakeover, sawFenced, sawLate, sawUnacked, sawBehind},
		load: workload{cut: true, cpus: []func(*run){first(func(r *run) { _ = r.release() && r.write(0, "a") }), impatient(func(r *run) {
			if r.readAll(); r.write(1, "b") {
				r.stable()
			}
		})}},
	},
	{
		name: "confirmed", doc: "P1, P4, P5: a CPU node replaces a coordinator that is alive, which continues to read; every read is confirmed by a heartbeat, and no clock matters",
		faults: "none", timers: "free", bounds: "F=1, 2 CPU nodes, the second without one link, a read, a takeover and a write",
		meets: []string{sawTakeover, sawDeposed, sawServed},
		load:  workload{cut: true, cpus: []func(*run){first(func(r *run) { _ = r.release() && r.read(0, 1) }), impatient(func(r *run) { r.write(0, "b") })}},
	},
	{
		name: "overtaken", doc: "P1, P2, P3, P6, P12: a CPU node wins an election, and connects to the memory only when another one has won the next election and serves",
		faults: "crash(mem*)<=1", bounds: "F=1, 2 CPU nodes, a write by the second before the first connects, and one after",
		meets: []string{sawRefused},
		load: workload{cpus: []func(*run){func(r *run) {
			if !r.start() || r.campaign() != sift.Won || !r.release() {
				return
			}
			if r.h.Sleep(10 * period); !r.lead() && r.c != nil {
				r.write(0, "a")
			}
		}, impatient(func(r *run) {
			if r.write(0, "b") {
				r.stable()
				r.write(1, "c")
			}
		})}},
	},
	{
		name: "twice", doc: "P3, P4, P6: a coordinator dies with a write under way; the next one does not reach a memory node that may have it, writes, and is replaced by one that does not reach another",
		faults: "crash(cpu1)<=1", bounds: "F=1, 3 CPU nodes, a write each of the first two, each of the last two without one link",
		meets: []string{sawDiffer, sawTakeover},
		load: workload{cut: true, cpus: []func(*run){first(func(r *run) { r.write(0, "a") }), func(r *run) {
			if r.h.Sleep(period); r.cut("mem1") && r.start() && r.vacancy() && r.elected() {
				r.write(1, "b")
			}
		}, func(r *run) {
			if r.quiet(); r.cut("mem3") && r.start() && r.vacancy() && r.elected() {
				observe(r)
			}
		}}},
	},
	{
		name: "unreached", doc: "P3, P4, P6: a coordinator loses its link to a memory node, writes and dies; the next one reaches that node and one other, which must have the write if it was acknowledged",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, each without one link, a write of 8 bytes, recovery, read",
		meets: []string{sawFewer, sawUnacked, sawBehind, sawDiffer, sawTakeover},
		load: workload{cut: true, cpus: []func(*run){first(func(r *run) { _ = r.cut("mem3") && r.write(0, "a") }), func(r *run) {
			if r.h.Sleep(period); r.cut("mem1") && r.start() && r.vacancy() && r.elected() {
				observe(r)
			}
		}}},
	},
	{
		name: "behind", doc: "P3, P4, P6: a coordinator does not reach a memory node and writes more than the log holds; the next one reaches that node and one other, and copies the memory",
		faults: "crash(cpu1)<=1, crash(cpu2)<=1", bounds: "F=1, 3 CPU nodes, log of 2, 4 writes of 8 bytes, each CPU node without one link",
		meets: []string{sawCopied, sawTakeover},
		load: workload{cut: true, slots: 2, cpus: []func(*run){func(r *run) {
			if r.cut("mem3") && r.start() && r.elected() {
				_ = r.write(0, "a") && r.write(1, "b") && r.write(1, "c") && r.write(1, "d")
			}
		}, func(r *run) {
			if r.h.Sleep(period); r.cut("mem1") && r.start() && r.vacancy() && r.elected() {
				observe(r)
			}
		}, func(r *run) {
			if r.quiet(); r.cut("mem2") && r.start() && r.vacancy() && r.elected() {
				observe(r)
			}
		}}},
	},
	{
		name: "direct", doc: "P3, P4: direct writes and a logged one; what a majority has acknowledged is on one of the nodes that the next coordinator reads",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, 2 direct writes of 8 bytes, a logged one, recovery",
		meets: []string{sawHalf, sawTakeover},
		load: workload{direct: 16, cpus: []func(*run){first(func(r *run) {
			_ = r.direct(0, "x") && r.write(0, "a") && r.direct(1, "y")
		}), next(func(r *run) {
			if r.directs() {
				r.readAll()
			}
		})}},
	},
	{
		name: "outsider", doc: "P3: a memory node crashes and starts again without its memory; it does not count, so a coordinator that reaches only one other is unavailable, and does not serve without the write",
		faults: "crash(cpu1)<=1, crash(mem1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, 1 write, recovery, read",
		meets: []string{sawOutsider, sawUnacked, sawBehind, sawTakeover},
		load: workload{cut: true, returns: true, beyond: true, cpus: []func(*run){first(func(r *run) { r.write(0, "a") }), func(r *run) {
			if r.h.Sleep(period); r.cut("mem2") && r.start() && r.vacancy() && r.elected() {
				observe(r)
			}
		}}},
	},
	{
		name: "lease", doc: "P5: a coordinator answers reads under its lease while another CPU node, which does not reach one memory node, finds it silent and replaces it",
		faults: "none", timers: "skew(1.1)", bounds: "F=1, 2 CPU nodes, a read; a takeover after 1 missed heartbeat and a write",
		meets: []string{sawTakeover, sawDeposed, sawServed},
		load: workload{cut: true, lease: leaseTime, cpus: []func(*run){first(func(r *run) {
			_ = r.release() && r.read(0, 1)
		}), waiting(func(r *run) {
			if r.h.Sleep(period); r.vacant() && r.elected() {
				r.write(0, "b")
			}
		})}},
	},
	{
		name: "stolen", doc: "P5: as lease, and the coordinator sends a heartbeat while the other CPU node stands for election, for two rounds if no node wins the first",
		faults: "none", timers: "skew(1.1)", bounds: "F=1, 2 CPU nodes, a heartbeat and a read; a takeover after 1 missed heartbeat, 2 rounds, and a write",
		meets: []string{sawTakeover, sawDeposed, sawLost, sawServed},
		load: workload{cut: true, lease: leaseTime, cpus: []func(*run){first(func(r *run) {
			_ = r.release() && r.beat() && r.read(0, 1)
		}), waiting(func(r *run) {
			if r.h.Sleep(period); !r.vacant() {
				return
			}
			o := r.campaign()
			if o == sift.Split {
				o = r.campaign()
			}
			if o == sift.Won && !r.lead() && r.c != nil {
				r.write(0, "b")
			}
		})}},
	},
}

var deep = []spec{
	{
		name: "renewed", doc: "P5: as lease, and the coordinator renews the lease once",
		faults: "none", timers: "skew(1.1)", bounds: "F=1, 2 CPU nodes, a heartbeat and a read; at most 2 looks, a takeover after 1 missed heartbeat and a write",
		meets: []string{sawTakeover, sawDeposed, sawServed},
		load: workload{cut: true, lease: leaseTime, cpus: []func(*run){first(func(r *run) {
			_ = r.release() && r.beat() && r.read(0, 1)
		}), waiting(func(r *run) {
			for range 2 {
				if r.h.Sleep(period); r.vacant() {
					if r.elected() {
						r.write(0, "b")
					}
					return
				}
			}
		})}},
	},
}

// The lease is shorter than the time for which a follower waits, by a clock that is 1.1
// times as fast.
const leaseTime = period * 10 / 11

// stand stands for election, for two rounds.
func stand(r *run) {
	if !r.start() {
		return
	}
	if r.campaign() == sift.Split {
		r.node.BackOff()
		if r.campaign() == sift.Won {
			r.Meet(sawAgain)
		}
	}
}
