package siftcheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/codec/erasure"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// chunks returns the expected memory of each node: that of the first node or, with codes, the
// chunks of the blocks that the first F+1 nodes determine (P11).
func (r *run) chunks(images []sift.Image) [][]byte {
	want := make([][]byte, len(images))
	if !r.load.coded {
		for i := range want {
			want[i] = images[0].Memory
		}
		return want
	}
	names := r.load.memory()
	code, err := erasure.New(len(names)/2+1, len(names)/2)
	if !r.Check(err) {
		return want
	}
	parts := make([][]byte, len(names))
	for _, x := range images[:code.Data()] {
		parts[slices.Index(names, x.Node)] = slices.Clone(x.Memory)
	}
	r.Check(code.Rebuild(parts))
	for i, x := range images {
		want[i] = parts[slices.Index(names, x.Node)]
	}
	return want
}

// lacks meets a condition if one of the memory nodes with data chunks has failed.
func (r *run) lacks() {
	if !r.load.coded {
		return
	}
	if live := r.c.Live(); slices.ContainsFunc(r.load.memory()[:2], func(name string) bool { return !slices.Contains(live, name) }) {
		r.Meet(sawDecoded)
	}
}

// begin is a CPU node that begins when nothing else happens, and does not reach a memory node.
func begin(r *run, without string) bool {
	r.h.Sleep(period)
	return (without == "" || r.cut(without)) && r.start() && r.vacancy() && r.elected()
}

// coded are the scenarios of erasure codes (5.1): blocks of two chunks of a word, and F=1.
var coded = []spec{
	{
		name: "ec", doc: "P3, P4, P6, P11: a block is written, and then half of it; another CPU node, which does not reach a memory node, recovers and reads everything",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, blocks of 2 chunks of 8 bytes, a write of a block, applied at once, and one of a half, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawTakeover, sawDecoded},
		load: workload{coded: true, cpus: []func(*run){first(func(r *run) {
			if r.write(0, "ab") && r.c.ApplyOne() {
				r.write(1, "c")
			}
		}), away("mem1", observe)}},
	},
	{
		name: "ec-behind", doc: "P3, P4, P6, P11: a coordinator does not reach a memory node and writes more than the log holds; the next one makes the chunks of that node from those of the others, and may crash; the last one does not reach one of these: it needs the chunks that were made, and is unavailable without them",
		faults: "crash(cpu2)<=1", bounds: "F=1, 3 CPU nodes, log of 2, blocks of 2 chunks, a write of a half, which the log does not have any more, and 3 of another block, the first and the last CPU node without one link",
		meets: []string{sawCopied, sawTakeover, sawDecoded, sawTooFew},
		load: workload{coded: true, cut: true, slots: 2, beyond: true, cpus: []func(*run){func(r *run) {
			if r.cut("mem1") && r.start() && r.elected() {
				_ = r.write(2, "a") && r.write(0, "bc") && r.write(0, "de") && r.write(0, "fg")
			}
		}, func(r *run) {
			if begin(r, "") {
				observe(r)
			}
		}, func(r *run) {
			if r.quiet(); r.cut("mem2") && r.start() && r.vacancy() && r.elected() {
				observe(r)
			}
		}}},
	},
	{
		name: "ec-limit", doc: "P3, P4: as ec-behind, and the next coordinator reaches that node and one other: the blocks are not there, so it is unavailable, and answers nothing",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, log of 2, blocks of 2 chunks, 3 writes of a block, each CPU node without one link",
		meets: []string{sawTooFew},
		load: workload{coded: true, cut: true, slots: 2, beyond: true, cpus: []func(*run){func(r *run) {
			if r.cut("mem3") && r.start() && r.elected() {
				_ = r.write(0, "ab") && r.write(0, "cd") && r.write(0, "ef")
			}
		}, func(r *run) {
			if begin(r, "mem2") {
				observe(r)
			}
		}}},
	},
	{
		name: "ec-redo", doc: "P3, P4, P6, P11: a coordinator loses its link to a memory node that has the first entries in its log and may not have applied them; the log continues, and the next coordinator needs that node",
		faults: "none", bounds: "F=1, 2 CPU nodes, log of 3, blocks of 2 chunks, a write of a block and 3 of a half, the second CPU node without one link",
		meets: []string{sawDiffer, sawTakeover, sawDecoded, sawTooFew},
		load: workload{coded: true, cut: true, slots: 3, beyond: true, cpus: []func(*run){first(func(r *run) {
			_ = r.write(0, "ab") && r.write(2, "c") && r.cut("mem1") && r.write(2, "d") && r.write(2, "e")
		}), func(r *run) {
			if begin(r, "mem2") {
				observe(r)
			}
		}}},
	},
	{
		name: "ec-slow", doc: "P3, P4, P6, P11: three writes of a block go through a log of two slots, and a memory node may be slow; the coordinator may crash, and the next one does not reach another memory node",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, log of 2, blocks of 2 chunks, 3 writes of a block, the second CPU node without one link, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawTakeover, sawDecoded},
		load: workload{coded: true, cut: true, slots: 2, cpus: []func(*run){first(func(r *run) {
			_ = r.write(0, "ab") && r.write(0, "cd") && r.write(0, "ef")
		}), func(r *run) {
			if begin(r, "mem1") {
				observe(r)
			}
		}}},
	},
	{
		name: "ec-rejoin", doc: "P3, P4, P6, P7, P11: a memory node crashes and comes back empty, and its chunks are made from those of the others, while the coordinator reads and writes; the next coordinator reaches that node and one other, and needs both",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, 2 blocks of 2 chunks, 3 writes of a block or a half, one of them and a read during the copy, recovery, read",
		meets: []string{sawJoined, sawOutsider, sawUnacked, sawBehind, sawTakeover, sawDecoded},
		load: workload{coded: true, returns: true, beyond: true, slots: 2, gate: strikes, cpus: []func(*run){first(func(r *run) {
			if !r.write(0, "ab") || !r.lose("mem1") {
				return
			}
			j := r.rejoin("mem1")
			if j != nil && r.now() && r.copy(j, 1) && r.read(0, 1) && r.write(2, "c") && r.copy(j, 1) && r.join(j) && r.whole() {
				r.write(0, "d")
			}
		}), away("mem2", observe)}},
	},
	{
		name: "ec-crash", doc: "P3, P4, P6, P11, P12: a block is written, and then half of it; the coordinator and a memory node may crash at any point, and another CPU node recovers and reads everything",
		faults: "crash(cpu1)<=1, crash(mem*)<=1", bounds: "F=1, 2 CPU nodes, blocks of 2 chunks of 8 bytes, a write of a block, applied at once, and one of a half, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawFewer, sawTakeover, sawDecoded},
		load: workload{coded: true, cpus: []func(*run){first(func(r *run) {
			if r.write(0, "ab") && r.c.ApplyOne() {
				r.write(1, "c")
			}
		}), next(observe)}},
	},
	{
		name: "ec-full", doc: "P3, P4, P6, P11, P12: three writes go through a log of two slots, with codes; the coordinator and a memory node may crash at any point, and another CPU node recovers and reads everything",
		faults: "crash(cpu1)<=1, crash(mem*)<=1", bounds: "F=1, 2 CPU nodes, log of 2, blocks of 2 chunks, a write of a half and 2 of a block, recovery, read",
		meets: []string{sawUnacked, sawBehind, sawDiffer, sawFewer, sawTakeover, sawDecoded},
		load: workload{coded: true, slots: 2, cpus: []func(*run){first(func(r *run) {
			_ = r.write(2, "a") && r.write(0, "bc") && r.write(0, "de")
		}), next(observe)}},
	},
}

// deepCoded takes longer than the others together.
var deepCoded = []spec{
	{
		name: "ec-tasks", doc: "P3, P4, P6, P11: two tasks of a coordinator each write a half of one block at the same time; the coordinator may crash",
		faults: "crash(cpu1)<=1", bounds: "F=1, 2 CPU nodes, the second without one link, 2 tasks, log of 3, a block of 2 chunks, 2 writes of a half, recovery, read",
		meets: []string{sawTogether, sawDiffer, sawTakeover, sawDecoded},
		load: workload{coded: true, slots: 3, blocks: 1, gate: strikes, cpus: []func(*run){first(func(r *run) {
			r.now()
			wait := r.beside(func() { r.put(1, "b") })
			r.put(0, "a")
			wait()
		}), away("mem1", observe)}},
	},
}
