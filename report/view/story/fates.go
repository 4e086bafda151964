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
	dropped := map[int][]int{} // by event
	seen := map[int]bool{}
	for i, p := range t.d.Pieces {
		switch p.Fate {
		case "dropped":
			if !seen[p.Request] && changes(&t.d.Requests[p.Request]) && !t.ghost(p.Request, p.Event) {
				seen[p.Request] = true
				dropped[p.Event] = append(dropped[p.Event], p.Request)
			}
		case "landed":
			t.replaces(i)
			if r := &t.d.Requests[p.Request]; isAtomic(r) && p.Event < len(t.d.Events) {
				_, effect, _ := strings.Cut(t.d.Events[p.Event].Text, fmt.Sprintf("#%d ", r.Number))
				t.sayOf(p.Event, []string{t.d.Hosts[r.Peer]}, "%s of %s %s in the memory of", short(r.Op, r.Number), t.owner(r), effect)
			}
		}
	}
	for event := range len(t.d.Events) + 1 {
		var whole, part []int
		for _, r := range dropped[event] {
			if t.landed(r) > 0 {
				part = append(part, r)
			} else {
				whole = append(whole, r)
			}
		}
		if len(whole) > 0 {
			t.say(event, "By now it is certain that nothing of %s arrives any more.", t.named(whole, nobody))
		}
		if len(part) > 0 {
			t.say(event, "By now it is certain that only a part of %s is in memory.", t.named(part, nobody))
		}
	}
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
				t.say(p.Event, "In the memory of %s, %s of %s lands only now, and replaces what %s of %s brought, which was posted later.",
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
	missed := map[string]bool{}
	for _, p := range t.d.Pieces {
		if p.Fate != "sampled" {
			continue
		}
		r := &t.d.Requests[p.Request]
		if len(of) > 0 && (t.d.Requests[of[0]].Host != r.Host || t.step(p.Event)-t.step(last) > 1) {
			tell()
		}
		of, last = append(of, p.Request), p.Event
		t.misses(&p.Span, r.Host, "does not find", missed)
	}
	tell()
	for i := range t.d.Looks {
		l := &t.d.Looks[i]
		t.misses(l, t.d.Regions[l.Region].Host, "loads and does not find", missed)
	}
}

// misses says which requests were not there when somebody looked at some bytes, or only a part of them, and had
// completed or were under way. It says each once.
func (t *teller) misses(at *view.Span, looker int, found string, before map[string]bool) {
	var completed, underWay, part []int
	for i := range t.d.Requests {
		r := &t.d.Requests[i]
		there, whole := t.there(i, at)
		if key := fmt.Sprint(looker, " ", i); !changes(r) || there == whole || r.Posted >= at.Event || before[key] {
			continue
		} else if done := r.Done >= 0 && r.Done < at.Event; done && r.Status != "SUCCESS" || t.lostBy(i, at.Event) && !done {
			continue // its host knows that it failed, or it never comes, which is another sentence
		} else if before[key] = true; there > 0 {
			part = append(part, i)
		} else if done {
			completed = append(completed, i)
		} else {
			underWay = append(underWay, i)
		}
	}
	host := t.d.Hosts[looker]
	if len(part) > 0 {
		t.say(at.Event, "%s finds only a part of %s.", host, t.named(part, looker))
	}
	if len(completed) > 0 {
		t.say(at.Event, "%s %s %s, although %s completed.", host, found, t.named(completed, looker), verb(completed, "it has", "they have"))
	}
	if len(underWay) > 0 {
		t.say(at.Event, "%s %s %s, which %s still under way.", host, found, t.named(underWay, looker), verb(underWay, "is", "are"))
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
