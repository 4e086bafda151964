package story

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// reads says who read whose memory, what a word was that was read, and what had completed and was not there.
func (t *teller) reads() {
	var of []read // that belong together
	tell := func() {
		if n := len(of); n > 0 {
			var hosts []string
			for _, x := range of {
				hosts = append(hosts, x.peer)
			}
			t.sayOf(of[n-1].event, hosts, "%s", of[0].head)
		}
		of = nil
	}
	var missed misses
	for i := range t.d.Pieces {
		p := &t.d.Pieces[i]
		if p.Fate != "sampled" {
			continue
		}
		x := t.readOf(p)
		if n := len(of); n > 0 && (of[0].head != x.head || t.step(x.event)-t.step(of[n-1].event) > 1) {
			tell()
		}
		if !slices.ContainsFunc(of, func(y read) bool { return y.peer == x.peer }) {
			of = append(of, x)
		}
		of[len(of)-1].event = max(of[len(of)-1].event, x.event)
		t.misses(&missed, &p.Span, t.d.Requests[p.Request].Host, "does not find")
	}
	tell()
	for i := range t.d.Looks {
		l := &t.d.Looks[i]
		t.misses(&missed, l, t.d.Regions[l.Region].Host, "loads and does not find")
	}
	for i := range missed.all {
		t.tellMiss(&missed.all[i])
	}
}

// read is that of a piece of memory: who reads what, and of which host.
type read struct {
	event      int
	head, peer string
}

// word is how many bytes are shown as a number.
const word = 8

func (t *teller) readOf(p *view.Piece) read {
	r := &t.d.Requests[p.Request]
	head := t.d.Hosts[r.Host] + " reads the memory of"
	if r.Length == word && p.Length == word {
		last, _ := slices.BinarySearchFunc(t.d.Changes, p.Event+1, func(c view.Change, event int) int { return cmp.Compare(c.Event, event) })
		head = fmt.Sprintf("%s reads %s in the memory of", t.d.Hosts[r.Host], value(t.content(&p.Span, last)))
	}
	return read{p.Event, head, t.d.Hosts[r.Peer]}
}

// miss is what was not there when a host looked at memory in a step.
type miss struct {
	event, host                int
	found                      string // "does not find"
	completed, underWay, parts []int  // requests
}

// misses are those of a run. Each host misses a request once.
type misses struct {
	all    []miss
	before map[[2]int]bool // by host and request
}

// of is the place for what a host misses at an event: one for all that it misses in the same step.
func (m *misses) of(t *teller, event, host int, found string) *miss {
	i := slices.IndexFunc(m.all, func(x miss) bool { return x.host == host && x.found == found && t.step(x.event) == t.step(event) })
	if i < 0 {
		i, m.all = len(m.all), append(m.all, miss{event: event, host: host, found: found})
	}
	m.all[i].event = max(m.all[i].event, event)
	return &m.all[i]
}

// misses notes which requests were not there when a host looked at some bytes, or only a part of them, and had completed
// or were under way.
func (t *teller) misses(m *misses, at *view.Span, host int, found string) {
	for i := range t.d.Requests {
		r := &t.d.Requests[i]
		there, whole := t.there(i, at)
		done := r.Done >= 0 && r.Done < at.Event
		if !changes(r) || there == whole || r.Posted >= at.Event || m.before[[2]int{host, i}] {
			continue
		}
		if done && r.Status != "SUCCESS" || t.lostBy(i, at.Event) && !done {
			continue // its host knows that it failed, or it never comes, which is another sentence
		}
		if m.before == nil {
			m.before = map[[2]int]bool{}
		}
		m.before[[2]int{host, i}] = true
		x := m.of(t, at.Event, host, found)
		switch {
		case there > 0:
			x.parts = append(x.parts, i)
		case done:
			x.completed = append(x.completed, i)
		default:
			x.underWay = append(x.underWay, i)
		}
	}
}

// tellMiss says what a host missed in a step.
func (t *teller) tellMiss(x *miss) {
	host := t.d.Hosts[x.host]
	if len(x.parts) > 0 {
		t.key(x.event, "%s finds only a part of %s.", host, t.named(x.parts, x.host))
	}
	if len(x.completed) > 0 {
		t.key(x.event, "%s %s %s, although %s completed.", host, x.found, t.named(x.completed, x.host), verb(x.completed, "it has", "they have"))
	}
	if len(x.underWay) > 0 {
		t.key(x.event, "%s %s %s, which %s still under way.", host, x.found, t.named(x.underWay, x.host), verb(x.underWay, "is", "are"))
	}
}
