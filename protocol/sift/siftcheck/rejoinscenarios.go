package siftcheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
)

// away is a CPU node that replaces a coordinator that has died, and does not reach a memory node.
func away(mem string, do func(r *run)) func(r *run) {
	return func(r *run) {
		if r.quiet(); r.cut(mem) && r.start() && r.vacancy() && r.elected() {
			do(r)
		}
	}
}

// lateAway is a CPU node that replaces one that is away.
func lateAway(mem string, do func(r *run)) func(r *run) {
	return func(r *run) {
		r.quiet()
		away(mem, do)(r)
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
	{
		name: "rejoin-beside", doc: "P3, P4, P6, P7: a memory node crashes, comes back empty and is copied, while another task writes to a block",
		faults: "none", bounds: "F=1, 1 block, 2 writes of 8 bytes, one beside the copy",
		meets: []string{sawJoined, sawWaited},
		load: workload{returns: true, slots: 2, blocks: 1, cpus: []func(*run){first(func(r *run) {
			if !r.write(0, "a") || !r.lose("mem1") {
				return
			}
			if j := r.rejoin("mem1"); j != nil {
				wait := r.beside(func() { r.put(0, "b") })
				joined := r.copyAll(j) && r.join(j)
				if wait(); joined && r.settle() {
					r.whole()
				}
			}
		})}},
	},
	{
		name: "rejoin-again", doc: "P3, P4, P6, P7: a coordinator dies while it copies to a memory node that has come back; the next one brings that node back, writes and may die too; the third does not reach another node",
		faults: "crash(cpu1)<=1, crash(cpu2)<=1", bounds: "F=1, 3 CPU nodes, the last without one link, 2 blocks, 2 writes of 8 bytes, 2 copies, recovery, read",
		meets: []string{sawJoined, sawTakeover},
		load: workload{returns: true, beyond: true, slots: 2, blocks: 2, gate: strikes, cpus: []func(*run){first(func(r *run) {
			if r.write(0, "a") && r.lose("mem1") && r.now() {
				r.readmit("mem1")
			}
		}), next(func(r *run) {
			observe(r)
			if (!slices.Contains(r.c.Failed(), "mem1") || r.readmit("mem1")) && r.whole() {
				r.write(1, "b")
			}
		}), lateAway("mem3", observe)}},
	},
	{
		name: "memnode-twice", doc: "P3, P4, P6, P7: each of two memory nodes crashes once and is brought back, one after the other; the next coordinator reaches only these two",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, 2 blocks, 2 writes of 8 bytes, 2 copies, recovery, read",
		meets: []string{sawJoined, sawTakeover},
		load: workload{returns: true, beyond: true, slots: 2, blocks: 2, cpus: []func(*run){first(func(r *run) {
			if r.write(0, "a") && r.lose("mem1") && r.readmit("mem1") && r.write(1, "b") && r.unjoined() && r.lose("mem2") && r.readmit("mem2") {
				r.whole()
			}
		}), away("mem3", observe)}, gate: strikes},
	},
	{
		name: "reconnected", doc: "P3, P4, P6, P7: a coordinator loses its link to a memory node, which heals; the node gets what it missed; the next coordinator reaches that node and one other",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, each without one link, 3 blocks, log of 2, 3 writes of 8 bytes, recovery, read",
		meets: []string{sawJoined, sawPartial, sawUnacked, sawBehind, sawTakeover},
		load: workload{slots: 2, cpus: []func(*run){first(func(r *run) {
			if !r.write(0, "a") || !r.cut("mem3") || !r.read(0, 1) {
				return
			}
			if r.Heal("cpu1", "mem3"); !slices.Contains(r.c.Failed(), "mem3") {
				return
			}
			if j := r.rejoin("mem3"); j != nil && r.copy(j, 1) && r.write(1, "b") && r.copyAll(j) && r.join(j) && r.whole() {
				r.write(0, "c")
			}
		}), away("mem1", observe)}},
	},
	{
		name: "reconnected-direct", doc: "P3, P7: as reconnected, with a direct write that the third memory node may lack when the node that comes back is overwritten",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, each without one link, 1 block and 2 direct ones, a write and a direct write of 8 bytes, a read, recovery",
		meets: []string{sawJoined, sawTakeover},
		load: workload{slots: 2, blocks: 1, direct: 2 * block, cpus: []func(*run){first(func(r *run) {
			if !r.write(0, "a") || !r.direct(0, "x") || !r.cut("mem3") || !r.read(0, 1) {
				return
			}
			if r.Heal("cpu1", "mem3"); slices.Contains(r.c.Failed(), "mem3") {
				r.readmit("mem3")
			}
		}), away("mem1", func(r *run) { r.directs() })}},
	},
	{
		name: "rejoin-replaced", doc: "P3, P4: a coordinator that has been replaced, and does not know it, finds a memory node that has restarted, and tries to bring it back",
		faults: "none", bounds: "F=1, 2 CPU nodes, the second without one link, 1 block, a read and a write of 8 bytes by the first, which had lost its link to the node before, a write by the second",
		meets: []string{sawTakeover, sawRefusedCopy},
		load: workload{returns: true, beyond: true, slots: 2, blocks: 1, cpus: []func(*run){first(func(r *run) {
			if !r.cut("mem3") || !r.notices("mem3") {
				return
			}
			r.Heal("cpu1", "mem3")
			r.release()
			r.h.Sleep(10 * period)
			if j := r.rejoin("mem3"); j != nil && r.copyAll(j) && r.join(j) && r.read(0, 1) {
				r.write(0, "a")
			}
			if r.Look(); r.rivaled() {
				r.Meet(sawRefusedCopy)
			}
		}), waiting(func(r *run) {
			if r.cut("mem1"); r.vacant() && r.elected() && r.write(0, "b") {
				_ = r.Check(r.Inject(faults.Crash, "mem3"))
			}
		})}},
	},
	{
		name: "tasks", doc: "P3, P4, P6: two tasks of a coordinator write at the same time; the coordinator may crash",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, 2 tasks, 2 writes of 8 bytes to two blocks, recovery, read",
		meets: []string{sawTogether, sawDiffer, sawTakeover},
		load: workload{slots: 3, blocks: 2, gate: strikes, cpus: []func(*run){first(func(r *run) {
			r.now()
			wait := r.beside(func() { r.put(1, "b") })
			r.put(0, "a")
			wait()
		}), away("mem1", observe)}},
	},
	{
		name: "applied-early", doc: "P3, P4, P6: one task of a coordinator writes, while another one applies what it can; the coordinator dies; the next one does not reach a memory node and writes, and is replaced by one that does not reach another",
		faults: "crash(cpu1)<=1", bounds: "F=1, 3 CPU nodes, 2 tasks, a write of 8 bytes by each of the first two, each of the last two without one link",
		meets: []string{sawDiffer, sawTakeover},
		load: workload{slots: 2, blocks: 2, gate: strikes, cpus: []func(*run){first(func(r *run) {
			r.now()
			wait := r.beside(func() { r.c.ApplyOne() })
			r.put(0, "a")
			wait()
		}), away("mem1", func(r *run) { r.put(1, "b") }), lateAway("mem2", observe)}},
	},
	{
		name: "copied", doc: "P3, P4, P6: as behind, and the coordinator that copies the memory writes, to the copied node and one other; the next coordinator reaches that node and the one that lacks the write",
		faults: "crash(cpu2)<=1", bounds: "F=1, 3 CPU nodes, log of 2, 2 blocks, 3 writes of 8 bytes and one after the copy, each CPU node without one link",
		meets: []string{sawCopied, sawTakeover},
		load: workload{slots: 2, blocks: 2, cpus: []func(*run){func(r *run) {
			if r.cut("mem3") && r.start() && r.elected() {
				_ = r.put(0, "a") && r.put(1, "b") && r.put(0, "c")
			}
		}, away("mem1", func(r *run) { r.put(1, "d") }), lateAway("mem2", observe)}},
	},
}
