package command

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
)

// maxTried is the largest number of runs that a server remembers.
const maxTried = 200

// tried remembers the runs that were made by hand. Of runs with the same choices it keeps the longest.
type tried struct {
	mu   sync.Mutex
	runs []trial
	more bool // a run was not remembered
}

// trial is a run that was made by hand.
type trial struct {
	walk  explore.Walk
	taken []explore.Taken // the choices, with their steps
	end   string          // how it ended
}

// add remembers a run.
func (t *tried) add(x *explore.Stand) {
	now := trial{walk: x.Walk, taken: x.Replay.Taken, end: fmt.Sprintf("to step %d", x.Walk.Steps)}
	switch {
	case x.Replay.Err != nil:
		now.end = fmt.Sprintf("step %d: %s", x.Walk.Steps, explore.ClassOf(x.Replay.Err))
	case x.Ended:
		now.end = fmt.Sprintf("ended after step %d", x.Walk.Steps)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.runs, func(r trial) bool { return slices.Equal(r.walk.Decisions, x.Walk.Decisions) })
	switch {
	case i >= 0 && t.runs[i].walk.Steps <= x.Walk.Steps:
		t.runs[i] = now
	case i < 0 && len(t.runs) < maxTried:
		t.runs = append(t.runs, now)
	case i < 0:
		t.more = true
	}
}

// tree lists the runs. Each run follows its parent.
func (t *tried) tree(here *explore.Stand) []view.Branch {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := []view.Branch{}
	var add func(parent, depth int)
	add = func(parent, depth int) {
		for i := range t.runs {
			if t.parent(i) != parent {
				continue
			}
			r := &t.runs[i]
			out = append(out, view.Branch{Depth: depth, Text: t.label(i, parent), Href: address(r.walk), Here: slices.Equal(r.walk.Decisions, here.Walk.Decisions)})
			add(i, depth+1)
		}
	}
	add(-1, 0)
	if t.more {
		out = append(out, view.Branch{Text: fmt.Sprintf("only the first %d runs are listed; this one is the beginning", maxTried), Href: address(explore.Walk{})})
	}
	return out
}

// parent returns the longest run whose choices are the first choices of child, or -1.
func (t *tried) parent(child int) int {
	best := -1
	mine := t.runs[child].walk.Decisions
	for i := range t.runs {
		d := t.runs[i].walk.Decisions
		if len(d) < len(mine) && slices.Equal(d, mine[:len(d)]) && (best < 0 || len(d) > len(t.runs[best].walk.Decisions)) {
			best = i
		}
	}
	return best
}

// label describes the choices that a run adds to its parent, and how it ended.
func (t *tried) label(i, parent int) string {
	r, known := &t.runs[i], 0
	if parent >= 0 {
		known = len(t.runs[parent].walk.Decisions)
	}
	var out []string
	for _, x := range r.taken[min(known, len(r.taken)):] {
		out = append(out, fmt.Sprintf("step %d: %s", x.Step, x.Take))
	}
	if len(out) == 0 {
		out = []string{"the ordinary course"}
	}
	return strings.Join(out, ", ") + " (" + r.end + ")"
}
