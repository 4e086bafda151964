package siftcheck

import (
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// tiny is a store with one chain, in which everything collides.
func tiny(change func(c *kv.Config)) *kv.Config {
	c := &kv.Config{Key: 8, Value: 8, Index: 1, Blocks: 2, Log: 2, Cache: 2}
	if change != nil {
		change(c)
	}
	return c
}

// lives are CPU nodes: the first leads at once, and each later one when the one before is dead.
func lives(leads func(*store), then ...func(*store)) []func(*run) {
	out := []func(*run){first(storing(leads))}
	for _, do := range then {
		out = append(out, next(storing(do)))
	}
	return out
}

// without is a CPU node that does not reach one memory node, and leads when nothing else happens.
func without(mem string, wait func(r *run), do func(*store)) func(*run) {
	return func(r *run) {
		if wait(r); r.cut(mem) && r.start() && r.vacancy() && r.elected() {
			storing(do)(r)
		}
	}
}

func soon(r *run) { r.h.Sleep(period) }
func late(r *run) { r.quiet() }

// These scenarios have a lease: their CPU nodes lead one after the other, and the heartbeats that
// would confirm a get would only add states. The scenarios in kvalone.go are about the store alone.
var stores = []spec{
	{
		name: "kv", doc: "P3, P4, P8, P12: two keys in one chain, one of them applied at once; the coordinator may crash, and another one recovers and reads both",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, 1 slot, log of 2, 2 puts, recovery, 2 gets",
		meets: []string{sawPutFound, sawPutLost, sawReplayed, sawAllApplied, sawRewritten, sawTakeover},
		load: workload{kv: tiny(nil), lease: leaseTime, cpus: lives(func(r *store) {
			_ = r.put("a", "1") && r.apply() && r.put("b", "2")
		}, func(r *store) { r.getAll("a", "b") })},
	},
	{
		name: "kv-node", doc: "P3, P4, P8, P12: one put; the coordinator and a memory node may crash at any point",
		faults: "crash(cpu1)<=1, crash(mem*)<=1", bounds: "F=1, 2 CPU nodes, 1 put, recovery, a get",
		meets: []string{sawPutFound, sawPutLost, sawReplayed, sawRewritten, sawTakeover},
		load:  workload{kv: tiny(nil), lease: leaseTime, cpus: lives(func(r *store) { r.put("a", "1") }, func(r *store) { r.get("a") })},
	},
	{
		name: "kv-log", doc: "P3, P4, P8, P9, P12: two puts go through a log of one entry, so the first is applied before the second is logged; the coordinator may crash",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, log of 1, 2 puts, recovery, 2 gets",
		meets: []string{sawPutFound, sawPutLost, sawReplayed, sawLogFull, sawTakeover},
		load: workload{kv: tiny(func(c *kv.Config) { c.Log = 1 }), lease: leaseTime, cpus: lives(func(r *store) {
			_ = r.put("a", "1") && r.put("b", "2")
		}, func(r *store) { r.getAll("a", "b") })},
	},
	{
		name: "kv-torn", doc: "P3, P4, P8: a put that fails may leave any of its words in the log of the node that the next coordinator reaches; the coordinator may crash",
		faults: "crash(cpu1)<=1", profile: "strong+WholePackets=false", bounds: "F=1, 2 CPU nodes, a put of 8 bytes, each CPU node without one link, recovery, a get",
		meets: []string{sawPutFound, sawPutLost, sawReplayed, sawTakeover},
		load: workload{cut: true, kv: tiny(func(c *kv.Config) { c.Log, c.Blocks = 1, 1 }), lease: leaseTime, cpus: []func(*run){
			without("mem3", func(*run) {}, func(r *store) { r.put("a", "22222222") }),
			without("mem1", soon, func(r *store) { r.get("a") }),
		}},
	},
	{
		name: "kv-twice", doc: "P3, P4, P8: a coordinator dies with a put under way; the next one does not reach a memory node that may have it, puts another key, and is replaced by one that does not reach another",
		faults: "crash(cpu1)<=1", bounds: "F=1, 3 CPU nodes, a put each of the first two, 2 gets of the third, each of the last two without one link",
		meets: []string{sawReplayed, sawRewritten, sawTakeover},
		load: workload{cut: true, kv: tiny(nil), lease: leaseTime, cpus: []func(*run){
			first(storing(func(r *store) { r.put("a", "1") })),
			without("mem1", soon, func(r *store) { r.put("b", "2") }),
			without("mem3", late, func(r *store) { r.getAll("a", "b") }),
		}},
	},
	{
		name: "kv-behind", doc: "P3, P4, P8: three puts are in the log of two memory nodes; the next coordinator replays them without one of these, and may crash; the one after it does not reach the other, and copies the memory",
		faults: "crash(cpu2)<=1", bounds: "F=1, 3 CPU nodes, log of 4, memory's log of 2, 4 puts of one key, 1 of them applied at once, each CPU node without one link",
		meets: []string{sawReplayed, sawAllApplied, sawRewritten, sawCopied, sawTakeover},
		load: workload{cut: true, slots: 2, kv: tiny(func(c *kv.Config) { c.Blocks, c.Log = 1, 4 }), lease: leaseTime, cpus: []func(*run){
			without("mem3", func(*run) {}, func(r *store) {
				_ = r.put("a", "1") && r.apply() && r.put("a", "2") && r.put("a", "3") && r.put("a", "4")
			}),
			without("mem1", soon, func(r *store) { r.get("a") }),
			without("mem2", late, func(r *store) { r.get("a") }),
		}},
	},
	{
		name: "kv-rejoin", doc: "P3, P4, P7, P8: a memory node crashes with a put in its log, comes back empty and is copied; the coordinator puts again, and may crash at any point of that; the next one reaches that node and one other",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, log of 1, 2 puts of one key, a copy between them, recovery, a get",
		meets: []string{sawJoined, sawPutFound, sawPutLost, sawReplayed, sawTakeover},
		load: workload{returns: true, beyond: true, gate: strikes, slots: 2, kv: tiny(func(c *kv.Config) { c.Blocks, c.Log = 1, 1 }), lease: leaseTime, cpus: []func(*run){
			first(returned), away("mem2", storing(func(r *store) { r.get("a") })),
		}},
	},
}

// returned is a store whose memory node mem1 crashes and comes back empty, and is copied; from then on the coordinator may crash.
func returned(r *run) {
	storing(func(s *store) {
		_ = s.put("a", "1") && r.lose("mem1") && r.now() && r.readmit("mem1") && s.put("a", "2")
	})(r)
}

// deepStores take longer.
var deepStores = []spec{
	{
		name: "kv-confirmed", doc: "P4, P5, P8: a CPU node replaces a coordinator that is alive, and puts a key that the other one has in its cache; every get is confirmed by a heartbeat, and no clock matters",
		faults: "none", timers: "free", bounds: "F=1, 2 CPU nodes, the second without one link, a put before, a get, a takeover and a put",
		meets: []string{sawTakeover, sawNotAnswered, sawAnswered},
		load: workload{cut: true, kv: tiny(func(c *kv.Config) { c.Blocks = 1 }), cpus: []func(*run){
			first(func(r *run) {
				storing(func(s *store) { _ = s.put("a", "1") && s.apply() && r.release() && s.get("a") })(r)
			}),
			impatient(storing(func(r *store) { r.put("a", "2") })),
		}},
	},
}
