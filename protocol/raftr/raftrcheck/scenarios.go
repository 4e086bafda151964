package raftrcheck

import (
	"github.com/verbatim-rdma/verbatim/explore"
)

// Scenarios are those of `verbatim check raftr`.
func Scenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range specs {
		out = append(out, build(s))
	}
	return out
}

// first is a node that leads at once, and does what a scenario is about.
func first(do func(r *run)) func(r *run) {
	return func(r *run) {
		if r.elected() {
			do(r)
		}
	}
}

// next is a node that waits until nothing happens any more; then it replaces the leader.
func next(do func(r *run)) func(r *run) {
	return func(r *run) {
		r.h.Sleep(election)
		if r.vacancy() && r.elected() {
			do(r)
		}
	}
}

var specs = []spec{
	{
		name: "log", doc: "two writes; the leader may crash at any point, and another node takes over and reads",
		faults: "crash(n1)<=1", bounds: "3 nodes, 2 writes, takeover, read",
		meets: []string{sawUnacked, sawBehind, sawTakeover},
		load: workload{nodes: []func(*run){first(func(r *run) {
			if r.put("k", "a") {
				r.put("k", "b")
			}
		}), next(func(r *run) { r.get("k") }), nil}},
	},
}
