package drawing

import (
	"cmp"
	"slices"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// arrow is the way of bytes between two hosts: those of one request, or of several
// that were posted together for one peer and had the same fate.
type arrow struct {
	from, to   int // hosts
	begin, end int // moments
	order      int // among the arrows that end at the same moment at the same host
	fate       fate
	list       int // of requests, for its colour; -1: a Read
	x1, y1     int
	x2, y2     int
}

// fate is what happened to the requests of an arrow.
type fate int

const (
	whole  fate = iota // all of their bytes arrived
	part               // some of them did, and some did not
	lost               // they never arrive
	gone               // their memory is gone before anything observed whether they had arrived
	flying             // they are under way where the drawing ends
)

// end is where a request ends: its fate, the event that decided it, and its last piece.
type end struct {
	fate  fate
	event int
}

// endOf returns the fate of a request by the last event of the drawing. That a piece never
// arrives is a fact from the post on, whenever the search looked at it.
func endOf(d *view.Document, q, limit int) end {
	out := end{flying, -1}
	count := map[string]int{}
	pieces := 0
	for _, p := range d.Pieces {
		if p.Request != q {
			continue
		}
		pieces++
		if p.Event > limit && p.Fate != "dropped" {
			continue
		}
		count[p.Fate]++
		if p.Fate != "dropped" || out.event < 0 {
			out.event = max(out.event, min(p.Event, limit))
		}
	}
	arrived := count["landed"] + count["sampled"]
	switch {
	case pieces == 0 || arrived+count["dropped"]+count["gone"] == 0:
		return end{flying, limit}
	case arrived == pieces:
		out.fate = whole
	case arrived > 0:
		out.fate = part
	case count["gone"] > 0:
		out.fate = gone
	default:
		out.fate = lost
	}
	return out
}

// arrowsOf returns the arrows of a run whose last event drawn is limit.
func arrowsOf(d *view.Document, all []moment, limit int) []arrow {
	var out []arrow
	var ends []end
	for i := range all {
		if all[i].kind != posts {
			continue
		}
		for _, group := range together(d, all, all[i].events, limit) {
			last := &d.Requests[group[len(group)-1]]
			e := endOf(d, group[len(group)-1], limit)
			a := arrow{from: last.Host, to: last.Peer, begin: i, end: max(at(all, e.event), min(i+1, len(all)-1)), fate: e.fate, list: all[i].list}
			if last.Op == "Read" {
				a.from, a.to, a.list = a.to, a.from, -1
			}
			out, ends = append(out, a), append(ends, e)
		}
	}
	number(all, out, ends)
	return out
}

// together divides the requests of one post into those that an arrow stands for: they
// go to one peer, and meet their fate at the same moment.
func together(d *view.Document, all []moment, events []int, limit int) [][]int {
	var out [][]int
	for _, i := range events {
		q := d.Events[i].Request
		if q < 0 || d.Requests[q].Peer < 0 {
			continue
		}
		k := slices.IndexFunc(out, func(g []int) bool {
			a, b := endOf(d, g[0], limit), endOf(d, q, limit)
			return d.Requests[g[0]].Peer == d.Requests[q].Peer && (d.Requests[g[0]].Op == "Read") == (d.Requests[q].Op == "Read") &&
				a.fate == b.fate && (a.fate == lost || at(all, a.event) == at(all, b.event))
		})
		if k < 0 {
			out = append(out, []int{q})
		} else {
			out[k] = append(out[k], q)
		}
	}
	return out
}

// number numbers the arrows that end at one moment at one host, in the order in
// which their last requests arrived.
func number(all []moment, arrows []arrow, ends []end) {
	byEnd := make([]int, len(arrows))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(ends[a].event, ends[b].event) })
	next := map[[2]int]int{}
	for _, i := range byEnd {
		a := &arrows[i]
		key := [2]int{a.end, a.to}
		a.order = next[key]
		next[key]++
		all[a.end].ends = max(all[a.end].ends, next[key])
	}
}
