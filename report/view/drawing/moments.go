package drawing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// moment is a row: consecutive events of one host that are one thing to a reader.
type moment struct {
	host, kind  int
	step, last  int   // its first step and its last
	events      []int // in Document.Events
	results     []string
	list        int // of a post: which list of requests it is, for its colour; else -1
	ends        int // arrows that end here
	top, height int
}

// The kinds of moments.
const (
	other = iota // a fault or a restart
	posts
	lands
	completes
)

// kindOf returns the kind of moment that an event belongs to; false: to none.
func kindOf(e *view.Event) (int, bool) {
	switch e.Kind {
	case "post":
		return posts, true
	case "land":
		return lands, true
	case "completion":
		return completes, true
	case "start":
		return other, e.Life > 0
	}
	return other, e.Marked && e.Kind != "violation"
}

// momentsOf returns the moments of a run up to a step, without the violation.
func momentsOf(d *view.Document, until int) []moment {
	var out []moment
	for i := range d.Events {
		e := &d.Events[i]
		kind, shown := kindOf(e)
		if !shown || e.Step > until {
			continue
		}
		if n := len(out); n > 0 && kind != other && out[n-1].kind == kind && out[n-1].host == e.Host && (out[n-1].last == e.Step || kind == completes) {
			out[n-1].events, out[n-1].last = append(out[n-1].events, i), e.Step
			continue
		}
		out = append(out, moment{host: e.Host, kind: kind, step: e.Step, last: e.Step, events: []int{i}, list: -1})
	}
	lists := 0
	for i := range out {
		if out[i].kind == posts {
			out[i].list = lists
			lists++
		}
	}
	addResults(d, out)
	return out
}

// addResults gives each moment the operations of clients that end in it.
func addResults(d *view.Document, all []moment) {
	for _, o := range d.Operations {
		i := slices.IndexFunc(all, func(m moment) bool { return m.step <= o.End && o.End <= m.last })
		if i >= 0 && o.Result != "" {
			all[i].results = append(all[i].results, o.Call+": "+o.Result)
		}
	}
}

// at returns the moment of an event, or the first behind it.
func at(all []moment, event int) int {
	i, _ := slices.BinarySearchFunc(all, event, func(m moment, event int) int { return cmp.Compare(m.events[len(m.events)-1], event) })
	return min(i, len(all)-1)
}

// words describe a moment.
func (m *moment) words(d *view.Document) []string {
	host, text := d.Hosts[m.host], ""
	switch m.kind {
	case posts:
		text = host + " posts " + byPeer(d, m.events, " to ", func(r *view.Request) string { return fmt.Sprintf("%s%c(%d%cB)", name(r), keep, r.Length, keep) })
	case lands:
		text = "in the memory of " + host + ", in this order: " + strings.Join(namesOf(d, m.events), ", ")
	case completes:
		text = host + " sees " + byPeer(d, m.events, " complete at ", name)
	default:
		text = host + " " + strings.TrimPrefix(d.Events[m.events[0]].Cell, "✗ ")
	}
	return append([]string{text}, m.results...)
}

// name is the operation of a request and its number on its queue pair.
func name(r *view.Request) string { return fmt.Sprintf("%s%c#%d", r.Op, keep, r.Number) }

// namesOf are the requests of events, each once.
func namesOf(d *view.Document, events []int) []string {
	var out []string
	for _, i := range events {
		q := d.Events[i].Request
		if q < 0 {
			continue
		}
		if n := name(&d.Requests[q]); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// byPeer lists the requests of events; peers with the same requests are named together.
func byPeer(d *view.Document, events []int, to string, name func(*view.Request) string) string {
	type group struct {
		names, peers []string
	}
	var peers []group
	for _, i := range events {
		q := d.Events[i].Request
		if q < 0 {
			return strings.TrimPrefix(d.Events[i].Cell, "sees ")
		}
		r := &d.Requests[q]
		n, peer := name(r), d.Hosts[r.Peer]
		if s := r.Status; d.Events[i].Kind == "completion" && s != "SUCCESS" {
			n += " with " + s
		}
		if k := slices.IndexFunc(peers, func(g group) bool { return g.peers[0] == peer }); k >= 0 {
			peers[k].names = append(peers[k].names, n)
		} else {
			peers = append(peers, group{[]string{n}, []string{peer}})
		}
	}
	var groups []group
	for _, g := range peers {
		if k := slices.IndexFunc(groups, func(x group) bool { return slices.Equal(x.names, g.names) }); k >= 0 {
			groups[k].peers = append(groups[k].peers, g.peers...)
		} else {
			groups = append(groups, g)
		}
	}
	var out []string
	for _, g := range groups {
		out = append(out, strings.Join(g.names, ", ")+to+strings.Join(g.peers, ", "))
	}
	return strings.Join(out, "; ")
}
