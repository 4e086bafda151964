package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// visit iterates over hosts, in every order if the scenario declares them symmetric. Code that visits them
// in the order of their names does not treat them alike: of two states that differ only in the names, the
// search keeps one, and a host that comes first in one of the states may come last in the other.
//
// The task's observations while it visits a host become part of that host and are then forgotten:
// each visit begins with what the task knew at the beginning of the first one. So the order is not
// remembered, and states that differ only in it are one state. The code promises not to remember
// the order either (host.InAnyOrder); the audit of states with equal fingerprints tests that.
type visit struct {
	t     *task
	names []string
	at    []int // their nodes; nil if the order is the order of the list
	left  []int
	base  print // the task's observations at the start of the first visit
	sum   print // the sum of the observations at hosts, if the search does not rename them: it renames all symmetric hosts or none
	cur   int   // the index of the host that is being visited, or -1
	outer int   // obs.visited outside this visit
	depth int   // the number of this visit among the nested visits of the task, from 1; 0 before it begins
	over  bool
}

var _ host.Visit = (*visit)(nil)

// Visit implements host.Host.
func (h *Host) Visit(names []string) host.Visit {
	h.w.guard()
	v := &visit{t: h.w.cur, names: names, cur: -1}
	for i := range names {
		v.left = append(v.left, i)
	}
	v.at = h.w.alikes(names)
	return v
}

// alikes returns the nodes called names if the scenario declares all of them symmetric
// and each occurs once, and nil otherwise. It does not matter whether the search uses
// the symmetry: all searches of a scenario explore the same runs.
func (w *World) alikes(names []string) []int {
	var at []int
	seen := map[string]bool{}
	for _, name := range names {
		n := w.node(name)
		if n == nil || !n.spec.Symmetric || seen[name] {
			return nil
		}
		seen[name] = true
		at = append(at, n.idx)
	}
	return at
}

// Next implements host.Visit.
func (v *visit) Next() (int, bool) {
	w := v.t.w
	w.guard()
	if v.over {
		return 0, false
	}
	if v.depth == 0 && v.at != nil {
		v.t.visits++
		v.depth, v.base = v.t.visits, v.t.obs.main
	}
	if v.leave(false); len(v.left) == 0 {
		v.End()
		return 0, false
	}
	k := 0
	if v.at != nil {
		k = w.choose(ChooseHost, len(v.left), func(k int) string { return v.names[v.left[k]] })
	}
	i := v.left[k]
	v.left = append(v.left[:k:k], v.left[k+1:]...)
	v.enter(i)
	return i, true
}

// enter begins the visit of host i.
func (v *visit) enter(i int) {
	if v.at == nil || v.t.w.dying() {
		return
	}
	v.cur = i
	o := &v.t.obs
	if tag := v.tag(); tag >= 0 {
		o.named(tag)
		o.per[tag] = o.per[tag].Print(o.main).Uint(tagVisit)
		v.outer, o.visited = o.visited, tag+1
	} else {
		o.main = o.main.Print(v.sum).Int(v.at[i])
	}
}

// leave ends the visit of a host. last means that the task stops visiting there.
func (v *visit) leave(last bool) {
	if v.t.w.dying() || v.crossed() || v.cur < 0 {
		return
	}
	o := &v.t.obs
	if tag := v.tag(); tag >= 0 {
		o.per[tag] = o.per[tag].Print(o.main).Bool(last)
		o.visited = v.outer
	} else {
		v.sum = v.sum.Plus(print{}.Print(o.main).Bool(last))
	}
	v.cur, o.main = -1, v.base
}

// tag returns the index of the visited host among the interchangeable ones, or -1.
func (v *visit) tag() int { return v.t.w.nodes[v.at[v.cur]].sym }

// End implements host.Visit.
func (v *visit) End() {
	if v.over || v.depth == 0 || v.t.w.dying() || v.crossed() {
		v.over = true
		return
	}
	early := v.cur >= 0
	v.leave(early)
	v.over = true
	v.t.visits--
	v.t.obs.main = v.base.Print(v.sum).Bool(early)
}

// crossed reports whether another task continues the visit, or a nested visit has not
// ended. The observations made since would be forgotten, so the run fails.
func (v *visit) crossed() bool {
	w := v.t.w
	if v.depth == 0 || w.cur == v.t && v.depth == v.t.visits {
		return false
	}
	if w.fail == nil {
		w.fail = fmt.Errorf("sim: %w: a visit of %v is continued by another task, or before a visit within it has ended", ErrConfig, v.names)
	}
	return true
}
