package siftcheck

var durables = []spec{
	{
		name: "snapshot", doc: "3.5: the only memory node loses its memory and comes back; the group restarts with the content of the store, which is a beginning of the acknowledged writes; the next coordinator continues",
		faults: "crash(cpu2)<=1", bounds: "F=0, 3 CPU nodes, log of 2, 3 writes of 8 bytes, of which 1 to 3 are durable, a start from the snapshot, a write, recovery, read",
		meets: []string{sawRestarted, sawForgotten, sawTakeover},
		load: workload{nodes: 1, returns: true, beyond: true, durable: true, slots: 2, cpus: []func(*run){first(func(r *run) {
			if r.record(0, "a") && r.record(1, "b") && r.record(2, "c") && r.persist(2) {
				r.wipe()
			}
		}), func(r *run) {
			if r.quiet(); r.connected() && r.restart() && r.found() {
				r.anew()
			}
		}, func(r *run) {
			r.quiet()
			if r.quiet(); r.start() && r.vacancy() && r.elected() {
				r.goesOn()
			}
		}}},
	},
	{
		name: "store-behind", doc: "3.5: a coordinator finds a store that lacks entries which no log has any more, and gives it the whole memory",
		faults: "none", bounds: "F=1, 2 CPU nodes, the first without a store, log of 2, 3 writes of 8 bytes, recovery, read",
		meets: []string{sawReplaced, sawTakeover},
		load: workload{durable: true, slots: 2, cpus: []func(*run){func(r *run) {
			r.storeless = true
			if r.start() && r.elected() {
				_ = r.record(0, "a") && r.record(1, "b") && r.record(2, "c")
			}
		}, func(r *run) {
			if r.quiet(); r.start() && r.vacancy() && r.elected() {
				r.found()
			}
		}}},
	},
}
