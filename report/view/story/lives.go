package story

import (
	"slices"
	"strings"
)

// lives adds sentences about hosts that fail and restart, about other faults, and about the
// notes in the log of the protocol.
func (t *teller) lives() {
	for i := range t.d.Events {
		e := &t.d.Events[i]
		switch {
		case e.Kind == "violation" || e.Host < 0:
		case e.Kind == "log":
			t.say(i, "%s notes: %s.", t.d.Hosts[e.Host], strings.TrimSuffix(e.Text, "."))
		case e.Kind == "start" && e.Life > 0, e.Kind != "start" && e.Marked:
			text := e.Text
			if e.Kind == "start" && t.ended(i) {
				text = "has ended, and " + text // without a fault
			}
			t.say(i, "%s.%s%s", subject(t.d.Hosts[e.Host], text), t.lost(i), t.doubtful(i))
			t.out[len(t.out)-1].Key = e.Marked
		}
	}
}

// ended reports whether the previous life of a host finished without a fault. Its next life starts at the event start.
func (t *teller) ended(start int) bool {
	for i := start - 1; i >= 0; i-- {
		if e := &t.d.Events[i]; e.Host == t.d.Events[start].Host {
			return e.Kind == "end"
		}
	}
	return false
}

// subject puts a host before a text. A text with a subject of its own follows a colon: "a: the link to b is cut".
func subject(host, text string) string {
	if strings.HasPrefix(text, "the ") || strings.HasPrefix(text, "a ") {
		return host + ": " + text
	}
	return host + " " + text
}

// lost returns a sentence about the requests that were lost with the memory of a host that failed at an event. These
// are requests that nobody had observed, and landed requests that belong to an operation of a client.
func (t *teller) lost(event int) string {
	var of []int
	for _, p := range t.d.Pieces {
		if p.Request < 0 || slices.Contains(of, p.Request) || !changes(&t.d.Requests[p.Request]) {
			continue
		}
		if p.Event == event && p.Fate == "gone" || p.Fate == "landed" && t.seen[p.Request] && t.d.Regions[p.Region].Gone == event {
			of = append(of, p.Request)
		}
	}
	if len(of) == 0 {
		return ""
	}
	slices.Sort(of)
	return " Its memory is lost, and in it " + t.named(of, nobody) + "."
}
