package story

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// reads adds sentences about Reads, with the value if it is one word, and about requests that a Read or a load did not
// find in memory.
func (t *teller) reads() {
	var of []read // for one sentence
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
		r := &t.d.Requests[p.Request]
		t.misses(&missed, &p.Span, self{r.Host, t.life(r)}, "does not find")
	}
	tell()
	for i := range t.d.Looks {
		l := &t.d.Looks[i]
		host := t.d.Regions[l.Region].Host
		t.misses(&missed, l, self{host, t.lifeAt(host, l.Event)}, "loads and does not find")
	}
	for i := range missed.all {
		t.tellMiss(&missed.all[i])
	}
}

// read is the sentence about one piece of a Read: its beginning, and the host that owns the memory.
type read struct {
	event      int
	head, peer string
}

// word is the number of bytes that a sentence shows as a number.
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

// miss lists the requests that were not in memory when a host looked at it in one step.
type miss struct {
	event                      int
	by                         self
	found                      string // a phrase: "does not find"
	completed, underWay, parts []int  // requests
}

// misses collects the misses of a run. A host misses a request at most once.
type misses struct {
	all    []miss
	before map[[2]int]bool // requests that a host has missed, by host and request
}

// of returns the miss of a host in the step of an event. It adds one if there is none.
func (m *misses) of(t *teller, event int, by self, found string) *miss {
	i := slices.IndexFunc(m.all, func(x miss) bool { return x.by == by && x.found == found && t.step(x.event) == t.step(event) })
	if i < 0 {
		i, m.all = len(m.all), append(m.all, miss{event: event, by: by, found: found})
	}
	m.all[i].event = max(m.all[i].event, event)
	return &m.all[i]
}

// misses records the requests that were not in memory, or only in part, when a host looked at their bytes. It records
// requests that had completed, and requests that were still under way.
func (t *teller) misses(m *misses, at *view.Span, by self, found string) {
	for i := range t.d.Requests {
		r := &t.d.Requests[i]
		there, whole := t.there(i, at)
		done := r.Done >= 0 && r.Done < at.Event
		if !changes(r) || there == whole || r.Posted >= at.Event || m.before[[2]int{by.host, i}] {
			continue
		}
		if done && r.Status != "SUCCESS" || t.lostBy(i, at.Event) && !done {
			continue // it has failed, or never arrives: failures and fates report this
		}
		if m.before == nil {
			m.before = map[[2]int]bool{}
		}
		m.before[[2]int{by.host, i}] = true
		x := m.of(t, at.Event, by, found)
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

// tellMiss adds the sentences about a miss.
func (t *teller) tellMiss(x *miss) {
	host := t.d.Hosts[x.by.host]
	if len(x.parts) > 0 {
		t.key(x.event, "%s finds only a part of %s.", host, t.named(x.parts, x.by))
	}
	if len(x.completed) > 0 {
		t.key(x.event, "%s %s %s, although %s completed.", host, x.found, t.named(x.completed, x.by), verb(x.completed, "it has", "they have"))
	}
	if len(x.underWay) > 0 {
		t.key(x.event, "%s %s %s, which %s still under way.", host, x.found, t.named(x.underWay, x.by), verb(x.underWay, "is", "are"))
	}
}
