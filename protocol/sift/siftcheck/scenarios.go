package siftcheck

import (
	"github.com/verbatim-rdma/verbatim/explore"
)

// Scenarios are those of `verbatim check sift`.
func Scenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range memories {
		out = append(out, build(s))
	}
	return out
}

// first is a CPU node that leads at once, and does what a scenario is about.
func first(do func(r *run)) func(r *run) {
	return func(r *run) {
		if r.start() && r.elected() {
			do(r)
		}
	}
}

// next is a CPU node that waits until nothing happens any more, or until its timer fires
// early; then it replaces the coordinator.
func next(do func(r *run)) func(r *run) {
	return func(r *run) {
		r.h.Sleep(period)
		if r.start() && r.vacancy() && r.elected() {
			do(r)
		}
	}
}

// observe checks what an earlier coordinator has left.
func observe(r *run) {
	if _, ok := r.agree(); ok {
		r.readAll()
	}
}

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
}
