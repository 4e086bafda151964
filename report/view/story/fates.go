package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// never is the event of what did not happen, and nobody a host that is in no sentence.
const (
	never  = 1 << 30
	nobody = -1
)

// landing is the event by which all of a request is in memory, or never.
func (t *teller) landing(request int) int {
	at, n := 0, 0
	for _, p := range t.d.Pieces {
		if p.Request == request && p.Fate == "landed" {
			at, n = max(at, p.Event), n+p.Length
		}
	}
	if n < t.d.Requests[request].Length {
		return never
	}
	return at
}

// fates says what never arrived, in whole or in part, and what replaced later content.
func (t *teller) fates() {
	dropped := map[int][]int{} // by event
	seen := map[int]bool{}
	for i, p := range t.d.Pieces {
		switch p.Fate {
		case "dropped":
			if !seen[p.Request] && changes(&t.d.Requests[p.Request]) {
				seen[p.Request] = true
				dropped[p.Event] = append(dropped[p.Event], p.Request)
			}
		case "landed":
			t.replaces(i)
			if r := &t.d.Requests[p.Request]; isAtomic(r) && p.Event < len(t.d.Events) {
				_, effect, _ := strings.Cut(t.d.Events[p.Event].Text, fmt.Sprintf("#%d ", r.Number))
				t.sayOf(p.Event, []string{t.d.Hosts[r.Peer]}, "%s of %s %s in the memory of", short(r.Op, r.Number), t.d.Hosts[r.Host], effect)
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
	for i := piece - 1; i >= 0; i-- {
		x := &t.d.Pieces[i]
		y := &t.d.Requests[x.Request]
		if x.Fate == "landed" && x.Request != p.Request && overlap(&x.Span, &p.Span) && y.Host == r.Host && y.Posted > r.Posted {
			t.say(p.Event, "In the memory of %s, %s lands only now, and replaces what %s brought, which was posted later.", t.d.Hosts[r.Peer], short(r.Op, r.Number), short(y.Op, y.Number))
			return
		}
	}
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

// misses says which requests were not there when somebody looked at some bytes, and had completed, or landed
// later. It says each once.
func (t *teller) misses(at *view.Span, looker int, found string, before map[string]bool) {
	var completed, underWay []int
	for i := range t.d.Requests {
		r := &t.d.Requests[i]
		span, landing := view.Span{Region: r.Region, Offset: r.Offset, Length: r.Length}, t.landing(i)
		if key := fmt.Sprint(looker, " ", i); !changes(r) || !overlap(&span, at) || r.Posted >= at.Event || landing < at.Event || before[key] {
			continue
		} else if r.Status == "SUCCESS" && r.Done < at.Event {
			completed, before[key] = append(completed, i), true
		} else if landing < never || !t.lostBy(i, at.Event) {
			underWay, before[key] = append(underWay, i), true
		}
	}
	if len(completed) > 0 {
		t.say(at.Event, "%s %s %s, although it has completed.", t.d.Hosts[looker], found, t.named(completed, looker))
	}
	if len(underWay) > 0 {
		t.say(at.Event, "%s %s %s, which is still under way.", t.d.Hosts[looker], found, t.named(underWay, looker))
	}
}

// lostBy reports whether the run had decided by an event that a request never arrives whole.
func (t *teller) lostBy(request, event int) bool {
	return slices.ContainsFunc(t.d.Pieces, func(p view.Piece) bool {
		return p.Request == request && p.Event <= event && (p.Fate == "dropped" || p.Fate == "gone")
	})
}
