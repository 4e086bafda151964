package siftcheck

// away is a CPU node that replaces a coordinator that has died, and does not reach a memory node.
func away(mem string, do func(r *run)) func(r *run) {
	return func(r *run) {
		if r.quiet(); r.cut(mem) && r.start() && r.vacancy() && r.elected() {
			do(r)
		}
	}
}

var rejoins = []spec{
	{
		name: "rejoin", doc: "P3, P4, P6, P7: a memory node crashes, comes back empty and is copied, while the coordinator reads and writes; the next coordinator reaches that node and one other",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, 2 blocks, 3 writes of 8 bytes, one of them and a read during the copy, recovery, read",
		meets: []string{sawJoined, sawOutsider, sawUnacked, sawBehind, sawTakeover},
		load: workload{returns: true, beyond: true, slots: 2, blocks: 2, gate: strikes, cpus: []func(*run){first(func(r *run) {
			if !r.write(0, "a") || !r.lose("mem1") {
				return
			}
			j := r.rejoin("mem1")
			if j != nil && r.now() && r.copy(j, 1) && r.read(0, 1) && r.write(1, "b") && r.copy(j, 1) && r.join(j) && r.whole() {
				r.write(0, "c")
			}
		}), away("mem2", observe)}},
	},
}
