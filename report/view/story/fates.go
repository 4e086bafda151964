package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// nobody is a host that is in no sentence.
const nobody = -1

// fates says what never arrived, in whole or in part, and what replaced later content.
func (t *teller) fates() {
	var lost []loss
	seen := map[int]bool{}
	for i, p := range t.d.Pieces {
		switch p.Fate {
		case "dropped":
			if !seen[p.Request] && changes(&t.d.Requests[p.Request]) && !t.ghost(p.Request, p.Event) {
				seen[p.Request] = true
				lost = t.addLoss(lost, p.Request, p.Event)
			}
		case "landed":
			t.replaces(i)
			t.atomic(&p)
		}
	}
	for _, x := range lost {
		if len(x.whole) > 0 {
			t.key(x.event, "By now it is certain that nothing of %s arrives any more.", t.named(x.whole, nobody))
		}
		if len(x.part) > 0 {
			t.key(x.event, "By now it is certain that only a part of %s is in memory.", t.named(x.part, nobody))
		}
	}
}

// loss is what is lost by the end of a step, and the first event that decides it.
type loss struct {
	event       int
	whole, part []int // requests
}

// addLoss adds a request to the loss of its step.
func (t *teller) addLoss(lost []loss, request, event int) []loss {
	i := slices.IndexFunc(lost, func(x loss) bool { return t.step(x.event) == t.step(event) })
	if i < 0 {
		lost, i = append(lost, loss{event: event}), len(lost)
	}
	x := &lost[i]
	if x.event = min(x.event, event); t.landed(request) > 0 {
		x.part = append(x.part, request)
	} else {
		x.whole = append(x.whole, request)
	}
	return lost
}

// atomic says what an Atomic did where a piece of it landed. It is a key to the run if it did not do the same everywhere.
func (t *teller) atomic(p *view.Piece) {
	r := &t.d.Requests[p.Request]
	if !isAtomic(r) || p.Event >= len(t.d.Events) {
		return
	}
	_, effect, _ := strings.Cut(t.d.Events[p.Event].Text, fmt.Sprintf("#%d ", r.Number))
	t.sayOf(p.Event, []string{t.d.Hosts[r.Peer]}, "%s of %s %s in the memory of", short(r.Op, r.Number), t.owner(r), effect)
	t.out[len(t.out)-1].Key = slices.ContainsFunc(t.d.Pieces, func(q view.Piece) bool {
		x := &t.d.Requests[q.Request]
		return q.Fate == "landed" && q.Event < len(t.d.Events) && x.Op == r.Op && x.Host == r.Host && t.step(x.Posted) == t.step(r.Posted) &&
			strings.Contains(t.d.Events[q.Event].Text, " finds ")
	})
}

// ghost reports whether a delayed packet from the host of a request lands at its peer after an event: a copy of it, say.
func (t *teller) ghost(request, event int) bool {
	r := &t.d.Requests[request]
	return slices.ContainsFunc(t.d.Events[min(event, len(t.d.Events)):], func(e view.Event) bool { return e.Kind == "ghost" && e.Host == r.Peer })
}

// landed counts the bytes of a request that are in memory.
func (t *teller) landed(request int) (n int) {
	for _, p := range t.d.Pieces {
		if p.Request == request && p.Fate == "landed" {
			n += p.Length
		}
	}
	return n
}

// replaces says that a piece lands on what a later request of the same host has left there.
func (t *teller) replaces(piece int) {
	p := &t.d.Pieces[piece]
	r := &t.d.Requests[p.Request]
	own := slices.IndexFunc(t.d.Changes, func(c view.Change) bool {
		return c.Request == p.Request && c.Event == p.Event && overlap(span(&c), &p.Span)
	})
	for i := own - 1; i >= 0; i-- {
		c := &t.d.Changes[i]
		if !overlap(span(c), &p.Span) {
			continue
		}
		if c.Request >= 0 {
			if y := &t.d.Requests[c.Request]; y.Host == r.Host && y.Posted > r.Posted {
				t.key(p.Event, "In the memory of %s, %s of %s lands only now, and replaces what %s of %s brought, which was posted later.",
					t.d.Hosts[r.Peer], short(r.Op, r.Number), t.owner(r), short(y.Op, y.Number), t.owner(y))
			}
		}
		return // it was this content that was replaced
	}
}

// span is where a change was made.
func span(c *view.Change) *view.Span {
	return &view.Span{Event: c.Event, Region: c.Region, Offset: c.Offset, Length: len(c.Data) / 2}
}

func overlap(a, b *view.Span) bool {
	return a.Region == b.Region && a.Offset < b.Offset+b.Length && b.Offset < a.Offset+a.Length
}

// reads says who read whose memory, and what had completed and was not there.
func (t *teller) reads() {
	last := -1 // of the reads that belong together
	var of []int
	tell := func() {
		if len(of) > 0 {
			t.sayOf(last, t.peersOf(of), "%s reads the memory of", t.d.Hosts[t.d.Requests[of[0]].Host])
		}
		of = nil
	}
	var missed misses
	for _, p := range t.d.Pieces {
		if p.Fate != "sampled" {
			continue
		}
		r := &t.d.Requests[p.Request]
		if len(of) > 0 && (t.d.Requests[of[0]].Host != r.Host || t.step(p.Event)-t.step(last) > 1) {
			tell()
		}
		of, last = append(of, p.Request), p.Event
		t.misses(&missed, &p.Span, r.Host, "does not find")
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

// verb is the form that fits the number of requests.
func verb(requests []int, one, several string) string {
	if len(requests) == 1 {
		return one
	}
	return several
}

// there counts the bytes of a request that somebody looks at: those in memory by then, and all.
func (t *teller) there(request int, at *view.Span) (landed, all int) {
	r := &t.d.Requests[request]
	whole := view.Span{Region: r.Region, Offset: r.Offset, Length: r.Length}
	for i := range t.d.Pieces {
		if p := &t.d.Pieces[i]; p.Request == request && p.Fate == "landed" && p.Event < at.Event {
			landed += common(&p.Span, at)
		}
	}
	return landed, common(&whole, at)
}

// common counts the bytes that two spans share.
func common(a, b *view.Span) int {
	if !overlap(a, b) {
		return 0
	}
	return min(a.Offset+a.Length, b.Offset+b.Length) - max(a.Offset, b.Offset)
}

// lostBy reports whether the run had decided by an event that a request never arrives whole.
func (t *teller) lostBy(request, event int) bool {
	return slices.ContainsFunc(t.d.Pieces, func(p view.Piece) bool {
		return p.Request == request && p.Event <= event && (p.Fate == "dropped" || p.Fate == "gone")
	})
}
