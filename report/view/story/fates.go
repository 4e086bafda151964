package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// nobody is the subject of a sentence that is about no host. It equals no host, so each request is named with its host.
var nobody = self{host: -1}

// fates adds sentences about requests that never arrive, in whole or in part, about pieces that overwrite later
// requests, and about Atomics.
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

// loss lists the requests that are lost in one step. Its event is the first in this step that decides a loss.
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

// atomic adds a sentence about the effect of an Atomic at one host. It is a key sentence if this Atomic found an unexpected
// value, or if another Atomic did that its host posted in the same step.
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

// ghost reports whether a delayed packet lands at the peer of a request at an event or later. It may be a copy of the
// request.
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

// replaces adds a sentence if a piece overwrites bytes of a later request from the same host.
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
		return // only the latest content is overwritten
	}
}

// span returns the bytes that a change wrote.
func span(c *view.Change) *view.Span {
	return &view.Span{Event: c.Event, Region: c.Region, Offset: c.Offset, Length: len(c.Data) / 2}
}

func overlap(a, b *view.Span) bool {
	return a.Region == b.Region && a.Offset < b.Offset+b.Length && b.Offset < a.Offset+a.Length
}

// verb returns the singular or the plural, by the number of requests.
func verb(requests []int, one, several string) string {
	if len(requests) == 1 {
		return one
	}
	return several
}

// there counts the bytes of a request that lie in a span. landed counts only bytes that landed before the event of the span.
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

// lostBy reports whether a part of a request was dropped, or gone with its memory, by an event.
func (t *teller) lostBy(request, event int) bool {
	return slices.ContainsFunc(t.d.Pieces, func(p view.Piece) bool {
		return p.Request == request && p.Event <= event && (p.Fate == "dropped" || p.Fate == "gone")
	})
}
