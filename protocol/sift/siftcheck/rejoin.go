package siftcheck

import (
	"errors"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// Scenarios in which memory nodes fail and come back (3.4.2, 3.5).

// strikes permits crashes once the scenario has reached its subject.
func strikes(w *world) scenario.Gate {
	return scenario.Strikes(faults.Crash, func() bool { return w.known.Struck })
}

// now permits crashes from now on.
func (r *run) now() bool {
	r.known.Struck = true
	r.History()
	return true
}

// lose crashes a memory node, which the coordinator notices.
func (r *run) lose(mem string) bool {
	return r.Check(r.Inject(faults.Crash, mem)) && r.notices(mem)
}

// notices looks at all nodes, so that the coordinator knows that one has failed.
func (r *run) notices(mem string) bool {
	if _, err := r.c.Inspect(); err != nil {
		return r.tolerates(err)
	}
	return slices.Contains(r.c.Failed(), mem)
}

// rejoin begins to bring a memory node back. It returns nil if the node is not up, or not any more.
func (r *run) rejoin(mem string) *sift.Rejoining {
	j, err := r.c.Rejoin(mem)
	if err != nil {
		r.given(err)
		return nil
	}
	return j
}

// copy copies n blocks to a node that comes back. It reports whether the node is still there.
func (r *run) copy(j *sift.Rejoining, n int) bool {
	for range n {
		if _, err := j.CopyBlock(); err != nil {
			return r.given(err)
		}
	}
	return true
}

// join makes the node, to which everything is copied, a member, and checks P7.
func (r *run) join(j *sift.Rejoining) bool {
	if err := j.Join(); err != nil {
		return r.given(err)
	}
	r.known.Joined = true
	r.History()
	if l := r.load.layout(); j.Copied() < l.Size/l.Block {
		r.Meet(sawPartial)
	}
	r.Meet(sawJoined)
	return true
}

// unjoined notes that another node is about to fail, and permits crashes.
func (r *run) unjoined() bool {
	r.known.Joined = false
	r.History()
	return r.now()
}

// given reports false: the node was given up, or the coordinator was replaced.
func (r *run) given(err error) bool {
	if !errors.Is(err, sift.ErrNotJoined) {
		r.tolerates(err)
	}
	return false
}

// readmit brings a memory node back, and checks P7.
func (r *run) readmit(mem string) bool {
	j := r.rejoin(mem)
	return j != nil && r.copyAll(j) && r.join(j)
}

// copyAll copies all blocks that are left.
func (r *run) copyAll(j *sift.Rejoining) bool {
	for more := true; more; {
		var err error
		if more, err = j.CopyBlock(); err != nil {
			return r.given(err)
		}
	}
	return true
}

// whole checks P6 and P7: all memory nodes are members, and agree.
func (r *run) whole() bool {
	images, ok := r.agree()
	if ok && len(images) < len(r.load.memory()) {
		r.Failf(Disagree, "%v have failed after all memory nodes were brought back", r.c.Failed())
	}
	if out := r.node.Outsiders(); ok && len(out) > 0 {
		r.Failf(Disagree, "%v have no word after all memory nodes were brought back: they take no part in elections", out)
	}
	return ok
}

// settle applies everything, so that the memory nodes agree.
func (r *run) settle() bool {
	for r.c.ApplyOne() {
	}
	return true
}

// beside runs do in another task, and returns a function that waits until do has returned.
func (r *run) beside(do func()) (wait func()) {
	mu := r.h.NewMutex()
	changed, over := r.h.NewCond(mu), false
	r.h.Go("beside", func() {
		do()
		mu.Lock()
		over = true
		changed.Signal()
		mu.Unlock()
	})
	return func() {
		mu.Lock()
		for !over {
			changed.Wait()
		}
		mu.Unlock()
	}
}
